#include "counts/linear_score.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "counts/cell_sums.hpp"
#include "support/compiler.hpp"
#include "support/threads.hpp"

namespace naively::counts {
namespace {

constexpr std::int64_t kTerms = 256;                           // in one plain sum
constexpr std::int64_t kMinRows = 32, kMinProducts = 1 << 14;  // in a range: less does not pay for a thread

// The sums of one row, from its pieces.
struct RowSums {
  std::vector<CompensatedSum> sums;
  CompensatedSum length;

  explicit RowSums(std::int64_t n_classes) : sums(n_classes) {}

  void add(const double* part, double part_length) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add(part[c]);
    length.add(part_length);
  }
  // Adds the score and the length of row i, and makes the sums zero for the next row.
  void finish(const double* constant, Scores scores, std::int64_t i) {
    const double x = length.total();
    double* const out = scores.out + i * scores.n_classes;
    for (std::size_t c = 0; c < sums.size(); ++c) out[c] += sums[c].total() + x * constant[c];
    if (scores.length) scores.length[i] += x;
    std::fill(sums.begin(), sums.end(), CompensatedSum{});
    length = {};
  }
};

// Calls f(from, to) for ranges of at least min_rows rows. Rows are independent, so the ranges do not influence the
// result.
template <class F>
void for_row_ranges(std::int64_t n, std::int64_t min_rows, int n_threads, F&& f) {
  const std::int64_t step = std::max(min_rows, (n + 63) / 64);
  support::parallel_for((n + step - 1) / step, n_threads,
                        [&](std::int64_t t) { f(t * step, std::min(n, (t + 1) * step)); });
}

}  // namespace

namespace {

// Scores the rows of a matrix. It reads one row ahead, so that its tokens can be prefetched in time.
class LineScorer {
 public:
  LineScorer(const MatrixLines& rows, const double* table, const double* constant, Scores scores)
      : rows_(rows),
        table_(table),
        constant_(constant),
        scores_(scores),
        readers_{{rows, false}, {rows, false}},
        part_(scores.n_classes),
        sums_(scores.n_classes) {}

  // Returns whether all entries are finite.
  bool score(std::int64_t from, std::int64_t to) {
    bool finite = true;
    Line next = readers_[from % 2].read(from);
    for (std::int64_t i = from; i < to; ++i) {
      const Line line = next;
      next = i + 1 < to ? readers_[(i + 1) % 2].read(i + 1) : Line{};
      finite &= score_row(line, next, i);
    }
    return finite;
  }

 private:
  bool score_row(const Line& line, const Line& next, std::int64_t i) {
    double* const out = scores_.out + i * scores_.n_classes;
    const std::int64_t readable = line.size + (next.index == line.index + line.size ? next.size : 0);
    bool is_finite = true;
    for (std::int64_t k = 0; k < line.size; k += kTerms) {
      const std::int64_t n = std::min(kTerms, line.size - k);
      const double* x = rows_.values.read(line.first + k * line.step, line.step, n, buffer_);
      const Terms terms{line.index + k, x, n, readable - k};
      const Length length = sum_rows(terms, table_, scores_.n_classes, part_.data());
      is_finite &= length.is_finite;
      if (line.size > kTerms) {
        sums_.add(part_.data(), length.sum);
      } else {
        for (std::int64_t c = 0; c < scores_.n_classes; ++c) out[c] += part_[c] + length.sum * constant_[c];
        if (scores_.length) scores_.length[i] += length.sum;
      }
    }
    if (line.size > kTerms) sums_.finish(constant_, scores_, i);
    return is_finite;
  }

  const MatrixLines& rows_;
  const double *table_, *constant_;
  Scores scores_;
  LineReader readers_[2];  // each holds the indices of the last line that it read
  std::vector<double> part_;
  RowSums sums_;
  double buffer_[kTerms];
};

}  // namespace

bool score_lines(const MatrixLines& rows, const double* table, const double* constant, Scores scores, int n_threads) {
  std::atomic<bool> finite{true};
  for_row_ranges(rows.n_lines, kMinRows, n_threads, [&](std::int64_t from, std::int64_t to) {
    if (!LineScorer(rows, table, constant, scores).score(from, to)) finite = false;
  });
  return finite;
}

namespace {

// Rows [from, to) and columns [first, first + width) of x, as doubles, row by row.
void read_block(const Matrix& x, std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t width,
                std::vector<double>& column, double* block) {
  if (!x.by_columns()) {
    for (std::int64_t i = from; i < to; ++i, block += width) {
      const double* row = x.values.read(i * x.row_step + first * x.column_step, x.column_step, width, block);
      if (row != block) std::copy_n(row, width, block);
    }
    return;
  }
  for (std::int64_t j = 0; j < width; ++j) {
    const std::int64_t at = from * x.row_step + (first + j) * x.column_step;
    const double* values = x.values.read(at, x.row_step, to - from, column.data());
    for (std::int64_t i = 0; i < to - from; ++i) block[i * width + j] = values[i];
  }
}

}  // namespace

bool score_matrix(const Matrix& x, const double* table, const double* constant, Scores scores, int n_threads) {
  constexpr std::int64_t kRows = 32;
  const std::int64_t min_rows = std::max(kMinRows, kMinProducts / std::max<std::int64_t>(1, x.p * scores.n_classes));
  std::atomic<bool> finite{true};
  for_row_ranges(x.n, min_rows, n_threads, [&](std::int64_t from, std::int64_t to) {
    std::vector<double> block(kRows * kTerms), column(kRows), part(scores.n_classes);
    std::vector<std::int32_t> token(x.p);
    for (std::int64_t j = 0; j < x.p; ++j) token[j] = static_cast<std::int32_t>(j);
    std::vector<RowSums> sums(kRows, RowSums(scores.n_classes));
    for (std::int64_t i = from; i < to; i += kRows) {
      const std::int64_t rows = std::min(kRows, to - i);
      for (std::int64_t first = 0; first < x.p; first += kTerms) {
        const std::int64_t width = std::min(kTerms, x.p - first);
        read_block(x, i, i + rows, first, width, column, block.data());
        for (std::int64_t r = 0; r < rows; ++r) {
          const Terms terms{token.data() + first, block.data() + r * width, width, width};
          const Length length = sum_rows(terms, table, scores.n_classes, part.data());
          if (!length.is_finite) finite = false;
          sums[r].add(part.data(), length.sum);
        }
      }
      for (std::int64_t r = 0; r < rows; ++r) sums[r].finish(constant, scores, i + r);
    }
  });
  return finite;
}

namespace {

// Checks the cells of each token when it is first used, so that the inner loop need not. Threads share the result; two
// that check a token at the same time reach the same one.
class CheckedTokens {
 public:
  CheckedTokens(const SparseTable& table, std::int64_t n_classes)
      : table_(table), n_classes_(n_classes), known_(new std::atomic<Kind>[table.n_tokens]()) {}

  // Returns whether the token has a cell of every class, in order: the classes then need not be read.
  bool is_full(std::int32_t token) const {
    Kind kind = known_[token].load(std::memory_order_relaxed);
    if (kind == Kind::kUnchecked) known_[token].store(kind = check(token), std::memory_order_relaxed);
    return kind == Kind::kFull;
  }

  // Prefetches the cells of a token.
  void prefetch(std::int32_t token) const {
    const std::int64_t from = table_.indptr[token], to = std::min(table_.indptr[token + 1], from + kMaxPrefetched);
    if (from < 0 || to > table_.size) return;
    for (std::int64_t i = from; i < to; i += 16) support::prefetch(table_.classes + i);
    for (std::int64_t i = from; i < to; i += 8) support::prefetch(table_.values + i);
  }

 private:
  enum class Kind : std::uint8_t { kUnchecked, kSparse, kFull };
  static constexpr std::int64_t kMaxPrefetched = 512;  // the processor prefetches what follows

  Kind check(std::int32_t token) const {
    const std::int64_t from = table_.indptr[token], to = table_.indptr[token + 1];
    bool good = 0 <= from && from <= to && to <= table_.size;
    const std::int64_t size = good ? to - from : 0;
    const std::int32_t* classes = table_.classes + (good ? from : 0);
    int outside = 0, out_of_order = size != n_classes_;
    for (std::int64_t i = 0; i < size; ++i) {
      outside |= static_cast<std::uint32_t>(classes[i]) >= static_cast<std::uint32_t>(n_classes_);
      out_of_order |= classes[i] != static_cast<std::int32_t>(i);
    }
    if (!good || outside)
      throw std::invalid_argument("token " + std::to_string(token) + " of the table has cells outside [0, " +
                                  std::to_string(table_.size) + ") or classes outside [0, " +
                                  std::to_string(n_classes_) + "); make the table with by_token");
    return out_of_order ? Kind::kSparse : Kind::kFull;
  }

  const SparseTable& table_;
  std::int64_t n_classes_;
  std::unique_ptr<std::atomic<Kind>[]> known_;
};

// Sums one piece of a row: `alike` is what every class gets, `part` is increased by the rest.
Length sum_sparse(const std::int32_t* token, const double* x, std::int64_t n, const SparseTable& table,
                  const CheckedTokens& cells, double* part, double& alike) {
  constexpr std::int64_t kPrefetchTokens = 3;
  double length = 0;
  bool is_finite = true;
  alike = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    if (k + kPrefetchTokens < n) cells.prefetch(token[k + kPrefetchTokens]);
    const double value = x[k], base = table.base[token[k]];
    if (value == 0 || std::isnan(value) || std::isnan(base)) {
      is_finite &= std::isfinite(value);
      continue;
    }
    alike += value * base;
    length += value;
    const bool full = cells.is_full(token[k]);
    const std::int64_t from = table.indptr[token[k]], size = table.indptr[token[k] + 1] - from;
    const std::int32_t* classes = table.classes + from;
    const double* values = table.values + from;
    if (full) {
      for (std::int64_t i = 0; i < size; ++i) part[i] += value * values[i];
    } else {
      for (std::int64_t i = 0; i < size; ++i) part[classes[i]] += value * values[i];
    }
  }
  return {length, is_finite && std::isfinite(length)};
}

}  // namespace

bool score_lines(const MatrixLines& rows, const SparseTable& table, const double* constant, Scores scores,
                 int n_threads) {
  std::atomic<bool> finite{true};
  const CheckedTokens cells(table, scores.n_classes);
  for_row_ranges(rows.n_lines, kMinRows, n_threads, [&](std::int64_t from, std::int64_t to) {
    LineReader reader(rows, false);
    RowSums sums(scores.n_classes);
    std::vector<double> part(scores.n_classes);
    double buffer[kTerms];
    for (std::int64_t i = from; i < to; ++i) {
      const Line line = reader.read(i);
      CompensatedSum alike;
      for (std::int64_t k = 0; k < line.size; k += kTerms) {
        const std::int64_t n = std::min(kTerms, line.size - k);
        const double* x = rows.values.read(line.first + k * line.step, line.step, n, buffer);
        double piece_alike;
        std::fill(part.begin(), part.end(), 0.0);
        const Length length = sum_sparse(line.index + k, x, n, table, cells, part.data(), piece_alike);
        if (!length.is_finite) finite = false;
        sums.add(part.data(), length.sum);
        alike.add(piece_alike);
      }
      double* out = scores.out + i * scores.n_classes;
      const double base = alike.total();
      for (std::int64_t c = 0; c < scores.n_classes; ++c) out[c] += base;
      sums.finish(constant, scores, i);
    }
  });
  return finite;
}

}  // namespace naively::counts
