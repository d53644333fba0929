#include "linear.hpp"

#include <algorithm>
#include <cmath>

#include "accumulators.hpp"
#include "threads.hpp"

namespace naively::cells {
namespace {

constexpr std::int64_t TERMS = 256;  // in one plain sum

// The sums of one row, from its pieces.
struct RowSums {
  std::vector<Sum> sums;
  Sum length{};

  explicit RowSums(std::int64_t n_classes) : sums(n_classes, Sum{}) {}

  void add(const double* part, double part_length) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add(part[c]);
    length.add(part_length);
  }
  // Adds the row's score to out, and makes the sums zero for the next row.
  void finish(const double* constant, double* out) {
    const double x = length.value();
    for (std::size_t c = 0; c < sums.size(); ++c) out[c] += sums[c].value() + x * constant[c];
    std::fill(sums.begin(), sums.end(), Sum{});
    length = {};
  }
};

// Rows do not touch each other, so how they are dealt out has no influence on the result.
template <class F>
void for_row_ranges(std::int64_t n, int n_jobs, F&& f) {
  const std::int64_t step = std::max<std::int64_t>(32, (n + 63) / 64);
  parallel_for((n + step - 1) / step, n_jobs, [&](std::int64_t t) { f(t * step, std::min(n, (t + 1) * step)); });
}

}  // namespace

void score_lines(const Lines& rows, const double* table, const double* constant, Scores scores, int n_jobs) {
  for_row_ranges(rows.n_lines, n_jobs, [&](std::int64_t from, std::int64_t to) {
    LineReader reader(rows, false);
    RowSums sums(scores.n_classes);
    std::vector<double> part(scores.n_classes);
    double buffer[TERMS];
    for (std::int64_t i = from; i < to; ++i) {
      const Line line = reader.read(i);
      for (std::int64_t k = 0; k < line.size; k += TERMS) {
        const std::int64_t n = std::min(TERMS, line.size - k);
        const double* x = rows.values.read(line.first + k * line.step, line.step, n, buffer);
        const double length = sum_rows(line.index + k, x, n, table, scores.n_classes, part.data());
        sums.add(part.data(), length);
      }
      sums.finish(constant, scores.out + i * scores.n_classes);
    }
  });
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

void score_matrix(const Matrix& x, const double* table, const double* constant, Scores scores, int n_jobs) {
  constexpr std::int64_t ROWS = 32;
  for_row_ranges(x.n, n_jobs, [&](std::int64_t from, std::int64_t to) {
    std::vector<double> block(ROWS * TERMS), column(ROWS), part(scores.n_classes);
    std::vector<std::int32_t> token(x.p);
    for (std::int64_t j = 0; j < x.p; ++j) token[j] = static_cast<std::int32_t>(j);
    std::vector<RowSums> sums(ROWS, RowSums(scores.n_classes));
    for (std::int64_t i = from; i < to; i += ROWS) {
      const std::int64_t rows = std::min(ROWS, to - i);
      for (std::int64_t first = 0; first < x.p; first += TERMS) {
        const std::int64_t width = std::min(TERMS, x.p - first);
        read_block(x, i, i + rows, first, width, column, block.data());
        for (std::int64_t r = 0; r < rows; ++r) {
          const double length = sum_rows(token.data() + first, block.data() + r * width, width, table,
                                         scores.n_classes, part.data());
          sums[r].add(part.data(), length);
        }
      }
      for (std::int64_t r = 0; r < rows; ++r) sums[r].finish(constant, scores.out + (i + r) * scores.n_classes);
    }
  });
}

namespace {

// Gives the cells of a token, checked when it is first met; then they need no check in the inner loop.
class TokenCells {
 public:
  TokenCells(const SparseTable& table, std::int64_t n_classes)
      : table_(table), n_classes_(static_cast<std::uint32_t>(n_classes)), seen_((table.n_tokens + 63) / 64) {}

  void check(std::int32_t token) {
    const std::uint64_t bit = std::uint64_t{1} << (token & 63);
    if (seen_[token >> 6] & bit) return;
    const std::int64_t from = table_.indptr[token], to = table_.indptr[token + 1];
    bool good = 0 <= from && from <= to && to <= table_.size;
    for (std::int64_t i = from; good && i < to; ++i) good = static_cast<std::uint32_t>(table_.classes[i]) < n_classes_;
    if (!good)
      throw std::invalid_argument("token " + std::to_string(token) + " of the table has cells outside [0, " +
                                  std::to_string(table_.size) + ") or classes outside [0, " +
                                  std::to_string(n_classes_) + "); make the table with by_token");
    seen_[token >> 6] |= bit;
  }

 private:
  const SparseTable& table_;
  std::uint32_t n_classes_;
  std::vector<std::uint64_t> seen_;
};

// One piece of a row: what it adds to every class alike is returned in `alike`, the rest goes to part.
double sum_sparse(const std::int32_t* token, const double* x, std::int64_t n, const SparseTable& table,
                  TokenCells& cells, double* part, double& alike) {
  double length = 0;
  alike = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double value = x[k], base = table.base[token[k]];
    if (value == 0 || std::isnan(value) || std::isnan(base)) continue;
    cells.check(token[k]);
    alike += value * base;
    length += value;
    const std::int64_t end = table.indptr[token[k] + 1];
    for (std::int64_t i = table.indptr[token[k]]; i < end; ++i) part[table.classes[i]] += value * table.values[i];
  }
  return length;
}

}  // namespace

void score_lines(const Lines& rows, const SparseTable& table, const double* constant, Scores scores, int n_jobs) {
  for_row_ranges(rows.n_lines, n_jobs, [&](std::int64_t from, std::int64_t to) {
    LineReader reader(rows, false);
    TokenCells cells(table, scores.n_classes);
    RowSums sums(scores.n_classes);
    std::vector<double> part(scores.n_classes);
    double buffer[TERMS];
    for (std::int64_t i = from; i < to; ++i) {
      const Line line = reader.read(i);
      Sum alike{};
      for (std::int64_t k = 0; k < line.size; k += TERMS) {
        const std::int64_t n = std::min(TERMS, line.size - k);
        const double* x = rows.values.read(line.first + k * line.step, line.step, n, buffer);
        double piece_alike;
        std::fill(part.begin(), part.end(), 0.0);
        const double length = sum_sparse(line.index + k, x, n, table, cells, part.data(), piece_alike);
        sums.add(part.data(), length);
        alike.add(piece_alike);
      }
      double* out = scores.out + i * scores.n_classes;
      const double base = alike.value();
      for (std::int64_t c = 0; c < scores.n_classes; ++c) out[c] += base;
      sums.finish(constant, out);
    }
  });
}

}  // namespace naively::cells
