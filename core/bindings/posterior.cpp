// Posteriors, classes, the log-loss of calibrated scores and its minimum for two classes.
#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "posterior/log_loss.hpp"
#include "posterior/normalise.hpp"
#include "posterior/two_class_solver.hpp"

namespace naively::bindings {
namespace {

using namespace posterior;

std::int64_t py_normalise(const OutTable& log_joint, const Floats& log_prior, int kind, int n_threads) {
  const std::int64_t rows = size_of(log_joint), classes = size_of(log_joint, 1);
  checked(log_prior, "log_prior", {classes});
  require(kind == 0 || kind == 1, "kind must be 0 (log posterior) or 1 (posterior)");
  return without_gil([&] {
    return normalise(log_joint.data(), rows, classes, log_prior.data(), static_cast<PosteriorKind>(kind), n_threads);
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

// Scores (row, class), evidence (feature, row, class), the class and the weight of each row.
using CalibrationRows = std::tuple<Table, In<double, 3>, Ints, Floats>;

ScoredRows scored_rows(const CalibrationRows& rows) {
  const auto& [base, evidence, label, row_weight] = rows;
  const std::int64_t n = size_of(base), n_classes = size_of(base, 1), n_features = size_of(evidence);
  checked(label, "label", {n});
  for (std::int64_t i = 0; i < n; ++i) require(label(i) >= 0 && label(i) < n_classes, "a label is not a class");
  return {n,
          n_classes,
          n_features,
          base.data(),
          checked(evidence, "evidence", {n_features, n, n_classes}),
          label.data(),
          checked(row_weight, "row_weight", {n}),
          nullptr,
          nullptr};
}

std::tuple<double, New<double, 1>, New<double, 1>, New<double, 2>> py_log_loss(const CalibrationRows& rows,
                                                                               const Floats& offset,
                                                                               const Floats& weight) {
  ScoredRows scored = scored_rows(rows);
  scored.offset = checked(offset, "offset", {scored.n_classes});
  scored.weight = checked(weight, "weight", {scored.n_features});
  const auto n = static_cast<std::size_t>(scored.n_rows), n_classes = static_cast<std::size_t>(scored.n_classes);
  std::vector<double> offset_slope(n_classes), weight_slope(weight.size()), posterior(n * n_classes);
  const double loss =
      without_gil([&] { return log_loss(scored, offset_slope.data(), weight_slope.data(), posterior.data()); });
  return {loss, to_numpy(std::move(offset_slope), scored.n_classes),
          to_numpy(std::move(weight_slope), scored.n_features), to_numpy<2>(std::move(posterior), {n, n_classes})};
}

std::tuple<New<double, 1>, double> py_minimise_two_classes(const CalibrationRows& rows, const Floats& centre,
                                                           const Floats& strength, const Floats& start,
                                                           double max_weight, double tolerance, int max_steps) {
  const ScoredRows scored = scored_rows(rows);
  require(scored.n_classes == 2, "there are not two classes");
  const std::int64_t size = scored.n_features + 1;
  const TwoClassSolver::Penalty penalty{checked(centre, "centre", {size}), checked(strength, "strength", {size}),
                                        max_weight};
  checked(start, "start", {size});
  std::vector<double> x(start.data(), start.data() + size);
  const double value = without_gil([&] {
    TwoClassSolver solver(scored.n_rows, scored.n_features, scored.base, scored.evidence, scored.label,
                          scored.row_weight);
    return solver.minimise(penalty, tolerance, max_steps, x);
  });
  return {to_numpy(std::move(x), size), value};
}

}  // namespace

void bind_posterior(nb::module_& m) {
  m.def("normalise", py_normalise, "log_joint"_a.noconvert(), "log_prior"_a, "kind"_a, "n_threads"_a);
  m.def("best_class", py_best_class, "log_joint"_a, "log_prior"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("log_loss", py_log_loss, "rows"_a, "offset"_a, "weight"_a);
  m.def("minimise_two_classes", py_minimise_two_classes, "rows"_a, "centre"_a, "strength"_a, "start"_a, "max_weight"_a,
        "tolerance"_a, "max_steps"_a);
}

}  // namespace naively::bindings
