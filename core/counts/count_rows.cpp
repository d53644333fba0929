// Counting a matrix that lies by rows: one class at a time.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <type_traits>

#include "counts/cell_sums.hpp"
#include "counts/count.hpp"
#include "support/threads.hpp"

namespace naively::cells {
namespace {

// An array of n cells, all empty; untouched pages of it cost nothing.
template <class Cell>
struct Blank {
  std::unique_ptr<Cell, decltype(&std::free)> cells{nullptr, &std::free};

  Cell* get(std::int64_t n) {
    if (!cells) cells.reset(static_cast<Cell*>(std::calloc(std::max<std::int64_t>(n, 1), sizeof(Cell))));
    if (!cells) throw std::bad_alloc();
    return cells.get();
  }
};

// A line of cells of whichever kind the values ask for.
struct Scratch {
  Blank<Packed> packed;
  Blank<Plain> plain;
  Blank<Weighted> weighted;
  std::vector<std::uint64_t> marks;  // one bit per slot that was touched, when that is rare

  Totals totals(std::int64_t slot) const {
    Totals sum{};
    if (packed.cells) sum.add(packed.cells.get()[slot].totals());
    if (plain.cells) sum.add(plain.cells.get()[slot].totals());
    if (weighted.cells) sum.add(weighted.cells.get()[slot].totals());
    return sum;
  }
};

// Things of which each running task needs one; at most as many are made as run at the same time.
template <class T>
class Pool {
 public:
  T take() {
    std::lock_guard guard(lock_);
    if (free_.empty()) return T{};
    T thing = std::move(free_.back());
    free_.pop_back();
    return thing;
  }
  void give(T thing) {
    std::lock_guard guard(lock_);
    free_.push_back(std::move(thing));
  }

 private:
  std::mutex lock_;
  std::vector<T> free_;
};

// Classes are counted in groups of neighbours, as many as have scratch lines that fit the cache together. A run of
// a group's rows is a task; a large group is cut into several, always in the same places, whatever the number of
// threads, and their scratch lines are then added up in order.
struct Task {
  std::int64_t group, from, to, entries;
  bool whole_group;
};

struct Findings {
  Odd odd;
  std::vector<Hit> missing;
};

class RowCount {
 public:
  RowCount(const Lines& rows, const Labels& labels)
      : rows_(rows),
        labels_(labels),
        group_size_(std::clamp<std::int64_t>(CELLS_IN_CACHE / std::max<std::int64_t>(rows.width, 1), 1,
                                             std::max<std::int64_t>(labels.n_classes, 1))),
        n_groups_((labels.n_classes + group_size_ - 1) / group_size_) {
    check_labels(labels_);
    order_rows();
    cut_tasks();
  }

  Counted run(int n_jobs) {
    Draft draft(room(), 2);
    std::vector<Findings> found(tasks_.size());
    std::vector<Scratch> kept(tasks_.size());
    support::parallel_for(tasks_.size(), n_jobs,
                          [&](std::int64_t t) { count_task(tasks_[t], draft, found[t], kept[t]); });
    support::parallel_for(labels_.n_classes, n_jobs, [&](std::int64_t c) { join_parts(c, draft, kept); });
    kept.clear();

    Counted result;
    std::vector<Hit> hits;
    std::int32_t negative = NOWHERE, fractional = NOWHERE;
    for (const Findings& part : found) {
      hits.insert(hits.end(), part.missing.begin(), part.missing.end());
      negative = std::min(negative, part.odd.negative);
      fractional = std::min(fractional, part.odd.fractional);
    }
    result.cells = std::move(draft).finish();
    result.missing = missing_cells(hits, labels_.n_classes);
    if (negative != NOWHERE) result.negative = negative;
    if (fractional != NOWHERE) result.fractional = fractional;
    return result;
  }

 private:
  static constexpr std::int64_t CELLS_IN_CACHE = 1 << 18;  // 2 MB of packed cells

  // Rows by group, each group's in their own order (counting sort). A single group needs no order.
  void order_rows() {
    group_start_.assign(n_groups_ + 1, 0);
    for (std::int64_t i = 0; i < labels_.n; ++i) ++group_start_[labels_.label[i] / group_size_ + 1];
    for (std::int64_t g = 0; g < n_groups_; ++g) group_start_[g + 1] += group_start_[g];
    if (n_groups_ <= 1) return;
    order_.resize(labels_.n);
    std::vector<std::int64_t> next(group_start_.begin(), group_start_.end() - 1);
    for (std::int64_t i = 0; i < labels_.n; ++i) order_[next[labels_.label[i] / group_size_]++] = i;
  }

  std::int64_t row_at(std::int64_t i) const { return order_.empty() ? i : order_[i]; }

  void cut_tasks() {
    const std::int64_t at_least = std::max<std::int64_t>(std::int64_t{1} << 22, 8 * group_size_ * rows_.width);
    class_entries_.assign(labels_.n_classes, 0);
    for (std::int64_t i = 0; i < labels_.n; ++i) class_entries_[labels_.label[i]] += rows_.size(i);
    first_task_.assign(n_groups_ + 1, 0);
    for (std::int64_t g = 0; g < n_groups_; ++g) {
      std::int64_t entries = 0;
      for (std::int64_t c = g * group_size_; c < group_end(g); ++c) entries += class_entries_[c];
      const std::int64_t share = entries / std::max<std::int64_t>(1, entries / at_least) + 1;
      Task task{g, group_start_[g], group_start_[g], 0, true};
      for (; task.to < group_start_[g + 1]; ++task.to) {
        if (task.entries >= share || task.to - task.from == Packed::MOST_ROWS) {
          task.whole_group = false;
          tasks_.push_back(task);
          task = {g, task.to, task.to, 0, false};
        }
        task.entries += rows_.size(row_at(task.to));
      }
      if (task.entries > 0) tasks_.push_back(task);
      first_task_[g + 1] = static_cast<std::int64_t>(tasks_.size());
    }
  }

  std::int64_t group_end(std::int64_t g) const { return std::min(labels_.n_classes, (g + 1) * group_size_); }

  std::vector<std::int64_t> room() const {
    std::vector<std::int64_t> start(labels_.n_classes + 1, 0);
    for (std::int64_t c = 0; c < labels_.n_classes; ++c)
      start[c + 1] = start[c] + std::min(class_entries_[c], rows_.width);
    return start;
  }

  void count_task(const Task& task, Draft& draft, Findings& found, Scratch& kept) {
    Scratch scratch = pool_.take();
    if (labels_.weight) {
      add_rows(task, scratch, scratch.weighted, draft, found);
    } else if (!whole_ || !add_rows(task, scratch, scratch.packed, draft, found)) {
      whole_ = false;
      scratch.packed.cells.reset();
      std::fill(scratch.marks.begin(), scratch.marks.end(), 0);
      add_rows(task, scratch, scratch.plain, draft, found);
    }
    if (task.whole_group) {
      pool_.give(std::move(scratch));
    } else {
      kept = std::move(scratch);
    }
  }

  // False: the values do not fit this kind of cell.
  template <class Cell>
  bool add_rows(const Task& task, Scratch& scratch, Blank<Cell>& blank, Draft& draft, Findings& found) {
    constexpr std::int64_t AHEAD = 4;
    Cell* cells = blank.get(group_size_ * rows_.width);
    const bool mark = task.whole_group && task.entries < group_size_ * rows_.width / 4;
    if (mark) scratch.marks.resize(group_size_ * words());
    LineReader reader(rows_, true);
    const double one = 1;
    double buffer[PIECE];
    for (std::int64_t i = task.from; i < task.to; ++i) {
      if (i + AHEAD < task.to) reader.prefetch(row_at(i + AHEAD));
      const std::int64_t row = row_at(i), member = labels_.label[row] - task.group * group_size_;
      const Line line = reader.read(row);
      const double* weight = labels_.weight ? labels_.weight + row : &one;
      for (std::int64_t k = 0; k < line.size; k += PIECE) {
        const std::int64_t n = std::min(PIECE, line.size - k);
        if (!add_piece(cells + member * rows_.width, line, k, n, weight, buffer, found.odd)) return false;
        if (mark) set_marks(scratch.marks.data() + member * words(), line.index + k, n);
      }
      if (!found.odd.missing.empty()) note_missing(labels_.label[row], found);
    }
    if (!task.whole_group) return true;
    for (std::int64_t c = task.group * group_size_, m = 0; c < group_end(task.group); ++c, ++m)
      collect_class(c, cells + m * rows_.width, mark ? scratch.marks.data() + m * words() : nullptr, draft);
    return true;
  }

  // Adds entries [k, k + n) of a line.
  template <class Cell>
  bool add_piece(Cell* cells, const Line& line, std::int64_t k, std::int64_t n, const double* weight, double* buffer,
                 Odd& odd) {
    if constexpr (std::is_same_v<Cell, Packed>) {
      if (rows_.values.binary && rows_.values.type == Type::f64 && line.step == 1)
        return add_above(cells, line.index + k, static_cast<const double*>(rows_.values.data) + line.first + k,
                         rows_.values.threshold, n);
    }
    const double* x = rows_.values.read(line.first + k * line.step, line.step, n, buffer);
    return add_entries(cells, line.index + k, x, weight, 0, n, odd);
  }

  std::int64_t words() const { return (rows_.width + 63) / 64; }

  static void set_marks(std::uint64_t* marks, const std::int32_t* index, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) marks[index[k] >> 6] |= std::uint64_t{1} << (index[k] & 63);
  }

  static void note_missing(std::int32_t c, Findings& found) {
    for (const auto& m : found.odd.missing) found.missing.push_back({c, m.slot, m.weight});
    found.odd.missing.clear();
  }

  template <class Cell>
  void collect_class(std::int64_t c, Cell* cells, std::uint64_t* marks, Draft& draft) {
    if (marks == nullptr) {
      for (std::int64_t j = 0; j < rows_.width; ++j) collect(cells[j], draft, c, j);
      return;
    }
    for (std::int64_t word = 0; word < words(); ++word)
      for (; marks[word] != 0; marks[word] &= marks[word] - 1) {
        const std::int64_t j = word * 64 + std::countr_zero(marks[word]);
        collect(cells[j], draft, c, j);
      }
  }

  void join_parts(std::int64_t c, Draft& draft, const std::vector<Scratch>& kept) {
    const std::int64_t g = c / group_size_, first = first_task_[g], last = first_task_[g + 1];
    if (first == last || tasks_[first].whole_group) return;
    const auto whole = [](const Scratch& part) { return !part.plain.cells && !part.weighted.cells; };
    if (std::all_of(kept.begin() + first, kept.begin() + last, whole)) return join_whole(c, draft, kept);
    for (std::int64_t j = 0, slot = c % group_size_ * rows_.width; j < rows_.width; ++j, ++slot) {
      Totals sum = kept[first].totals(slot);
      for (std::int64_t t = first + 1; t < last; ++t) sum.add(kept[t].totals(slot));
      append(draft, c, j, sum);
    }
  }

  // The same for parts that hold nothing but whole numbers: added as such, which is exact.
  void join_whole(std::int64_t c, Draft& draft, const std::vector<Scratch>& kept) {
    const std::int64_t g = c / group_size_, start = c % group_size_ * rows_.width;
    for (std::int64_t j = 0; j < rows_.width; ++j) {
      std::uint64_t occurrences = 0, n_rows = 0;
      for (std::int64_t t = first_task_[g]; t < first_task_[g + 1]; ++t) {
        const std::uint64_t both = kept[t].packed.cells.get()[start + j].both;
        occurrences += both >> Packed::ROW_BITS, n_rows += both & Packed::MOST_ROWS;
      }
      if (n_rows == 0) continue;
      const double sums[2] = {static_cast<double>(occurrences), static_cast<double>(n_rows)};
      draft.append(c, static_cast<std::int32_t>(j), sums, static_cast<std::int64_t>(n_rows));
    }
  }

  const Lines& rows_;
  const Labels& labels_;
  std::int64_t group_size_, n_groups_;
  std::vector<std::int64_t> order_, group_start_, first_task_, class_entries_;
  std::vector<Task> tasks_;
  Pool<Scratch> pool_;
  std::atomic<bool> whole_{true};  // until a value is met that Packed cannot hold
};

}  // namespace

Counted count_rows(const Lines& rows, const Labels& labels, int n_jobs) { return RowCount(rows, labels).run(n_jobs); }

}  // namespace naively::cells
