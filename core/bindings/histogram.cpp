// Histograms of numeric columns, their bins and scores.
#include "histogram/histogram.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "support/memory.hpp"

namespace naively::bindings {
namespace {

using namespace histogram;
using support::Buffer;
using Pieces = std::vector<Numbers<2>>;

// Arrays of n rows each; `columns` becomes the number of all their columns.
std::vector<Matrix> matrices_of(const Pieces& pieces, std::int64_t n, std::int64_t& columns) {
  std::vector<Matrix> matrices;
  columns = 0;
  for (const Numbers<2>& x : pieces) {
    checked(x, "a piece", {n, -1});
    matrices.push_back(matrix_of(x));
    columns += matrices.back().p;
  }
  return matrices;
}

// Levels, offsets, keys, classes, weight and rows.
using HistogramArrays = std::tuple<Ints, Ints, Ints, In<std::int32_t, 1>, Floats, Ints>;

void require_level(std::int64_t level) { require(level >= 0 && level < 64, "a level lies outside 0 .. 63"); }

// n_classes −1: the classes are not checked.
HistogramView view(const HistogramArrays& arrays, std::int64_t n_classes = -1) {
  const auto& [levels, offsets, keys, classes, weight, rows] = arrays;
  const std::int64_t p = size_of(levels), n = size_of(keys);
  for (std::int64_t j = 0; j < p; ++j) require_level(levels(j));
  checked(classes, "classes", {n});
  for (std::int64_t i = 0; n_classes >= 0 && i < n; ++i)
    require(classes(i) >= 0 && classes(i) < n_classes, "a class lies outside 0 .. n_classes - 1");
  return {p,
          n,
          levels.data(),
          checked_offsets(offsets, "offsets", p, n),
          keys.data(),
          classes.data(),
          checked(weight, "weight", {n}),
          checked(rows, "rows", {n})};
}

using NewHistogram = std::tuple<New<std::int64_t, 1>, New<std::int64_t, 1>, New<std::int64_t, 1>, New<std::int32_t, 1>,
                                New<double, 1>, New<std::int64_t, 1>>;

NewHistogram to_arrays(const std::vector<HistogramColumn>& columns) {
  const auto p = static_cast<std::int64_t>(columns.size());
  Buffer<std::int64_t> levels(p), offsets(p + 1);
  offsets[0] = 0;
  for (std::int64_t j = 0; j < p; ++j) {
    levels[j] = columns[j].level;
    offsets[j + 1] = offsets[j] + static_cast<std::int64_t>(columns[j].cells.size());
  }
  const std::int64_t n = offsets[p];
  Buffer<std::int64_t> keys(n), rows(n);
  Buffer<std::int32_t> classes(n);
  Buffer<double> weight(n);
  std::int64_t i = 0;
  for (const HistogramColumn& column : columns)
    for (const HistogramCell& cell : column.cells) {
      keys[i] = cell.key, classes[i] = cell.label;
      weight[i] = cell.weight, rows[i++] = cell.rows;
    }
  return {to_numpy(std::move(levels), p),  to_numpy(std::move(offsets), p + 1), to_numpy(std::move(keys), n),
          to_numpy(std::move(classes), n), to_numpy(std::move(weight), n),      to_numpy(std::move(rows), n)};
}

NewHistogram py_count_histogram(const Pieces& pieces, const LabelArray& label, const Weight& weight,
                                std::int64_t n_classes, std::int64_t cap, const std::optional<Ints>& min_level,
                                int n_threads) {
  const std::int64_t n = size_of(label);
  std::int64_t columns;
  const std::vector<Matrix> matrices = matrices_of(pieces, n, columns);
  const Labels labels = labels_of(label, weight, n, n_classes);
  require(cap >= 2 && cap < (std::int64_t{1} << 30), "cap must lie in 2 .. 2^30 - 1");
  const std::int64_t* const levels = checked(min_level, "min_level", {columns});
  for (std::int64_t j = 0; levels && j < columns; ++j) require_level(levels[j]);
  return to_arrays(without_gil([&] { return count_histogram(matrices, labels, cap, levels, n_threads); }));
}

NewHistogram py_merge_histograms(const HistogramArrays& a, const HistogramArrays& b, int sign, std::int64_t cap) {
  const HistogramView x = view(a), y = view(b);
  require(x.n_columns == y.n_columns, "the histograms have " + std::to_string(x.n_columns) + " and " +
                                          std::to_string(y.n_columns) + " columns; bring them to the same first");
  require_sign(sign);
  require(cap >= 2, "cap must be 2 or more");
  return to_arrays(without_gil([&] {
    std::vector<HistogramColumn> sum(x.n_columns);
    for (std::int64_t j = 0; j < x.n_columns; ++j) sum[j] = merge(x.column(j), y.column(j), sign, cap);
    return sum;
  }));
}

std::tuple<New<std::int64_t, 1>, New<std::int64_t, 1>> py_cut_histogram(const HistogramArrays& arrays,
                                                                        std::int64_t n_classes, int n_threads) {
  const HistogramView columns = view(arrays, n_classes);
  const auto cuts = without_gil([&] { return cut_columns(columns, n_classes, n_threads); });
  std::vector<std::int64_t> offsets{0}, starts;
  for (const auto& column : cuts) {
    starts.insert(starts.end(), column.begin(), column.end());
    offsets.push_back(static_cast<std::int64_t>(starts.size()));
  }
  const std::int64_t n = offsets.back();
  return {to_numpy(std::move(starts), n), to_numpy(std::move(offsets), columns.n_columns + 1)};
}

std::tuple<New<double, 1>, New<std::int64_t, 1>> py_bin_cells(const HistogramArrays& arrays, std::int64_t n_classes,
                                                              const Floats& cuts, const Ints& offsets) {
  const HistogramView columns = view(arrays, n_classes);
  checked_offsets(offsets, "offsets", columns.n_columns, size_of(cuts));
  const std::int64_t n = (size_of(cuts) + columns.n_columns) * n_classes;
  Buffer<double> weight(n);
  Buffer<std::int64_t> rows(n);
  without_gil([&] { bin_cells(columns, cuts.data(), offsets.data(), n_classes, weight.get(), rows.get()); });
  return {to_numpy(std::move(weight), n), to_numpy(std::move(rows), n)};
}

New<std::int64_t, 2> py_find_bins(const Pieces& pieces, std::int64_t n, const Ints& levels, const Floats& cuts,
                                  const Ints& offsets) {
  std::int64_t columns;
  const std::vector<Matrix> matrices = matrices_of(pieces, n, columns);
  checked_offsets(offsets, "offsets", columns, size_of(cuts));
  checked(levels, "levels", {columns});
  for (std::int64_t j = 0; j < columns; ++j) require_level(levels(j));
  Buffer<std::int64_t> bins(n * columns);
  without_gil([&] { find_bins(matrices, levels.data(), cuts.data(), offsets.data(), bins.get()); });
  return to_numpy(std::move(bins), n, columns);
}

void py_score_bins(const Pieces& pieces, const Floats& cuts, const Ints& offsets, const Table& table,
                   const OutTable& out, int n_threads) {
  std::int64_t columns;
  const std::vector<Matrix> matrices = matrices_of(pieces, size_of(out), columns);
  checked_offsets(offsets, "offsets", columns, size_of(cuts));
  checked(table, "table", {size_of(cuts) + columns, size_of(out, 1)});
  without_gil([&] {
    score_bins(matrices, cuts.data(), offsets.data(), table.data(), size_of(table, 1), out.data(), n_threads);
  });
}

// The same for columns that are a piece each: out is (column, row, class).
void py_score_bin_columns(const Pieces& pieces, const Floats& cuts, const Ints& offsets, const Table& table,
                          const Out<double, 3>& out, int n_threads) {
  std::int64_t columns;
  const std::int64_t n_rows = size_of(out, 1), n_classes = size_of(table, 1);
  const std::vector<Matrix> matrices = matrices_of(pieces, n_rows, columns);
  for (const Matrix& matrix : matrices) require(matrix.p == 1, "a piece is not one column");
  checked(out, "out", {columns, n_rows, n_classes});
  checked_offsets(offsets, "offsets", columns, size_of(cuts));
  checked(table, "table", {size_of(cuts) + columns, n_classes});
  without_gil([&] {
    for (std::int64_t j = 0; j < columns; ++j)
      score_bins({matrices[j]}, cuts.data(), offsets.data() + j, table.data() + j * n_classes, n_classes,
                 out.data() + j * n_rows * n_classes, n_threads);
  });
}

}  // namespace

void bind_histogram(nb::module_& m) {
  m.def("count_histogram", py_count_histogram, "pieces"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "cap"_a,
        "min_level"_a.none(), "n_threads"_a);
  m.def("merge_histograms", py_merge_histograms, "a"_a, "b"_a, "sign"_a, "cap"_a);
  m.def("cut_histogram", py_cut_histogram, "cells"_a, "n_classes"_a, "n_threads"_a);
  m.def("bin_cells", py_bin_cells, "cells"_a, "n_classes"_a, "cuts"_a, "offsets"_a);
  m.def("find_bins", py_find_bins, "pieces"_a, "n_rows"_a, "levels"_a, "cuts"_a, "offsets"_a);
  m.def("score_bins", py_score_bins, "pieces"_a, "cuts"_a, "offsets"_a, "table"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("score_bin_columns", py_score_bin_columns, "columns"_a, "cuts"_a, "offsets"_a, "table"_a, "out"_a.noconvert(),
        "n_threads"_a);
}

}  // namespace naively::bindings
