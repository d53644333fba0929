// Python's door to the histograms: shapes, types and classes are checked here.
#include "histogram/histogram.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "histogram/discretise.hpp"
#include "support/threads.hpp"

namespace nb = nanobind;

namespace naively::histogram {
namespace {

using cells::Buffer;
using cells::In;
using cells::Out;
using cells::require;
using cells::type_of;
using Piece = cells::Any<2>;
template <class T>
using New = cells::New<T, 1>;
using Whole = In<std::int64_t, 1>;
using Real = In<double, 1>;

// Pieces of `n` rows each; `columns` becomes the number of their columns.
std::vector<Matrix> matrices_of(const std::vector<Piece>& pieces, std::int64_t n, std::int64_t& columns) {
  std::vector<Matrix> found;
  columns = 0;
  for (const Piece& x : pieces) {
    require(static_cast<std::int64_t>(x.shape(0)) == n,
            "a piece has " + std::to_string(x.shape(0)) + " rows, but " + std::to_string(n) + " are needed");
    const auto p = static_cast<std::int64_t>(x.shape(1));
    found.push_back({{x.data(), type_of(x.dtype())}, n, p, x.stride(0), x.stride(1)});
    columns += p;
  }
  return found;
}

using Arrays = std::tuple<Whole, Whole, Whole, In<std::int32_t, 1>, Real, Whole>;

View view(const Arrays& arrays) {
  const auto& [levels, offsets, keys, classes, weight, rows] = arrays;
  const auto p = static_cast<std::int64_t>(levels.size()), n = static_cast<std::int64_t>(keys.size());
  require(static_cast<std::int64_t>(offsets.size()) == p + 1, "offsets has one entry more than there are columns");
  require(static_cast<std::int64_t>(classes.size()) == n && static_cast<std::int64_t>(weight.size()) == n &&
              static_cast<std::int64_t>(rows.size()) == n,
          "keys, classes, weight and rows have one entry per cell each");
  cells::check_indptr(offsets.data(), p, n, "histogram");
  for (std::int64_t j = 0; j < p; ++j)
    require(levels.data()[j] >= 0 && levels.data()[j] < 64, "a level lies outside 0 .. 63");
  return {p, n, levels.data(), offsets.data(), keys.data(), classes.data(), weight.data(), rows.data()};
}

template <class T>
New<T> give(Buffer<T>& buffer, std::int64_t size) {
  T* memory = buffer.release();
  nb::capsule owner(memory, [](void* p) noexcept { std::free(p); });
  return New<T>(memory, {static_cast<std::size_t>(size)}, owner);
}

using NewArrays = std::tuple<New<std::int64_t>, New<std::int64_t>, New<std::int64_t>, New<std::int32_t>, New<double>,
                             New<std::int64_t>>;

NewArrays give(const std::vector<Column>& columns) {
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
  for (const Column& column : columns)
    for (const Cell& cell : column.cells) {
      keys[i] = cell.key;
      classes[i] = cell.label;
      weight[i] = cell.weight;
      rows[i++] = cell.rows;
    }
  return {give(levels, p), give(offsets, p + 1), give(keys, n), give(classes, n), give(weight, n), give(rows, n)};
}

NewArrays py_count(const std::vector<Piece>& pieces, const In<std::int32_t, 1>& label,
                   const std::optional<Real>& weight, std::int64_t n_classes, std::int64_t cap,
                   const std::optional<Whole>& at_least, int n_jobs) {
  const auto n = static_cast<std::int64_t>(label.size());
  std::int64_t columns = 0;
  const auto matrices = matrices_of(pieces, n, columns);
  require(!weight || static_cast<std::int64_t>(weight->size()) == n, "weight and label differ in length");
  require(cap >= 2 && cap < (std::int64_t{1} << 30), "cap must lie in 2 .. 2^30 - 1");
  require(n_classes >= 0 && n_classes < (std::int64_t{1} << 31), "n_classes must lie in [0, 2^31)");
  require(!at_least || static_cast<std::int64_t>(at_least->size()) == columns, "at_least has one level per column");
  for (std::int64_t j = 0; at_least && j < columns; ++j)
    require(at_least->data()[j] >= 0 && at_least->data()[j] < 64, "a level lies outside 0 .. 63");
  std::vector<Column> counted;
  {
    nb::gil_scoped_release release;
    counted = count_histogram(matrices, {label.data(), weight ? weight->data() : nullptr, n, n_classes}, cap,
                              at_least ? at_least->data() : nullptr, n_jobs);
  }
  return give(counted);
}

NewArrays py_merge(const Arrays& a, const Arrays& b, int sign, std::int64_t cap) {
  const View x = view(a), y = view(b);
  require(x.n_columns == y.n_columns, "the histograms have " + std::to_string(x.n_columns) + " and " +
                                          std::to_string(y.n_columns) + " columns; bring them to the same first");
  require(sign == 1 || sign == -1, "sign is neither 1 (add) nor -1 (subtract)");
  require(cap >= 2, "cap must be 2 or more");
  std::vector<Column> sum(x.n_columns);
  {
    nb::gil_scoped_release release;
    for (std::int64_t j = 0; j < x.n_columns; ++j) sum[j] = merge(x.column(j), y.column(j), sign, cap);
  }
  return give(sum);
}

View view_of_classes(const Arrays& arrays, std::int64_t n_classes) {
  const View columns = view(arrays);
  for (std::int64_t i = 0; i < columns.n_cells; ++i)
    require(columns.classes[i] >= 0 && columns.classes[i] < n_classes, "a class lies outside 0 .. n_classes - 1");
  return columns;
}

std::tuple<New<std::int64_t>, New<std::int64_t>> py_cut(const Arrays& arrays, std::int64_t n_classes, int n_jobs) {
  const View columns = view_of_classes(arrays, n_classes);
  std::vector<std::vector<std::int64_t>> cuts;
  {
    nb::gil_scoped_release release;
    cuts = cut_columns(columns, n_classes, n_jobs);
  }
  const auto p = static_cast<std::int64_t>(cuts.size());
  Buffer<std::int64_t> offsets(p + 1);
  offsets[0] = 0;
  for (std::int64_t j = 0; j < p; ++j) offsets[j + 1] = offsets[j] + static_cast<std::int64_t>(cuts[j].size());
  const std::int64_t n = offsets[p];
  Buffer<std::int64_t> starts(n);
  for (std::int64_t j = 0; j < p; ++j) std::copy(cuts[j].begin(), cuts[j].end(), starts.get() + offsets[j]);
  return {give(starts, n), give(offsets, p + 1)};
}

New<std::int64_t> py_find_bins(const Real& values, const Whole& ends, const Real& cuts, const Whole& offsets,
                               int n_jobs) {
  const auto n = static_cast<std::int64_t>(values.size()), p = static_cast<std::int64_t>(ends.size()) - 1;
  require(p >= 0 && offsets.size() == ends.size(), "ends and offsets have one entry more than there are columns");
  cells::check_indptr(ends.data(), p, n, "values");
  cells::check_indptr(offsets.data(), p, static_cast<std::int64_t>(cuts.size()), "cuts");
  Buffer<std::int64_t> found(n);
  {
    nb::gil_scoped_release release;
    find_bins(values.data(), ends.data(), p, cuts.data(), offsets.data(), found.get(), n_jobs);
  }
  return give(found, n);
}

std::tuple<New<double>, New<std::int64_t>> py_bin_cells(const Arrays& arrays, std::int64_t n_classes, const Real& cuts,
                                                        const Whole& offsets) {
  const View columns = view_of_classes(arrays, n_classes);
  require(static_cast<std::int64_t>(offsets.size()) == columns.n_columns + 1,
          "offsets has one entry more than there are columns");
  cells::check_indptr(offsets.data(), columns.n_columns, static_cast<std::int64_t>(cuts.size()), "cuts");
  const std::int64_t n = (static_cast<std::int64_t>(cuts.size()) + columns.n_columns) * n_classes;
  Buffer<double> weight(n);
  Buffer<std::int64_t> rows(n);
  {
    nb::gil_scoped_release release;
    bin_cells(columns, cuts.data(), offsets.data(), n_classes, weight.get(), rows.get());
  }
  return {give(weight, n), give(rows, n)};
}

void py_score(const std::vector<Piece>& pieces, const Real& cuts, const Whole& offsets, const In<double, 2>& table,
              const Out& out, int n_jobs) {
  std::int64_t p = 0;
  const auto matrices = matrices_of(pieces, static_cast<std::int64_t>(out.shape(0)), p);
  require(static_cast<std::int64_t>(offsets.size()) == p + 1, "offsets has one entry more than x has columns");
  cells::check_indptr(offsets.data(), p, static_cast<std::int64_t>(cuts.size()), "cuts");
  require(static_cast<std::int64_t>(table.shape(0)) == static_cast<std::int64_t>(cuts.size()) + p,
          "table has one line for each bin: one more than cuts in each column");
  require(table.shape(1) == out.shape(1), "table and out differ in their number of classes");
  nb::gil_scoped_release release;
  score_bins(matrices, cuts.data(), offsets.data(), table.data(), static_cast<std::int64_t>(table.shape(1)), out.data(),
             n_jobs);
}

}  // namespace
}  // namespace naively::histogram

void bind_histogram(nb::module_& m) {
  using namespace naively::histogram;
  using namespace nb::literals;
  m.def("count_histogram", py_count, "pieces"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "cap"_a,
        "at_least"_a.none(), "n_jobs"_a);
  m.def("merge_histograms", py_merge, "a"_a, "b"_a, "sign"_a, "cap"_a);
  m.def("cut_histogram", py_cut, "a"_a, "n_classes"_a, "n_jobs"_a);
  m.def("find_bins", py_find_bins, "values"_a, "ends"_a, "cuts"_a, "offsets"_a, "n_jobs"_a);
  m.def("bin_cells", py_bin_cells, "a"_a, "n_classes"_a, "cuts"_a, "offsets"_a);
  m.def("score_bins", py_score, "pieces"_a, "cuts"_a, "offsets"_a, "table"_a, "out"_a.noconvert(), "n_jobs"_a);
}
