// Count a matrix that is stored by rows, some classes at a time.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <type_traits>

#include "counts/cell_sums.hpp"
#include "counts/count.hpp"
#include "support/threads.hpp"

namespace naively::counts {
namespace {

// An array of empty cells; pages that are not touched cost nothing.
template <class Cell>
struct EmptyCells {
  std::unique_ptr<Cell, decltype(&std::free)> cells{nullptr, &std::free};

  Cell* get(std::int64_t n) {
    if (!cells) cells.reset(static_cast<Cell*>(std::calloc(std::max<std::int64_t>(n, 1), sizeof(Cell))));
    if (!cells) throw std::bad_alloc();
    return cells.get();
  }
};

// A line of cells of the kind that the values need.
struct Scratch {
  EmptyCells<PackedCell> packed;
  EmptyCells<PlainCell> plain;
  EmptyCells<WeightedCell> weighted;
  std::vector<std::uint64_t> marks;  // one bit per slot that is touched, if these are few

  CellTotals totals(std::int64_t slot) const {
    CellTotals sum{};
    if (packed.cells) sum.add(packed.cells.get()[slot].totals());
    if (plain.cells) sum.add(plain.cells.get()[slot].totals());
    if (weighted.cells) sum.add(weighted.cells.get()[slot].totals());
    return sum;
  }
};

// Objects of which each running task needs one. There are at most as many as tasks that run at the same time.
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

// Classes are counted in groups whose scratch lines fit the cache together. A task is a run of rows of a group. A large
// group is cut into several tasks, in the same places for any number of threads; their scratch lines are then added up
// in order.
struct Task {
  std::int64_t group, from, to, entries;
  bool is_only;  // task of its group
};

struct TaskResult {
  Irregular irregular;
  std::vector<MissingEntry> missing;
};

class RowCount {
 public:
  RowCount(const MatrixLines& rows, const Labels& labels)
      : rows_(rows),
        labels_(labels),
        group_size_(std::clamp<std::int64_t>(kCachedCells / std::max<std::int64_t>(rows.width, 1), 1,
                                             std::max<std::int64_t>(labels.n_classes, 1))),
        n_groups_((labels.n_classes + group_size_ - 1) / group_size_) {
    support::check_labels(labels_);
    order_rows();
    cut_tasks();
  }

  CountedCells run(int n_threads) {
    CellsBuilder builder(room(), 2);
    std::vector<TaskResult> results(tasks_.size());
    std::vector<Scratch> scratch(tasks_.size());
    support::parallel_for(tasks_.size(), n_threads,
                          [&](std::int64_t t) { count_task(tasks_[t], builder, results[t], scratch[t]); });
    support::parallel_for(labels_.n_classes, n_threads, [&](std::int64_t c) { join_parts(c, builder, scratch); });
    scratch.clear();

    CountedCells result;
    std::vector<MissingEntry> entries;
    std::int32_t negative = kNoSlot, fractional = kNoSlot;
    for (const TaskResult& part : results) {
      entries.insert(entries.end(), part.missing.begin(), part.missing.end());
      negative = std::min(negative, part.irregular.negative);
      fractional = std::min(fractional, part.irregular.fractional);
    }
    result.cells = std::move(builder).finish();
    result.missing = missing_cells(entries, labels_.n_classes);
    if (negative != kNoSlot) result.negative = negative;
    if (fractional != kNoSlot) result.fractional = fractional;
    return result;
  }

 private:
  static constexpr std::int64_t kCachedCells = 1 << 18;  // 2 MB of packed cells

  // Sorts rows by group, stably (counting sort). A single group needs no order.
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
    const std::int64_t min_entries = std::max<std::int64_t>(std::int64_t{1} << 22, 8 * group_size_ * rows_.width);
    class_entries_.assign(labels_.n_classes, 0);
    for (std::int64_t i = 0; i < labels_.n; ++i) class_entries_[labels_.label[i]] += rows_.size(i);
    first_task_.assign(n_groups_ + 1, 0);
    for (std::int64_t g = 0; g < n_groups_; ++g) {
      std::int64_t entries = 0;
      for (std::int64_t c = g * group_size_; c < group_end(g); ++c) entries += class_entries_[c];
      const std::int64_t share = entries / std::max<std::int64_t>(1, entries / min_entries) + 1;
      Task task{g, group_start_[g], group_start_[g], 0, true};
      for (; task.to < group_start_[g + 1]; ++task.to) {
        if (task.entries >= share || task.to - task.from == PackedCell::kMaxRows) {
          task.is_only = false;
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

  void count_task(const Task& task, CellsBuilder& builder, TaskResult& result, Scratch& part) {
    Scratch scratch = pool_.take();
    if (labels_.weight) {
      add_rows(task, scratch, scratch.weighted, builder, result);
    } else if (!are_packed_ || !add_rows(task, scratch, scratch.packed, builder, result)) {
      are_packed_ = false;
      scratch.packed.cells.reset();
      std::fill(scratch.marks.begin(), scratch.marks.end(), 0);
      add_rows(task, scratch, scratch.plain, builder, result);
    }
    if (task.is_only) {
      pool_.give(std::move(scratch));
    } else {
      part = std::move(scratch);
    }
  }

  // Returns false if the values do not fit this kind of cell.
  template <class Cell>
  bool add_rows(const Task& task, Scratch& scratch, EmptyCells<Cell>& empty, CellsBuilder& builder,
                TaskResult& result) {
    constexpr std::int64_t kPrefetchRows = 4;
    Cell* cells = empty.get(group_size_ * rows_.width);
    const bool mark = task.is_only && task.entries < group_size_ * rows_.width / 4;
    if (mark) scratch.marks.resize(group_size_ * words());
    LineReader reader(rows_, true);
    const double one = 1;
    double buffer[kPieceEntries];
    for (std::int64_t i = task.from; i < task.to; ++i) {
      if (i + kPrefetchRows < task.to) reader.prefetch(row_at(i + kPrefetchRows));
      const std::int64_t row = row_at(i), member = labels_.label[row] - task.group * group_size_;
      const Line line = reader.read(row);
      const double* weight = labels_.weight ? labels_.weight + row : &one;
      for (std::int64_t k = 0; k < line.size; k += kPieceEntries) {
        const std::int64_t n = std::min(kPieceEntries, line.size - k);
        if (!add_piece(cells + member * rows_.width, line, k, n, weight, buffer, result.irregular)) return false;
        if (mark) set_marks(scratch.marks.data() + member * words(), line.index + k, n);
      }
      if (!result.irregular.missing.empty()) note_missing(labels_.label[row], result);
    }
    if (!task.is_only) return true;
    for (std::int64_t c = task.group * group_size_, m = 0; c < group_end(task.group); ++c, ++m)
      collect_class(c, cells + m * rows_.width, mark ? scratch.marks.data() + m * words() : nullptr, builder);
    return true;
  }

  // Adds entries [k, k + n) of a line.
  template <class Cell>
  bool add_piece(Cell* cells, const Line& line, std::int64_t k, std::int64_t n, const double* weight, double* buffer,
                 Irregular& irregular) {
    if constexpr (std::is_same_v<Cell, PackedCell>) {
      if (rows_.values.binary && rows_.values.type == NumberType::kF64 && line.step == 1)
        return add_above(cells, line.index + k, static_cast<const double*>(rows_.values.data) + line.first + k,
                         rows_.values.threshold, n);
    }
    const double* x = rows_.values.read(line.first + k * line.step, line.step, n, buffer);
    return add_entries(cells, line.index + k, x, weight, 0, n, irregular);
  }

  std::int64_t words() const { return (rows_.width + 63) / 64; }

  static void set_marks(std::uint64_t* marks, const std::int32_t* index, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) marks[index[k] >> 6] |= std::uint64_t{1} << (index[k] & 63);
  }

  static void note_missing(std::int32_t c, TaskResult& result) {
    for (const auto& m : result.irregular.missing) result.missing.push_back({c, m.slot, m.weight});
    result.irregular.missing.clear();
  }

  template <class Cell>
  void collect_class(std::int64_t c, Cell* cells, std::uint64_t* marks, CellsBuilder& builder) {
    if (marks == nullptr) {
      for (std::int64_t j = 0; j < rows_.width; ++j) collect(cells[j], builder, c, j);
      return;
    }
    for (std::int64_t word = 0; word < words(); ++word)
      for (; marks[word] != 0; marks[word] &= marks[word] - 1) {
        const std::int64_t j = word * 64 + std::countr_zero(marks[word]);
        collect(cells[j], builder, c, j);
      }
  }

  void join_parts(std::int64_t c, CellsBuilder& builder, const std::vector<Scratch>& parts) {
    const std::int64_t g = c / group_size_, first = first_task_[g], last = first_task_[g + 1];
    if (first == last || tasks_[first].is_only) return;
    const auto is_packed = [](const Scratch& part) { return !part.plain.cells && !part.weighted.cells; };
    if (std::all_of(parts.begin() + first, parts.begin() + last, is_packed)) return join_packed(c, builder, parts);
    for (std::int64_t j = 0, slot = c % group_size_ * rows_.width; j < rows_.width; ++j, ++slot) {
      CellTotals sum = parts[first].totals(slot);
      for (std::int64_t t = first + 1; t < last; ++t) sum.add(parts[t].totals(slot));
      append(builder, c, j, sum);
    }
  }

  // Adds up parts of packed cells as integers, which is exact.
  void join_packed(std::int64_t c, CellsBuilder& builder, const std::vector<Scratch>& parts) {
    const std::int64_t g = c / group_size_, start = c % group_size_ * rows_.width;
    for (std::int64_t j = 0; j < rows_.width; ++j) {
      std::uint64_t occurrences = 0, n_rows = 0;
      for (std::int64_t t = first_task_[g]; t < first_task_[g + 1]; ++t) {
        const std::uint64_t both = parts[t].packed.cells.get()[start + j].both;
        occurrences += both >> PackedCell::kRowBits, n_rows += both & PackedCell::kMaxRows;
      }
      if (n_rows == 0) continue;
      const double sums[2] = {static_cast<double>(occurrences), static_cast<double>(n_rows)};
      builder.append(c, static_cast<std::int32_t>(j), sums, static_cast<std::int64_t>(n_rows));
    }
  }

  const MatrixLines& rows_;
  const Labels& labels_;
  std::int64_t group_size_, n_groups_;
  std::vector<std::int64_t> order_, group_start_, first_task_, class_entries_;
  std::vector<Task> tasks_;
  Pool<Scratch> pool_;
  std::atomic<bool> are_packed_{true};  // until a value does not fit a PackedCell
};

}  // namespace

CountedCells count_rows(const MatrixLines& rows, const Labels& labels, int n_threads) {
  return RowCount(rows, labels).run(n_threads);
}

CountedCells count_dense(const Matrix& x, const Labels& labels, int n_threads) {
  return x.by_columns() ? count_columns(columns_of(x), labels, n_threads) : count_rows(rows_of(x), labels, n_threads);
}

}  // namespace naively::counts
