// Python's door to counting and scoring matrices and codes: shapes and types are checked here, indices where they are
// read.
#include <nanobind/stl/optional.h>

#include "bindings/cells.hpp"
#include "bindings/module.hpp"
#include "counts/codes.hpp"
#include "counts/count.hpp"
#include "counts/linear_score.hpp"

namespace nb = nanobind;

namespace naively::cells {
namespace {

using Weight = std::optional<In<double, 1>>;
using Threshold = std::optional<double>;
using Lengths = std::optional<nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

// ---- counting -----------------------------------------------------------------------------------------------

Labels labels_of(const In<std::int32_t, 1>& label, const Weight& weight, std::int64_t n_rows, std::int64_t n_classes) {
  require_size(label.size(), n_rows, "label");
  if (weight) require_size(weight->size(), n_rows, "weight");
  require(n_classes >= 0 && n_classes < (std::int64_t{1} << 31), "n_classes must lie in [0, 2^31)");
  return {label.data(), weight ? weight->data() : nullptr, n_rows, n_classes};
}

// A compressed sparse matrix of n_lines rows (columns), each of the given width.
Lines lines_of(const Any<1>& data, const Any<1>& indices, const In<std::int64_t, 1>& indptr, std::int64_t width,
               const Threshold& above = {}) {
  const auto n = static_cast<std::int64_t>(indptr.size()) - 1, size = static_cast<std::int64_t>(data.size());
  require(n >= 0, "indptr is empty; it must have one entry more than the matrix has rows (columns)");
  require(width >= 0 && width < (std::int64_t{1} << 31) - 1, "a matrix may have at most 2^31 - 2 rows and columns");
  require_size(indices.size(), size, "indices");
  require(size < 2 || (data.stride(0) == 1 && indices.stride(0) == 1), "data and indices must be contiguous");
  const Type type = type_of(indices.dtype());
  require(type == Type::i32 || type == Type::i64, "indices must be int32 or int64");
  check_indptr(indptr.data(), n, size, "sparse matrix");
  return {.values = {data.data(), type_of(data.dtype()), above.has_value(), above.value_or(0)},
          .n_lines = n,
          .width = width,
          .indptr = indptr.data(),
          .indices = indices.data(),
          .wide = type == Type::i64};
}

Matrix matrix_of(const Any<2>& x) {
  const auto n = static_cast<std::int64_t>(x.shape(0)), p = static_cast<std::int64_t>(x.shape(1));
  constexpr std::int64_t MOST = (std::int64_t{1} << 31) - 2;
  require(n <= MOST && p <= MOST, "an array may have at most 2^31 - 2 rows and columns; give it in batches");
  return {{x.data(), type_of(x.dtype())}, n, p, x.stride(0), x.stride(1)};
}

using CountedArrays = std::tuple<CellArrays, CellArrays, std::tuple<std::int64_t, std::int64_t>>;

template <class F>
CountedArrays give_counted(F&& count) {
  Counted counted = [&] {
    nb::gil_scoped_release release;
    return count();
  }();
  return {give(std::move(counted.cells)), give(std::move(counted.missing)), {counted.negative, counted.fractional}};
}

CountedArrays py_count_csr(const Any<1>& data, const Any<1>& indices, const In<std::int64_t, 1>& indptr,
                           std::int64_t n_columns, const In<std::int32_t, 1>& label, const Weight& weight,
                           std::int64_t n_classes, int n_jobs, const Threshold& above) {
  const Lines rows = lines_of(data, indices, indptr, n_columns, above);
  const Labels labels = labels_of(label, weight, rows.n_lines, n_classes);
  return give_counted([&] { return count_rows(rows, labels, n_jobs); });
}

CountedArrays py_count_csc(const Any<1>& data, const Any<1>& indices, const In<std::int64_t, 1>& indptr,
                           const In<std::int32_t, 1>& label, const Weight& weight, std::int64_t n_classes, int n_jobs) {
  const Lines columns = lines_of(data, indices, indptr, label.size());
  const Labels labels = labels_of(label, weight, columns.width, n_classes);
  return give_counted([&] { return count_columns(columns, labels, n_jobs); });
}

CountedArrays py_count_dense(const Any<2>& x, const In<std::int32_t, 1>& label, const Weight& weight,
                             std::int64_t n_classes, int n_jobs) {
  const Matrix matrix = matrix_of(x);
  const Labels labels = labels_of(label, weight, matrix.n, n_classes);
  return give_counted([&] { return count_dense(matrix, labels, n_jobs); });
}

Codes codes_of(const Any<2>& x, const In<std::int64_t, 1>& sizes) {
  const Matrix matrix = matrix_of(x);
  require_size(sizes.size(), matrix.p, "sizes");
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    const std::int64_t size = sizes.data()[j];
    require(size >= 0 && size < (std::int64_t{1} << 31) && (sum += size) < (std::int64_t{1} << 31) - 1,
            "sizes must not be negative and add up to less than 2^31 - 1");
  }
  return {matrix, sizes.data()};
}

std::tuple<New<double, 2>, New<std::int64_t, 2>> py_count_codes(const Any<2>& x, const In<std::int64_t, 1>& sizes,
                                                                const In<std::int32_t, 1>& label, const Weight& weight,
                                                                std::int64_t n_classes, int n_jobs) {
  const Codes codes = codes_of(x, sizes);
  const Labels labels = labels_of(label, weight, codes.x.n, n_classes);
  const std::int64_t slots = n_slots(codes);
  Buffer<double> total(n_classes * slots);
  Buffer<std::int64_t> rows(n_classes * slots);
  {
    nb::gil_scoped_release release;
    count_codes(codes, labels, total.get(), rows.get(), n_jobs);
  }
  const auto c = static_cast<std::size_t>(n_classes), s = static_cast<std::size_t>(slots);
  return {give<double, 2>(total, {c, s}), give<std::int64_t, 2>(rows, {c, s})};
}

std::tuple<New<double, 1>, New<double, 1>, New<bool, 1>, New<bool, 1>> py_column_range(const Any<2>& x, int n_jobs) {
  const Matrix matrix = matrix_of(x);
  ColumnRange range = [&] {
    nb::gil_scoped_release release;
    return column_range(matrix, n_jobs);
  }();
  const auto p = static_cast<std::size_t>(matrix.p);
  return {give<double, 1>(range.minimum, {p}), give<double, 1>(range.maximum, {p}), give<bool, 1>(range.whole, {p}),
          give<bool, 1>(range.missing, {p})};
}

// ---- scoring ------------------------------------------------------------------------------------------------

Scores scores_of(const Out& out, std::int64_t n_rows, std::int64_t n_classes, const Lengths& length = {}) {
  require(static_cast<std::int64_t>(out.shape(0)) == n_rows && static_cast<std::int64_t>(out.shape(1)) == n_classes,
          "out must be (" + std::to_string(n_rows) + ", " + std::to_string(n_classes) + ")");
  if (length) require_size(length->size(), n_rows, "length");
  return {out.data(), n_classes, length ? length->data() : nullptr};
}

void py_score_codes(const Any<2>& x, const In<std::int64_t, 1>& sizes, const In<double, 2>& table, const Out& out,
                    int n_jobs) {
  const Codes codes = codes_of(x, sizes);
  require_size(table.shape(0), n_slots(codes), "table");
  const Scores scores = scores_of(out, codes.x.n, table.shape(1));
  nb::gil_scoped_release release;
  score_codes(codes, table.data(), scores, n_jobs);
}

bool py_score_csr(const Any<1>& data, const Any<1>& indices, const In<std::int64_t, 1>& indptr,
                  const In<double, 2>& table, const In<double, 1>& constant, const Out& out, int n_jobs,
                  const Threshold& above, const Lengths& length) {
  const Lines rows = lines_of(data, indices, indptr, table.shape(0), above);
  require_size(constant.size(), table.shape(1), "class_constant");
  const Scores scores = scores_of(out, rows.n_lines, table.shape(1), length);
  nb::gil_scoped_release release;
  return score_lines(rows, table.data(), constant.data(), scores, n_jobs);
}

bool py_score_csr_sparse(const Any<1>& data, const Any<1>& indices, const In<std::int64_t, 1>& indptr,
                         const In<double, 1>& base, const In<std::int64_t, 1>& token_indptr,
                         const In<std::int32_t, 1>& token_class, const In<double, 1>& token_value,
                         const In<double, 1>& constant, const Out& out, int n_jobs, const Threshold& above,
                         const Lengths& length) {
  const auto n_tokens = static_cast<std::int64_t>(base.size()), n_classes = static_cast<std::int64_t>(constant.size());
  const Lines rows = lines_of(data, indices, indptr, n_tokens, above);
  require_size(token_indptr.size(), n_tokens + 1, "token_indptr");
  require_size(token_value.size(), token_class.size(), "token_value");
  const Scores scores = scores_of(out, rows.n_lines, n_classes, length);
  const SparseTable table{n_tokens,           static_cast<std::int64_t>(token_class.size()),
                          base.data(),        token_indptr.data(),
                          token_class.data(), token_value.data()};
  nb::gil_scoped_release release;
  return score_lines(rows, table, constant.data(), scores, n_jobs);
}

bool py_score_dense(const Any<2>& x, const In<double, 2>& table, const In<double, 1>& constant, const Out& out,
                    int n_jobs, const Lengths& length) {
  const Matrix matrix = matrix_of(x);
  require_size(table.shape(0), matrix.p, "table");
  require_size(constant.size(), table.shape(1), "class_constant");
  const Scores scores = scores_of(out, matrix.n, table.shape(1), length);
  nb::gil_scoped_release release;
  return score_matrix(matrix, table.data(), constant.data(), scores, n_jobs);
}

}  // namespace
}  // namespace naively::cells

void bind_tally(nb::module_& m) {
  using namespace naively::cells;
  using namespace nb::literals;
  m.def("count_csr", py_count_csr, "data"_a, "indices"_a, "indptr"_a, "n_columns"_a, "label"_a, "weight"_a.none(),
        "n_classes"_a, "n_jobs"_a, "above"_a.none());
  m.def("count_csc", py_count_csc, "data"_a, "indices"_a, "indptr"_a, "label"_a, "weight"_a.none(), "n_classes"_a,
        "n_jobs"_a);
  m.def("count_dense", py_count_dense, "x"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "n_jobs"_a);
  m.def("count_codes", py_count_codes, "codes"_a, "sizes"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "n_jobs"_a);
  m.def("column_range", py_column_range, "x"_a, "n_jobs"_a);
  m.def("score_codes", py_score_codes, "codes"_a, "sizes"_a, "table"_a, "out"_a.noconvert(), "n_jobs"_a);
  m.def("score_csr", py_score_csr, "data"_a, "indices"_a, "indptr"_a, "table"_a, "class_constant"_a,
        "out"_a.noconvert(), "n_jobs"_a, "above"_a.none(), "length"_a.noconvert().none());
  m.def("score_csr_sparse", py_score_csr_sparse, "data"_a, "indices"_a, "indptr"_a, "base"_a, "token_indptr"_a,
        "token_class"_a, "token_value"_a, "class_constant"_a, "out"_a.noconvert(), "n_jobs"_a, "above"_a.none(),
        "length"_a.noconvert().none());
  m.def("score_dense", py_score_dense, "x"_a, "table"_a, "class_constant"_a, "out"_a.noconvert(), "n_jobs"_a,
        "length"_a.noconvert().none());
}
