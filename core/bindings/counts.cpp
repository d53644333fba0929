// Cells, counts and scores of matrices and codes. Shapes and types are checked here, indices where they are read.
#include "bindings/arrays.hpp"
#include "counts/cells.hpp"
#include "counts/linear_score.hpp"

namespace naively::bindings {
namespace {

using namespace counts;

using CellsIn = std::tuple<Ints, In<std::int32_t, 1>, Table, Ints>;

CellsView view(const CellsIn& cells) {
  const auto& [indptr, index, sums, rows] = cells;
  const std::int64_t size = size_of(index), n_classes = size_of(indptr) - 1, n_sums = size_of(sums);
  require(n_classes >= 0, "indptr of the cells is empty; it must have one entry more than there are classes");
  return {n_classes,
          n_sums,
          size,
          checked_offsets(indptr, "indptr of the cells", n_classes, size),
          index.data(),
          checked(sums, "sums of the cells", {-1, size}),
          checked(rows, "rows of the cells", {size})};
}

CellArrays arrays_of(Cells cells) {
  const auto [n_classes, n_sums, n] = std::tuple(cells.n_classes, cells.n_sums, cells.size);
  return cells_to_numpy(std::move(cells), n_classes, n_sums, n);
}

CellArrays py_merge_cells(const CellsIn& a, const CellsIn& b, int sign) {
  const CellsView x = view(a), y = view(b);
  require(x.n_classes == y.n_classes && x.n_sums == y.n_sums,
          "the cells differ in their number of classes or sums; renumber_cells first");
  require_sign(sign);
  return arrays_of(without_gil([&] { return merge_cells(x, y, sign); }));
}

CellArrays py_renumber_cells(const CellsIn& cells, const In<std::int32_t, 1>& class_map,
                             const In<std::int32_t, 1>& index_map, std::int64_t n_classes) {
  const CellsView x = view(cells);
  checked(class_map, "class_map", {x.n_classes});
  require_classes(n_classes);
  return arrays_of(without_gil(
      [&] { return renumber_cells(x, class_map.data(), index_map.data(), size_of(index_map), n_classes); }));
}

std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<std::int64_t, 1>> py_by_token(const CellsIn& cells,
                                                                                         std::int64_t n_tokens) {
  const CellsView x = view(cells);
  require(n_tokens >= 0, "n_tokens must not be negative");
  TokenMajor table = without_gil([&] { return by_token(x, n_tokens); });
  return {to_numpy(std::move(table.indptr), n_tokens + 1), to_numpy(std::move(table.classes), x.size),
          to_numpy(std::move(table.order), x.size)};
}

std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<double, 2>, New<std::int64_t, 1>, std::int64_t>
py_select_tokens(const CellsIn& cells, const In<std::int32_t, 1>& position, std::int64_t n_selected) {
  const CellsView x = view(cells);
  require(n_selected >= 0, "n_selected must not be negative");
  SelectedTokens tokens = without_gil([&] { return select_tokens(x, position.data(), size_of(position), n_selected); });
  return {to_numpy(std::move(tokens.start), n_selected + 2), to_numpy(std::move(tokens.owner), tokens.size),
          to_numpy(std::move(tokens.sums), x.n_sums, tokens.size), to_numpy(std::move(tokens.rows), tokens.size),
          tokens.n_distinct};
}

// Data, indices and indptr of a compressed sparse matrix.
using Contiguous = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SparseMatrix = std::tuple<Contiguous, Contiguous, Ints>;
using Threshold = std::optional<double>;

// The rows (columns) of a sparse matrix, each of the given width.
MatrixLines lines_of(const SparseMatrix& matrix, std::int64_t width, const Threshold& above = {}) {
  const auto& [data, indices, indptr] = matrix;
  const std::int64_t n = size_of(indptr) - 1, size = size_of(data);
  require(n >= 0, "indptr is empty; it must have one entry more than the matrix has rows (columns)");
  require(width >= 0 && width < kMaxInt32, "a matrix may have at most 2^31 - 2 rows and columns");
  checked(indices, "indices", {size});
  const NumberType type = type_of(indices.dtype());
  require(type == NumberType::kI32 || type == NumberType::kI64, "indices must be int32 or int64");
  return {.values = {data.data(), type_of(data.dtype()), above.has_value(), above.value_or(0)},
          .n_lines = n,
          .width = width,
          .indptr = checked_offsets(indptr, "indptr", n, size),
          .indices = indices.data(),
          .wide = type == NumberType::kI64};
}

using CountedArrays = std::tuple<CellArrays, CellArrays, std::tuple<std::int64_t, std::int64_t>>;

template <class Count>
CountedArrays counted(Count&& count) {
  CountedCells cells = without_gil(count);
  return {arrays_of(std::move(cells.cells)), arrays_of(std::move(cells.missing)), {cells.negative, cells.fractional}};
}

CountedArrays py_count_csr(const SparseMatrix& matrix, std::int64_t n_columns, const LabelArray& label,
                           const Weight& weight, std::int64_t n_classes, const Threshold& above, int n_threads) {
  const MatrixLines rows = lines_of(matrix, n_columns, above);
  const Labels labels = labels_of(label, weight, rows.n_lines, n_classes);
  return counted([&] { return count_rows(rows, labels, n_threads); });
}

CountedArrays py_count_csc(const SparseMatrix& matrix, const LabelArray& label, const Weight& weight,
                           std::int64_t n_classes, int n_threads) {
  const MatrixLines columns = lines_of(matrix, size_of(label));
  const Labels labels = labels_of(label, weight, columns.width, n_classes);
  return counted([&] { return count_columns(columns, labels, n_threads); });
}

CountedArrays py_count_dense(const Numbers<2>& x, const LabelArray& label, const Weight& weight, std::int64_t n_classes,
                             int n_threads) {
  const Matrix matrix = matrix_of(x);
  const Labels labels = labels_of(label, weight, matrix.n, n_classes);
  return counted([&] { return count_dense(matrix, labels, n_threads); });
}

// The columns of all pieces side by side have the sizes.
std::vector<Codes> codes_of(const Pieces& pieces, const Ints& sizes) {
  std::int64_t n_columns = 0, sum = 0;
  for (const Numbers<2>& piece : pieces) n_columns += size_of(piece, 1);
  checked(sizes, "sizes", {n_columns});
  for (std::int64_t j = 0; j < n_columns; ++j)
    require(sizes(j) >= 0 && sizes(j) <= kMaxInt32 && (sum += sizes(j)) < kMaxInt32,
            "sizes must not be negative and add up to less than 2^31 - 1");
  std::vector<Codes> codes;
  const std::int64_t* sizes_of_piece = sizes.data();
  for (const Numbers<2>& piece : pieces) {
    codes.push_back({matrix_of(piece), sizes_of_piece});
    sizes_of_piece += codes.back().x.p;
  }
  return codes;
}

std::tuple<New<double, 2>, New<std::int64_t, 2>> py_count_codes(const Numbers<2>& x, const Ints& sizes,
                                                                const LabelArray& label, const Weight& weight,
                                                                std::int64_t n_classes, int n_threads) {
  const Codes codes = codes_of({x}, sizes)[0];
  const Labels labels = labels_of(label, weight, codes.x.n, n_classes);
  const std::int64_t slots = n_slots(codes);
  Buffer<double> sums(n_classes * slots);
  Buffer<std::int64_t> rows(n_classes * slots);
  without_gil([&] { count_codes(codes, labels, sums.get(), rows.get(), n_threads); });
  return {to_numpy(std::move(sums), n_classes, slots), to_numpy(std::move(rows), n_classes, slots)};
}

std::tuple<New<double, 1>, New<double, 1>, New<bool, 1>, New<bool, 1>> py_column_range(const Numbers<2>& x,
                                                                                       int n_threads) {
  const Matrix matrix = matrix_of(x);
  ColumnRange range = without_gil([&] { return column_range(matrix, n_threads); });
  return {to_numpy(std::move(range.minimum), matrix.p), to_numpy(std::move(range.maximum), matrix.p),
          to_numpy(std::move(range.integral), matrix.p), to_numpy(std::move(range.missing), matrix.p)};
}

Scores scores_of(const OutTable& out, std::int64_t n_rows, std::int64_t n_classes, const Length& length = {}) {
  return {checked(out, "out", {n_rows, n_classes}), n_classes, checked(length, "length", {n_rows})};
}

// Adds the columns piece by piece.
void py_score_codes(const Pieces& pieces, const Ints& sizes, const Table& table, const OutTable& out, int n_threads) {
  const std::vector<Codes> parts = codes_of(pieces, sizes);
  const std::int64_t n_classes = size_of(table, 1);
  std::int64_t slots = 0;
  for (const Codes& codes : parts) {
    checked(out, "out", {codes.x.n, n_classes});
    slots += n_slots(codes);
  }
  checked(table, "table", {slots, -1});
  without_gil([&] {
    const double* rows_of_piece = table.data();
    for (const Codes& codes : parts) {
      score_codes(codes, rows_of_piece, {out.data(), n_classes}, n_threads);
      rows_of_piece += n_slots(codes) * n_classes;
    }
  });
}

// The same for columns that are a piece each: out is (column, row, class).
void py_score_code_columns(const Pieces& columns, const Ints& sizes, const Table& table, const Out<double, 3>& out,
                           int n_threads) {
  const std::vector<Codes> parts = codes_of(columns, sizes);
  const std::int64_t n_columns = parts.size(), n_classes = size_of(table, 1);
  std::int64_t slots = 0;
  for (const Codes& codes : parts) {
    require(codes.x.p == 1, "a piece is not one column");
    checked(out, "out", {n_columns, codes.x.n, n_classes});
    slots += n_slots(codes);
  }
  checked(table, "table", {slots, -1});
  without_gil([&] {
    const double* rows_of_column = table.data();
    double* scores = out.data();
    for (const Codes& codes : parts) {
      score_codes(codes, rows_of_column, {scores, n_classes}, n_threads);
      rows_of_column += n_slots(codes) * n_classes;
      scores += codes.x.n * n_classes;
    }
  });
}

bool py_score_csr(const SparseMatrix& matrix, const Table& table, const Floats& constant, const OutTable& out,
                  const Length& length, const Threshold& above, int n_threads) {
  const MatrixLines rows = lines_of(matrix, size_of(table), above);
  checked(constant, "class_constant", {size_of(table, 1)});
  const Scores scores = scores_of(out, rows.n_lines, size_of(table, 1), length);
  return without_gil([&] { return score_lines(rows, table.data(), constant.data(), scores, n_threads); });
}

bool py_score_csr_sparse(const SparseMatrix& matrix, const SparseWeights& weights, const Floats& constant,
                         const OutTable& out, const Length& length, const Threshold& above, int n_threads) {
  const auto& [base, start, classes, values] = weights;
  const std::int64_t n_tokens = size_of(base), n_classes = size_of(constant), size = size_of(classes);
  const MatrixLines rows = lines_of(matrix, n_tokens, above);
  const SparseTable table{n_tokens,       size,
                          base.data(),    checked(start, "token_start", {n_tokens + 1}),
                          classes.data(), checked(values, "token_value", {size})};
  const Scores scores = scores_of(out, rows.n_lines, n_classes, length);
  return without_gil([&] { return score_lines(rows, table, constant.data(), scores, n_threads); });
}

bool py_score_dense(const Numbers<2>& x, const Table& table, const Floats& constant, const OutTable& out,
                    const Length& length, int n_threads) {
  const Matrix matrix = matrix_of(x);
  checked(table, "table", {matrix.p, -1});
  checked(constant, "class_constant", {size_of(table, 1)});
  const Scores scores = scores_of(out, matrix.n, size_of(table, 1), length);
  return without_gil([&] { return score_matrix(matrix, table.data(), constant.data(), scores, n_threads); });
}

void require_alpha(double alpha) { require(alpha > 0, "alpha is " + std::to_string(alpha) + ": it must be above 0"); }

New<double, 2> py_token_log_table(const CellsIn& cells, const Floats& base, double alpha, int n_threads) {
  const CellsView x = view(cells);
  require_alpha(alpha);
  return to_numpy(without_gil([&] { return token_log_table(x, base.data(), base.size(), alpha, n_threads); }),
                  size_of(base), x.n_classes);
}

std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<double, 1>> py_token_logs(const CellsIn& cells,
                                                                                     std::int64_t n_tokens,
                                                                                     double alpha, int n_threads) {
  const CellsView x = view(cells);
  require_alpha(alpha);
  require(n_tokens >= 0, "n_tokens must not be negative");
  TokenLogs logs = without_gil([&] { return token_logs(x, static_cast<std::size_t>(n_tokens), alpha, n_threads); });
  return {to_numpy(std::move(logs.start), n_tokens + 1), to_numpy(std::move(logs.owner), x.size),
          to_numpy(std::move(logs.value), x.size)};
}

}  // namespace

void bind_counts(nb::module_& m) {
  m.def("merge_cells", py_merge_cells, "a"_a, "b"_a, "sign"_a);
  m.def("renumber_cells", py_renumber_cells, "cells"_a, "class_map"_a, "index_map"_a, "n_classes"_a);
  m.def("by_token", py_by_token, "cells"_a, "n_tokens"_a);
  m.def("select_tokens", py_select_tokens, "cells"_a, "position"_a, "n_selected"_a);
  m.def("count_csr", py_count_csr, "matrix"_a, "n_columns"_a, "label"_a, "weight"_a.none(), "n_classes"_a,
        "above"_a.none(), "n_threads"_a);
  m.def("count_csc", py_count_csc, "matrix"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
  m.def("count_dense", py_count_dense, "x"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
  m.def("count_codes", py_count_codes, "codes"_a, "sizes"_a, "label"_a, "weight"_a.none(), "n_classes"_a,
        "n_threads"_a);
  m.def("column_range", py_column_range, "x"_a, "n_threads"_a);
  m.def("score_codes", py_score_codes, "pieces"_a, "sizes"_a, "table"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("score_code_columns", py_score_code_columns, "columns"_a, "sizes"_a, "table"_a, "out"_a.noconvert(),
        "n_threads"_a);
  m.def("score_csr", py_score_csr, "matrix"_a, "weights"_a, "class_constant"_a, "out"_a.noconvert(),
        "length"_a.noconvert().none(), "above"_a.none(), "n_threads"_a);
  m.def("score_csr", py_score_csr_sparse, "matrix"_a, "weights"_a, "class_constant"_a, "out"_a.noconvert(),
        "length"_a.noconvert().none(), "above"_a.none(), "n_threads"_a);
  m.def("score_dense", py_score_dense, "x"_a, "table"_a, "class_constant"_a, "out"_a.noconvert(),
        "length"_a.noconvert().none(), "n_threads"_a);
  m.def("token_log_table", py_token_log_table, "cells"_a, "base"_a, "alpha"_a, "n_threads"_a);
  m.def("token_logs", py_token_logs, "cells"_a, "n_tokens"_a, "alpha"_a, "n_threads"_a);
}

}  // namespace naively::bindings
