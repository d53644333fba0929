// The dense numeric kernels as Python functions: checks shapes, releases the interpreter, calls the core.
#include "moments/moments.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bindings/module.hpp"
#include "moments/gaussian.hpp"
#include "posterior/normalise.hpp"

namespace nb = nanobind;
using namespace naively::dense;

namespace {

using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Out = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* text) {
  if (!holds) throw std::invalid_argument(text);
}

Table table(const AnyTable& x) {
  const bool single = x.dtype() == nb::dtype<float>();
  require(single || x.dtype() == nb::dtype<double>(), "x is neither float64 nor float32; convert it with astype");
  require(reinterpret_cast<std::uintptr_t>(x.data()) % (single ? 4 : 8) == 0,
          "x is not aligned in memory; copy it first");
  return {x.data(),
          static_cast<std::ptrdiff_t>(x.shape(0)),
          static_cast<std::ptrdiff_t>(x.shape(1)),
          x.stride(0),
          x.stride(1),
          single};
}

template <class Rows, class State>
auto cells(const Rows& rows, const State& state) {
  require(state.shape(0) == 9 && state.shape(1) == rows.shape(0) && state.shape(2) == rows.shape(1),
          "state does not belong to rows: for rows (classes, columns) it is (9, classes, columns)");
  return PackedCells<std::remove_pointer_t<decltype(state.data())>, std::remove_pointer_t<decltype(rows.data())>>{
      rows.data(), state.data(), static_cast<std::ptrdiff_t>(rows.shape(0)),
      static_cast<std::ptrdiff_t>(rows.shape(1))};
}

using InRows = In<std::int64_t, 2>;
using InState = In<double, 3>;
using OutRows = Out<std::int64_t, 2>;
using OutState = Out<double, 3>;

void count(const AnyTable& x, const In<std::int32_t, 1>& label, const std::optional<In<double, 1>>& weight,
           const OutRows& rows, const OutState& state, const Out<double, 1>& largest, int n_jobs) {
  const Table values = table(x);
  const auto out = cells(rows, state);
  require(label.shape(0) == x.shape(0), "label and x differ in length; give one label per row");
  require(!weight || weight->shape(0) == x.shape(0), "weight and x differ in length; give one weight per row");
  require(rows.shape(1) == x.shape(1) && largest.shape(0) == x.shape(1), "rows and largest need x's columns");
  nb::gil_scoped_release release;
  count_moments(values, label.data(), weight ? weight->data() : nullptr, out, largest.data(), n_jobs);
}

void add(const InRows& rows_a, const InState& state_a, const InRows& rows_b, const InState& state_b, int sign,
         const OutRows& rows, const OutState& state) {
  const auto a = cells(rows_a, state_a), b = cells(rows_b, state_b);
  const auto out = cells(rows, state);
  require(a.classes == b.classes && a.columns == b.columns && a.classes == out.classes && a.columns == out.columns,
          "the moments differ in shape; bring them to the same classes and columns first");
  require(sign == 1 || sign == -1, "sign is neither 1 (add) nor -1 (subtract)");
  nb::gil_scoped_release release;
  add_moments(a, b, sign, out);
}

void pool(const InRows& rows, const InState& state, const OutRows& rows_out, const OutState& state_out) {
  const auto in = cells(rows, state);
  const auto out = cells(rows_out, state_out);
  require(out.classes == 1 && out.columns == in.columns, "the pooled moments have one class and the same columns");
  nb::gil_scoped_release release;
  pool_moments(in, out);
}

void describe(const InRows& rows, const InState& state, const Out<double, 2>& mean, const Out<double, 2>& squares) {
  const auto in = cells(rows, state);
  require(mean.size() == rows.size() && squares.size() == rows.size(), "mean and squares have the shape of rows");
  nb::gil_scoped_release release;
  describe_moments(in, mean.data(), squares.data());
}

std::tuple<std::ptrdiff_t, bool> score(const AnyTable& x, const In<double, 2>& mean, const In<double, 2>& variance,
                                       const Out<double, 2>& out, int n_jobs) {
  const Table values = table(x);
  const std::size_t classes = mean.shape(0), columns = mean.shape(1);
  require(columns == x.shape(1), "mean has other columns than x");
  require(variance.shape(0) == classes && variance.shape(1) == columns, "variance has another shape than mean");
  require(out.shape(0) == x.shape(0) && out.shape(1) == classes, "out is not (rows of x, classes of mean)");
  for (std::size_t i = 0; i < classes * columns; ++i)
    require(variance.data()[i] > 0 && std::isfinite(variance.data()[i]) && std::isfinite(mean.data()[i]),
            "a variance is not positive and finite, or a mean not finite; smooth the estimate first");
  nb::gil_scoped_release release;
  const Oddities odd =
      score_gaussian(values, mean.data(), variance.data(), static_cast<std::ptrdiff_t>(classes), out.data(), n_jobs);
  return {odd.infinite, odd.missing};
}

std::ptrdiff_t to_posterior(const Out<double, 2>& log_joint, const In<double, 1>& log_prior, int kind, int n_jobs) {
  require(log_prior.shape(0) == log_joint.shape(1), "log_prior and log_joint differ in their number of classes");
  require(kind == 0 || kind == 1, "kind is neither 0 (log posterior) nor 1 (posterior)");
  nb::gil_scoped_release release;
  return normalise(log_joint.data(), log_joint.shape(0), log_joint.shape(1), log_prior.data(),
                   static_cast<Posterior>(kind), n_jobs);
}

std::ptrdiff_t to_class(const In<double, 2>& log_joint, const In<double, 1>& log_prior, const Out<std::int32_t, 1>& out,
                        int n_jobs) {
  require(log_prior.shape(0) == log_joint.shape(1), "log_prior and log_joint differ in their number of classes");
  require(log_prior.shape(0) > 0, "there is no class to choose");
  require(out.shape(0) == log_joint.shape(0), "out and log_joint differ in their number of rows");
  nb::gil_scoped_release release;
  return best_class(log_joint.data(), log_joint.shape(0), log_joint.shape(1), log_prior.data(), out.data(), n_jobs);
}

}  // namespace

void bind_moments(nb::module_& m) {
  m.def("count_moments", &count, nb::arg("x"), nb::arg("label").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("rows").noconvert(), nb::arg("state").noconvert(), nb::arg("largest").noconvert(), nb::arg("n_jobs"));
  m.def("add_moments", &add, nb::arg("rows_a").noconvert(), nb::arg("state_a").noconvert(),
        nb::arg("rows_b").noconvert(), nb::arg("state_b").noconvert(), nb::arg("sign"), nb::arg("rows").noconvert(),
        nb::arg("state").noconvert());
  m.def("pool_moments", &pool, nb::arg("rows").noconvert(), nb::arg("state").noconvert(),
        nb::arg("pooled_rows").noconvert(), nb::arg("pooled_state").noconvert());
  m.def("describe_moments", &describe, nb::arg("rows").noconvert(), nb::arg("state").noconvert(),
        nb::arg("mean").noconvert(), nb::arg("squares").noconvert());
  m.def("score_gaussian", &score, nb::arg("x"), nb::arg("mean").noconvert(), nb::arg("variance").noconvert(),
        nb::arg("out").noconvert(), nb::arg("n_jobs"));
  m.def("normalise", &to_posterior, nb::arg("log_joint").noconvert(), nb::arg("log_prior").noconvert(), nb::arg("kind"),
        nb::arg("n_jobs"));
  m.def("best_class", &to_class, nb::arg("log_joint").noconvert(), nb::arg("log_prior").noconvert(),
        nb::arg("out").noconvert(), nb::arg("n_jobs"));
}
