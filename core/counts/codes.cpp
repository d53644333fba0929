// Count and score codes.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "counts/cell_sums.hpp"
#include "counts/linear_score.hpp"
#include "support/threads.hpp"

namespace naively::counts {
namespace {

// The slots of a block of rows, row by row; a missing value has the slot `missing`.
class SlotBlock {
 public:
  SlotBlock(const Codes& codes, std::int32_t missing)
      : x_(codes.x),
        sizes_(codes.sizes),
        missing_(missing),
        offsets_(codes.x.p),
        rows_(std::clamp<std::int64_t>(16384 / std::max<std::int64_t>(codes.x.p, 1), 16, 256)),
        slots_(rows_ * codes.x.p) {
    std::int32_t offset = 0;
    for (std::int64_t j = 0; j < x_.p; ++j) {
      offsets_[j] = offset;
      offset += static_cast<std::int32_t>(sizes_[j]);
    }
  }

  std::int64_t rows_at_once() const { return rows_; }
  const std::int32_t* row(std::int64_t i) const { return slots_.data() + i * x_.p; }

  void read(std::int64_t from, std::int64_t to) {
    with_type(x_.values.type, [&](auto* kind) { fill(static_cast<decltype(kind)>(x_.values.data), from, to); });
  }

 private:
  template <class T>
  std::int32_t slot(T value, std::int64_t j) const {
    if constexpr (std::is_floating_point_v<T>) {
      return value >= 0 && value < static_cast<T>(sizes_[j]) ? offsets_[j] + static_cast<std::int32_t>(value)
                                                             : missing_;
    } else {  // as an unsigned number a negative one is large
      const auto code = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      return code < static_cast<std::uint64_t>(sizes_[j]) ? offsets_[j] + static_cast<std::int32_t>(code) : missing_;
    }
  }

  template <class T>
  void fill(const T* x, std::int64_t from, std::int64_t to) {
    if (x_.by_columns()) {
      for (std::int64_t j = 0; j < x_.p; ++j)
        for (std::int64_t i = from; i < to; ++i)
          slots_[(i - from) * x_.p + j] = slot(x[i * x_.row_step + j * x_.column_step], j);
    } else {
      for (std::int64_t i = from; i < to; ++i)
        for (std::int64_t j = 0; j < x_.p; ++j)
          slots_[(i - from) * x_.p + j] = slot(x[i * x_.row_step + j * x_.column_step], j);
    }
  }

  Matrix x_;
  const std::int64_t* sizes_;
  std::int32_t missing_;
  std::vector<std::int32_t> offsets_;
  std::int64_t rows_;
  std::vector<std::int32_t> slots_;
};

struct Unweighted {
  std::int64_t rows;
  void add(double) { ++rows; }
  void add(const Unweighted& other) { rows += other.rows; }
  double weight() const { return static_cast<double>(rows); }
};
struct WeightSum {
  CompensatedSum sum;
  std::int64_t rows;
  void add(double w) {
    sum.add(w);
    ++rows;
  }
  void add(const WeightSum& other) {
    sum.add(other.sum);
    rows += other.rows;
  }
  double weight() const { return sum.total(); }
};

// Whether the codes are one column without steps, as columns of frames are.
bool is_plain_column(const Codes& codes) {
  return codes.x.p == 1 && codes.x.values.type == NumberType::kI32 && codes.x.row_step == 1;
}

// Adds rows [from, to) to a table (n_classes, slots + 1), whose last column takes missing values.
template <class Cell>
void add_codes(const Codes& codes, const Labels& labels, std::int64_t from, std::int64_t to, std::int64_t slots,
               Cell* table) {
  if (is_plain_column(codes)) {
    const auto* code = static_cast<const std::int32_t*>(codes.x.values.data);
    const auto size = static_cast<std::uint64_t>(slots);
    for (std::int64_t i = from; i < to; ++i) {
      const auto slot = std::min(static_cast<std::uint64_t>(static_cast<std::int64_t>(code[i])), size);
      table[labels.label[i] * (slots + 1) + static_cast<std::int64_t>(slot)].add(labels.weight ? labels.weight[i] : 1);
    }
    return;
  }
  SlotBlock block(codes, static_cast<std::int32_t>(slots));
  for (std::int64_t i = from; i < to; i += block.rows_at_once()) {
    const std::int64_t end = std::min(to, i + block.rows_at_once());
    block.read(i, end);
    for (std::int64_t r = i; r < end; ++r) {
      const std::int32_t* slot = block.row(r - i);
      Cell* cells = table + labels.label[r] * (slots + 1);
      const double w = labels.weight ? labels.weight[r] : 1;
      for (std::int64_t j = 0; j < codes.x.p; ++j) cells[slot[j]].add(w);
    }
  }
}

// The rows are cut in the same places for any number of threads, into at most 16 parts that are worth their tables.
template <class Cell>
void count(const Codes& codes, const Labels& labels, double* weight, std::int64_t* rows, int n_threads) {
  constexpr std::int64_t kMaxParts = 16, kMaxCells = 1 << 22;
  const std::int64_t slots = n_slots(codes), size = std::max<std::int64_t>(1, labels.n_classes * (slots + 1));
  const std::int64_t worth = codes.x.n * codes.x.p / (16 * size + 1);
  const std::int64_t parts = std::clamp<std::int64_t>(std::min(worth, kMaxCells / size), 1, kMaxParts);
  std::vector<std::vector<Cell>> tables(parts);
  support::parallel_for(parts, n_threads, [&](std::int64_t t) {
    tables[t].resize(size);
    add_codes(codes, labels, codes.x.n * t / parts, codes.x.n * (t + 1) / parts, slots, tables[t].data());
  });
  for (std::int64_t c = 0; c < labels.n_classes; ++c)
    for (std::int64_t s = 0; s < slots; ++s) {
      Cell sum{};
      for (const auto& table : tables) sum.add(table[c * (slots + 1) + s]);
      weight[c * slots + s] = sum.weight();
      rows[c * slots + s] = sum.rows;
    }
}

// Adds table[code] to the scores of rows [from, to) of a plain column.
void score_column(const Codes& codes, std::int64_t from, std::int64_t to, const double* table, Scores scores) {
  const auto* code = static_cast<const std::int32_t*>(codes.x.values.data);
  const auto size = static_cast<std::uint64_t>(codes.sizes[0]);
  for (std::int64_t i = from; i < to; ++i) {
    if (static_cast<std::uint64_t>(static_cast<std::int64_t>(code[i])) >= size) continue;  // missing
    const double* terms = table + code[i] * scores.n_classes;
    double* out = scores.out + i * scores.n_classes;
    for (std::int64_t c = 0; c < scores.n_classes; ++c) out[c] += terms[c];
  }
}

}  // namespace

std::int64_t n_slots(const Codes& codes) {
  std::int64_t sum = 0;
  for (std::int64_t j = 0; j < codes.x.p; ++j) sum += codes.sizes[j];
  return sum;
}

void count_codes(const Codes& codes, const Labels& labels, double* weight, std::int64_t* rows, int n_threads) {
  support::check_labels(labels);
  if (labels.weight) {
    count<WeightSum>(codes, labels, weight, rows, n_threads);
  } else {
    count<Unweighted>(codes, labels, weight, rows, n_threads);
  }
}

void score_codes(const Codes& codes, const double* table, Scores scores, int n_threads) {
  constexpr std::int64_t kTerms = 256;  // in one plain sum; compensation would make NaN of −∞
  const std::int64_t n = codes.x.n, step = std::max<std::int64_t>(1024, (n + 63) / 64);
  support::parallel_for((n + step - 1) / step, n_threads, [&](std::int64_t t) {
    const std::int64_t to = std::min(n, (t + 1) * step);
    if (is_plain_column(codes)) {
      score_column(codes, t * step, to, table, scores);
      return;
    }
    SlotBlock block(codes, -1);
    std::vector<std::int32_t> known(codes.x.p + 1);
    std::vector<double> part(scores.n_classes);
    for (std::int64_t i = t * step; i < to; i += block.rows_at_once()) {
      const std::int64_t end = std::min(to, i + block.rows_at_once());
      block.read(i, end);
      for (std::int64_t r = i; r < end; ++r) {
        std::int64_t m = 0;
        for (std::int64_t j = 0; j < codes.x.p; ++j) {
          known[m] = block.row(r - i)[j];
          m += known[m] >= 0;
        }
        double* out = scores.out + r * scores.n_classes;
        for (std::int64_t k = 0; k < m; k += kTerms) {
          const std::int64_t n_terms = std::min(kTerms, m - k);
          sum_rows({known.data() + k, nullptr, n_terms, n_terms}, table, scores.n_classes, part.data());
          for (std::int64_t c = 0; c < scores.n_classes; ++c) out[c] += part[c];
        }
      }
    }
  });
}

}  // namespace naively::counts
