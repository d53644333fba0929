#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "posterior/log_loss.hpp"
#include "posterior/two_class_solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace naively::cells;

namespace {

template <int N>
using Into = nb::ndarray<double, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

double py_log_loss(In<double, 2> base, In<double, 3> evidence, In<std::int64_t, 1> label, In<double, 1> row_weight,
                   In<double, 1> offset, In<double, 1> weight, Into<1> of_offset, Into<1> of_weight,
                   Into<2> posterior) {
  const std::size_t n = base.shape(0), n_classes = base.shape(1), n_features = evidence.shape(0);
  require(evidence.shape(1) == n && evidence.shape(2) == n_classes, "evidence is not (feature, row, class)");
  require(posterior.shape(0) == n && posterior.shape(1) == n_classes, "posterior is not (row, class)");
  require(label.size() == n && row_weight.size() == n, "label and row_weight have not one number for each row");
  require(offset.size() == n_classes && of_offset.size() == n_classes,
          "offset and of_offset have not one number for each class");
  require(weight.size() == n_features && of_weight.size() == n_features,
          "weight and of_weight have not one number for each feature");
  for (std::size_t i = 0; i < n; ++i)
    require(label(i) >= 0 && label(i) < static_cast<std::int64_t>(n_classes), "a label is no class");
  nb::gil_scoped_release no_gil;
  return log_loss(
      {static_cast<std::int64_t>(n), static_cast<std::int64_t>(n_classes), static_cast<std::int64_t>(n_features),
       base.data(), evidence.data(), label.data(), row_weight.data(), offset.data(), weight.data()},
      of_offset.data(), of_weight.data(), posterior.data());
}

double py_minimise_pair(In<double, 2> base, In<double, 3> evidence, In<std::int64_t, 1> label, In<double, 1> row_weight,
                        In<double, 1> centre, In<double, 1> strength, double top, double close, int steps, Into<1> x) {
  const std::size_t n = base.shape(0), n_features = evidence.shape(0);
  require(base.shape(1) == 2, "there are not two classes");
  require(evidence.shape(1) == n && evidence.shape(2) == 2, "evidence is not (feature, row, class)");
  require(label.size() == n && row_weight.size() == n, "label and row_weight have not one number for each row");
  require(centre.size() == n_features + 1 && strength.size() == centre.size() && x.size() == centre.size(),
          "centre, strength and x have not one number for the offset and for each feature");
  for (std::size_t i = 0; i < n; ++i) require(label(i) == 0 || label(i) == 1, "a label is no class");
  nb::gil_scoped_release no_gil;
  Pair pair(static_cast<std::int64_t>(n), static_cast<std::int64_t>(n_features), base.data(), evidence.data(),
            label.data(), row_weight.data());
  std::vector<double> at(x.data(), x.data() + x.size());
  const double value = pair.minimise({centre.data(), strength.data(), top}, close, steps, at);
  std::copy(at.begin(), at.end(), x.data());
  return value;
}

}  // namespace

void bind_log_loss(nb::module_& m) {
  m.def("minimise_pair", py_minimise_pair, "base"_a, "evidence"_a, "label"_a, "row_weight"_a, "centre"_a, "strength"_a,
        "top"_a, "close"_a, "steps"_a, "x"_a.noconvert(),
        nb::sig("def minimise_pair(base: NDArray[numpy.float64], evidence: NDArray[numpy.float64], label: "
                "NDArray[numpy.int64], "
                "row_weight: NDArray[numpy.float64], centre: NDArray[numpy.float64], strength: NDArray[numpy.float64], "
                "top: float, close: float, steps: int, x: NDArray[numpy.float64]) -> float"));
  m.def("log_loss", py_log_loss, "base"_a, "evidence"_a, "label"_a, "row_weight"_a, "offset"_a, "weight"_a,
        "of_offset"_a.noconvert(), "of_weight"_a.noconvert(), "posterior"_a.noconvert(),
        nb::sig(
            "def log_loss(base: NDArray[numpy.float64], evidence: NDArray[numpy.float64], label: NDArray[numpy.int64], "
            "row_weight: NDArray[numpy.float64], offset: NDArray[numpy.float64], weight: NDArray[numpy.float64], "
            "of_offset: NDArray[numpy.float64], of_weight: NDArray[numpy.float64], posterior: NDArray[numpy.float64]) "
            "-> float"));
}
