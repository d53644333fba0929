// Moments of dense columns and Gaussian scores.
#include "moments/moments.hpp"

#include <cmath>

#include "bindings/arrays.hpp"

namespace naively::bindings {
namespace {

using namespace moments;

using InMoments = std::tuple<In<std::int64_t, 2>, In<double, 3>>;
using NewMoments = std::tuple<New<std::int64_t, 2>, New<double, 3>>;

ConstMomentCells view(const InMoments& arrays) {
  const auto& [rows, state] = arrays;
  const std::int64_t classes = size_of(rows), columns = size_of(rows, 1);
  return {rows.data(), checked(state, "state", {kStateSize, classes, columns}), classes, columns};
}

// Rows and state of cells that are to be filled.
struct MomentArrays {
  std::int64_t classes, columns;
  std::vector<std::int64_t> rows = std::vector<std::int64_t>(classes * columns);
  std::vector<double> state = std::vector<double>(kStateSize * classes * columns);

  MomentCells cells() { return {rows.data(), state.data(), classes, columns}; }
  NewMoments to_numpy() {
    const auto c = static_cast<std::size_t>(classes), p = static_cast<std::size_t>(columns);
    return {bindings::to_numpy<2>(std::move(rows), {c, p}),
            bindings::to_numpy<3>(std::move(state), {kStateSize, c, p})};
  }
};

std::tuple<NewMoments, New<double, 1>> py_count_moments(const Numbers<2>& x, const LabelArray& label,
                                                        const Weight& weight, std::int64_t n_classes, int n_threads) {
  const support::FloatTable table = float_table(x);
  const support::Labels labels = labels_of(label, weight, table.rows, n_classes);
  MomentArrays out{n_classes, table.columns};
  std::vector<double> largest(static_cast<std::size_t>(table.columns));
  without_gil([&] { count_moments(table, labels.label, labels.weight, out.cells(), largest.data(), n_threads); });
  return {out.to_numpy(), to_numpy(std::move(largest), table.columns)};
}

NewMoments py_add_moments(const InMoments& a, const InMoments& b, int sign) {
  const ConstMomentCells x = view(a), y = view(b);
  require(x.classes == y.classes && x.columns == y.columns,
          "the moments differ in shape; bring them to the same classes and columns first");
  require_sign(sign);
  MomentArrays out{x.classes, x.columns};
  without_gil([&] { add_moments(x, y, sign, out.cells()); });
  return out.to_numpy();
}

NewMoments py_pool_moments(const InMoments& moments) {
  const ConstMomentCells x = view(moments);
  MomentArrays out{1, x.columns};
  without_gil([&] { pool_moments(x, out.cells()); });
  return out.to_numpy();
}

std::tuple<New<double, 2>, New<double, 2>> py_describe_moments(const InMoments& moments) {
  const ConstMomentCells x = view(moments);
  std::vector<double> mean(x.size()), squares(x.size());
  without_gil([&] { describe_moments(x, mean.data(), squares.data()); });
  return {to_numpy(std::move(mean), x.classes, x.columns), to_numpy(std::move(squares), x.classes, x.columns)};
}

// Pieces of columns with the mean and the variance of each column, (class, column).
struct GaussianColumns {
  std::vector<support::FloatTable> tables;
  std::int64_t classes, columns;
  const double *mean, *variance;

  GaussianColumns(const Pieces& pieces, const Table& means, const Table& variances)
      : classes(size_of(means)), columns(size_of(means, 1)) {
    std::int64_t n_columns = 0;
    for (const Numbers<2>& piece : pieces) {
      tables.push_back(float_table(piece));
      n_columns += tables.back().columns;
    }
    mean = checked(means, "mean", {classes, n_columns});
    variance = checked(variances, "variance", {classes, n_columns});
    for (std::size_t i = 0; i < means.size(); ++i)
      require(variance[i] > 0 && std::isfinite(variance[i]) && std::isfinite(mean[i]),
              "a variance is not positive and finite, or a mean not finite; smooth the estimate first");
  }

  GaussianTable from(std::int64_t column) const { return {mean + column, variance + column, classes, columns}; }
};

// Adds the columns piece by piece: how they are cut does not change a bit if each column is a piece of its own.
std::tuple<std::int64_t, bool> py_score_gaussian(const Pieces& pieces, const Table& mean, const Table& variance,
                                                 const OutTable& out, int n_threads) {
  const GaussianColumns gaussian(pieces, mean, variance);
  for (const support::FloatTable& table : gaussian.tables) checked(out, "out", {table.rows, gaussian.classes});
  return without_gil([&]() -> std::tuple<std::int64_t, bool> {
    bool missing = false;
    std::int64_t start = 0;
    for (const support::FloatTable& table : gaussian.tables) {
      const IrregularValues irregular = score_gaussian(table, gaussian.from(start), out.data(), n_threads);
      if (irregular.infinite >= 0) return {start + irregular.infinite, missing};
      missing |= irregular.missing;
      start += table.columns;
    }
    return {-1, missing};
  });
}

// The same for each column alone: out is (column, row, class). Returns the first column with an infinity, or -1.
std::int64_t py_score_gaussian_columns(const Pieces& pieces, const Table& mean, const Table& variance,
                                       const Out<double, 3>& out, int n_threads) {
  const GaussianColumns gaussian(pieces, mean, variance);
  for (const support::FloatTable& table : gaussian.tables)
    checked(out, "out", {gaussian.columns, table.rows, gaussian.classes});
  return without_gil([&]() -> std::int64_t {
    std::int64_t column = 0;
    for (const support::FloatTable& table : gaussian.tables)
      for (std::int64_t j = 0; j < table.columns; ++j, ++column) {
        double* const scores = out.data() + column * table.rows * gaussian.classes;
        if (score_gaussian(table.column(j), gaussian.from(column), scores, n_threads).infinite >= 0) return column;
      }
    return -1;
  });
}

}  // namespace

void bind_moments(nb::module_& m) {
  m.def("count_moments", py_count_moments, "x"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
  m.def("add_moments", py_add_moments, "a"_a, "b"_a, "sign"_a);
  m.def("pool_moments", py_pool_moments, "moments"_a);
  m.def("describe_moments", py_describe_moments, "moments"_a);
  m.def("score_gaussian", py_score_gaussian, "pieces"_a, "mean"_a, "variance"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("score_gaussian_columns", py_score_gaussian_columns, "pieces"_a, "mean"_a, "variance"_a, "out"_a.noconvert(),
        "n_threads"_a);
}

}  // namespace naively::bindings
