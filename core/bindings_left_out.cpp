#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "left_out.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace naively::cells;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// Offsets that rise from 0 to the length of what they cut.
void check_offsets(const Vector<std::int64_t>& offsets, std::size_t n, std::size_t size, const char* what) {
  check(offsets.size() == n + 1 && offsets(0) == 0 && offsets(n) == static_cast<std::int64_t>(size), what);
  for (std::size_t i = 0; i < n; ++i) check(offsets(i) <= offsets(i + 1), what);
}

nb::object leave_tokens_out(Vector<std::int64_t> indptr, Vector<std::int32_t> index, Vector<double> count,
                            std::optional<Vector<std::int64_t>> times, Vector<std::int32_t> label, Vector<double> weight,
                            Vector<std::int64_t> rows, Vector<std::int64_t> start, Vector<std::int32_t> owner,
                            Vector<double> sum, Vector<std::int64_t> cell_rows, Vector<double> alpha, Vector<bool> known,
                            Vector<bool> fades, bool shrinks, bool complement, Scores out, int n_jobs) {
  const std::size_t n = label.size(), n_tokens = alpha.size(), n_classes = out.shape(1);
  check(weight.size() == n && rows.size() == n && out.shape(0) == n, "label, weight, rows and out have unequal lengths");
  check_offsets(indptr, n, index.size(), "indptr does not cut the entries into rows");
  check(count.size() == index.size() && (!times || times->size() == index.size()), "index and count have unequal lengths");
  check(known.size() == n_tokens && fades.size() == n_tokens, "alpha, known and fades have unequal lengths");
  check_offsets(start, n_tokens, owner.size(), "start does not cut the cells into tokens");
  check(sum.size() == owner.size() && cell_rows.size() == owner.size(), "the cells have unequal lengths");
  const auto within = [&](std::int32_t c) { return c >= 0 && static_cast<std::size_t>(c) < n_classes; };
  for (std::size_t i = 0; i < n; ++i) check(within(label(i)), "a label is no class");
  for (std::size_t j = 0; j < owner.size(); ++j) check(within(owner(j)), "the class of a cell is no class");
  const LeavingRows leaving{static_cast<std::int64_t>(n), indptr.data(), index.data(),  count.data(),
                            times ? times->data() : nullptr, label.data(), weight.data(), rows.data()};
  const TokenCells cells{static_cast<std::int64_t>(n_tokens), static_cast<std::int64_t>(n_classes), start.data(),
                         owner.data(), sum.data(), cell_rows.data(), alpha.data(), known.data(), fades.data(), shrinks};
  NotCounted bad;
  {
    nb::gil_scoped_release no_gil;
    bad = leave_out(leaving, cells, complement, out.data(), n_jobs);
  }
  if (bad.row < 0) return nb::none();
  return nb::make_tuple(bad.row, bad.token, bad.rows, bad.sum);
}

}  // namespace

void bind_left_out(nb::module_& m) {
  m.def("leave_tokens_out", leave_tokens_out, "indptr"_a, "index"_a, "count"_a, "times"_a.none(), "label"_a, "weight"_a,
        "rows"_a, "start"_a, "owner"_a, "sum"_a, "cell_rows"_a, "alpha"_a, "known"_a, "fades"_a, "shrinks"_a,
        "complement"_a, "out"_a.noconvert(), "n_jobs"_a,
        nb::sig("def leave_tokens_out(indptr: NDArray[numpy.int64], index: NDArray[numpy.int32], count: "
                "NDArray[numpy.float64], times: NDArray[numpy.int64] | None, label: NDArray[numpy.int32], weight: "
                "NDArray[numpy.float64], rows: NDArray[numpy.int64], start: NDArray[numpy.int64], owner: "
                "NDArray[numpy.int32], sum: NDArray[numpy.float64], cell_rows: NDArray[numpy.int64], alpha: "
                "NDArray[numpy.float64], known: NDArray[numpy.bool_], fades: NDArray[numpy.bool_], shrinks: bool, "
                "complement: bool, out: NDArray[numpy.float64], n_jobs: int) -> tuple[int, int, int, float] | None"));
}
