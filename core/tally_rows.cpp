// Counting a matrix that lies by rows: one class at a time.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "accumulators.hpp"
#include "tally.hpp"
#include "threads.hpp"

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

// A run of one class's rows. A large class is cut into several, always in the same places, whatever the number
// of threads; their scratch lines are then added up in order.
struct Task {
  std::int64_t c, from, to, entries;
  bool whole_class;
};

class RowCount {
 public:
  RowCount(const Lines& rows, const Labels& labels) : rows_(rows), labels_(labels) {
    order_rows();
    cut_tasks();
  }

  Counted run(int n_jobs) {
    Draft draft(room(), 2);
    std::vector<Odd> odd(tasks_.size());
    std::vector<Scratch> kept(tasks_.size());
    parallel_for(tasks_.size(), n_jobs, [&](std::int64_t t) { count_task(tasks_[t], draft, odd[t], kept[t]); });
    std::vector<std::int64_t> first_parts;
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (!tasks_[t].whole_class && (t == 0 || tasks_[t - 1].c != tasks_[t].c)) first_parts.push_back(t);
    parallel_for(first_parts.size(), n_jobs, [&](std::int64_t i) { join_parts(first_parts[i], draft, kept); });

    Counted result;
    std::vector<Hit> hits;
    std::int32_t negative = NOWHERE, fractional = NOWHERE;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      for (const auto& m : odd[t].missing) hits.push_back({static_cast<std::int32_t>(tasks_[t].c), m.slot, m.weight});
      negative = std::min(negative, odd[t].negative);
      fractional = std::min(fractional, odd[t].fractional);
    }
    result.cells = std::move(draft).finish();
    result.missing = missing_cells(hits, labels_.n_classes);
    if (negative != NOWHERE) result.negative = negative;
    if (fractional != NOWHERE) result.fractional = fractional;
    return result;
  }

 private:
  // Rows by class, each class's in their own order (counting sort).
  void order_rows() {
    check_labels(labels_);
    class_start_.assign(labels_.n_classes + 1, 0);
    for (std::int64_t i = 0; i < labels_.n; ++i) ++class_start_[labels_.label[i] + 1];
    for (std::int64_t c = 0; c < labels_.n_classes; ++c) class_start_[c + 1] += class_start_[c];
    order_.resize(labels_.n);
    std::vector<std::int64_t> next(class_start_.begin(), class_start_.end() - 1);
    for (std::int64_t i = 0; i < labels_.n; ++i) order_[next[labels_.label[i]]++] = i;
  }

  void cut_tasks() {
    const std::int64_t entries_at_least = std::max<std::int64_t>(std::int64_t{1} << 22, 8 * rows_.width);
    class_entries_.assign(labels_.n_classes, 0);
    for (std::int64_t i = 0; i < labels_.n; ++i) class_entries_[labels_.label[i]] += rows_.size(i);
    for (std::int64_t c = 0; c < labels_.n_classes; ++c) {
      const std::int64_t share =
          class_entries_[c] / std::max<std::int64_t>(1, class_entries_[c] / entries_at_least) + 1;
      Task task{c, class_start_[c], class_start_[c], 0, true};
      for (; task.to < class_start_[c + 1]; ++task.to) {
        if (task.entries >= share || task.to - task.from == Packed::MOST_ROWS) {
          task.whole_class = false;
          tasks_.push_back(task);
          task = {c, task.to, task.to, 0, false};
        }
        task.entries += rows_.size(order_[task.to]);
      }
      if (task.entries > 0) tasks_.push_back(task);
    }
  }

  std::vector<std::int64_t> room() const {
    std::vector<std::int64_t> start(labels_.n_classes + 1, 0);
    for (std::int64_t c = 0; c < labels_.n_classes; ++c)
      start[c + 1] = start[c] + std::min(class_entries_[c], rows_.width);
    return start;
  }

  void count_task(const Task& task, Draft& draft, Odd& odd, Scratch& kept) {
    Scratch scratch = pool_.take();
    if (labels_.weight) {
      add_rows(task, scratch, scratch.weighted, draft, odd);
    } else if (!whole_ || !add_rows(task, scratch, scratch.packed, draft, odd)) {
      whole_ = false;
      scratch.packed.cells.reset();
      std::fill(scratch.marks.begin(), scratch.marks.end(), 0);
      add_rows(task, scratch, scratch.plain, draft, odd);
    }
    if (task.whole_class) {
      pool_.give(std::move(scratch));
    } else {
      kept = std::move(scratch);
    }
  }

  // False: the values do not fit this kind of cell.
  template <class Cell>
  bool add_rows(const Task& task, Scratch& scratch, Blank<Cell>& blank, Draft& draft, Odd& odd) {
    constexpr std::int64_t AHEAD = 2;
    Cell* cells = blank.get(rows_.width);
    const bool mark = task.whole_class && task.entries < rows_.width / 4;
    if (mark) scratch.marks.resize((rows_.width + 63) / 64);
    LineReader reader(rows_, true);
    const double one = 1;
    double buffer[PIECE];
    for (std::int64_t i = task.from; i < task.to; ++i) {
      if (i + AHEAD < task.to) reader.prefetch(order_[i + AHEAD]);
      const std::int64_t row = order_[i];
      const Line line = reader.read(row);
      const double* weight = labels_.weight ? labels_.weight + row : &one;
      for (std::int64_t k = 0; k < line.size; k += PIECE) {
        const std::int64_t n = std::min(PIECE, line.size - k);
        const double* x = rows_.values.read(line.first + k * line.step, line.step, n, buffer);
        if (!add_entries(cells, line.index + k, x, weight, 0, n, odd)) return false;
        if (mark)
          for (std::int64_t m = k; m < k + n; ++m)
            scratch.marks[line.index[m] >> 6] |= std::uint64_t{1} << (line.index[m] & 63);
      }
    }
    if (task.whole_class) collect_class(task.c, cells, mark ? scratch.marks.data() : nullptr, draft);
    return true;
  }

  template <class Cell>
  void collect_class(std::int64_t c, Cell* cells, std::uint64_t* marks, Draft& draft) {
    if (marks == nullptr) {
      for (std::int64_t j = 0; j < rows_.width; ++j) collect(cells[j], draft, c, j);
      return;
    }
    for (std::int64_t word = 0; word < (rows_.width + 63) / 64; ++word)
      for (; marks[word] != 0; marks[word] &= marks[word] - 1) {
        const std::int64_t j = word * 64 + std::countr_zero(marks[word]);
        collect(cells[j], draft, c, j);
      }
  }

  void join_parts(std::int64_t first, Draft& draft, std::vector<Scratch>& kept) {
    const std::int64_t c = tasks_[first].c;
    std::int64_t last = first;
    while (last < static_cast<std::int64_t>(tasks_.size()) && tasks_[last].c == c) ++last;
    for (std::int64_t j = 0; j < rows_.width; ++j) {
      Totals sum{};
      for (std::int64_t t = first; t < last; ++t) sum.add(kept[t].totals(j));
      append(draft, c, j, sum);
    }
  }

  const Lines& rows_;
  const Labels& labels_;
  std::vector<std::int64_t> order_, class_start_, class_entries_;
  std::vector<Task> tasks_;
  Pool<Scratch> pool_;
  std::atomic<bool> whole_{true};  // until a value is met that Packed cannot hold
};

}  // namespace

Counted count_rows(const Lines& rows, const Labels& labels, int n_jobs) { return RowCount(rows, labels).run(n_jobs); }

}  // namespace naively::cells
