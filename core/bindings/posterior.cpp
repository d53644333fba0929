// Posteriors, classes, and the calibration of two classes.
#include "bindings/arrays.hpp"
#include "posterior/normalise.hpp"
#include "posterior/row_losses.hpp"
#include "posterior/two_class_solver.hpp"
#include "support/memory.hpp"

namespace naively::bindings {
namespace {

using namespace posterior;

std::int64_t py_normalise(const OutTable& log_joint, const Floats& log_prior, int kind, double floor, int n_threads) {
  const std::int64_t rows = size_of(log_joint), classes = size_of(log_joint, 1);
  checked(log_prior, "log_prior", {classes});
  require(kind == 0 || kind == 1, "kind must be 0 (log posterior) or 1 (posterior)");
  require(floor >= 0 && floor < 1, "floor must be a probability below 1");
  return without_gil([&] {
    const auto posterior_kind = static_cast<PosteriorKind>(kind);
    return normalise(log_joint.data(), rows, classes, log_prior.data(), posterior_kind, floor, n_threads);
  });
}

std::int64_t py_best_class(const Table& log_joint, const Floats& log_prior, const Out<std::int32_t, 1>& out,
                           int n_threads) {
  const std::int64_t rows = size_of(log_joint), classes = size_of(log_joint, 1);
  checked(log_prior, "log_prior", {classes});
  require(classes > 0, "there is no class to choose");
  checked(out, "out", {rows});
  return without_gil(
      [&] { return best_class(log_joint.data(), rows, classes, log_prior.data(), out.data(), n_threads); });
}

// Scores (row, class), evidence (feature, row, class) and targets (row, class).
using CalibrationRows = std::tuple<Table, In<double, 3>, Table>;

std::tuple<New<double, 2>, New<double, 1>> py_minimise_two_classes(const CalibrationRows& rows, const Table& row_weight,
                                                                   const Table& centre, const Table& strength,
                                                                   const Table& start, double max_weight,
                                                                   double tolerance, int max_steps) {
  const Table& base = std::get<0>(rows);  // Clang before 16 captures no structured binding
  const In<double, 3>& evidence = std::get<1>(rows);
  const Table& target = std::get<2>(rows);
  const std::int64_t n = size_of(base), n_features = size_of(evidence), size = n_features + 1;
  const std::int64_t n_problems = size_of(row_weight);
  require(size_of(base, 1) == 2, "there are not two classes");
  checked(evidence, "evidence", {n_features, n, 2});
  checked(target, "target", {n, 2});
  checked(row_weight, "row_weight", {n_problems, n});
  checked(centre, "centre", {n_problems, size});
  checked(strength, "strength", {n_problems, size});
  checked(start, "start", {n_problems, size});
  support::Buffer<double> x(n_problems * size), value(n_problems);
  without_gil([&] {
    TwoClassSolver solver(n, n_features, base.data(), evidence.data(), target.data());
    for (std::int64_t k = 0; k < n_problems; ++k) {
      std::vector<double> point(start.data() + k * size, start.data() + (k + 1) * size);
      const TwoClassSolver::Penalty penalty{centre.data() + k * size, strength.data() + k * size, max_weight};
      value[k] = solver.minimise(row_weight.data() + k * n, penalty, tolerance, max_steps, point);
      std::copy_n(point.data(), size, x.data() + k * size);
    }
  });
  return {to_numpy(std::move(x), n_problems, size), to_numpy(std::move(value), n_problems)};
}

New<double, 2> py_row_losses(const Table& score, const Table& target, const In<double, 3>& evidence, double factor,
                             int n_threads) {
  const std::int64_t n = size_of(score), n_classes = size_of(score, 1), n_tables = size_of(evidence);
  checked(target, "target", {n, n_classes});
  checked(evidence, "evidence", {n_tables, n, n_classes});
  require(n_classes > 0, "there is no class");
  const ScoredRows rows{n, n_classes, score.data(), target.data()};
  support::Buffer<double> out(n_tables * n);
  without_gil([&] { row_losses(rows, n_tables, evidence.data(), factor, out.data(), n_threads); });
  return to_numpy(std::move(out), n_tables, n);
}

}  // namespace

void bind_posterior(nb::module_& m) {
  m.def("normalise", py_normalise, "log_joint"_a.noconvert(), "log_prior"_a, "kind"_a, "floor"_a, "n_threads"_a);
  m.def("best_class", py_best_class, "log_joint"_a, "log_prior"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("row_losses", py_row_losses, "score"_a, "target"_a, "evidence"_a, "factor"_a, "n_threads"_a);
  m.def("minimise_two_classes", py_minimise_two_classes, "rows"_a, "row_weight"_a, "centre"_a, "strength"_a, "start"_a,
        "max_weight"_a, "tolerance"_a, "max_steps"_a);
}

}  // namespace naively::bindings
