// Hashes of rows' content, a column at a time; the equation is in src/naively/sources/content_hash.py.
#include <nanobind/ndarray.h>

#include <bit>
#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

namespace nb = nanobind;
using naively::cells::require;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
using Totals = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The finaliser of SplitMix64.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

template <class T>
void add_number_hashes(const In<T>& values, std::uint64_t salt, std::uint64_t missing, const Totals& total) {
  require(values.size() == total.size(), "values and total have unequal lengths");
  nb::gil_scoped_release no_gil;
  const T* const from = values.data();
  std::uint64_t* const to = total.data();
  const auto n = static_cast<std::int64_t>(total.size());
  const std::int64_t stride = n ? values.stride(0) : 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(from[i * stride]) + 0.0;  // −0.0 + 0.0 is 0.0
    to[i] += mix((x == x ? std::bit_cast<std::uint64_t>(x) : missing) + salt);
  }
}

void add_code_hashes(const In<std::int32_t>& codes, const In<std::uint64_t>& table, const Totals& total) {
  require(codes.size() == total.size(), "codes and total have unequal lengths");
  require(table.size() > 0 && table.stride(0) == 1, "table is empty, or not in one piece");
  nb::gil_scoped_release no_gil;
  const std::int32_t* const from = codes.data();
  const std::uint64_t* const known = table.data();
  std::uint64_t* const to = total.data();
  const auto n = static_cast<std::int64_t>(total.size()), last = static_cast<std::int64_t>(table.size()) - 1;
  const std::int64_t stride = n ? codes.stride(0) : 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t code = from[i * stride];
    require(code >= -1 && code < last, "a code has no value");
    to[i] += known[code < 0 ? last : code];
  }
}

}  // namespace

void bind_hashes(nb::module_& m) {
  using namespace nb::literals;
  const auto numbers = [&]<class T>(const char* signature, T) {
    m.def("add_number_hashes", add_number_hashes<T>, "values"_a.noconvert(), "salt"_a, "missing"_a,
          "total"_a.noconvert(), nb::sig(signature));
  };
  numbers(
      "def add_number_hashes(values: NDArray[numpy.float64], salt: int, missing: int, total: NDArray[numpy.uint64]) -> "
      "None",
      double{});
  numbers(
      "def add_number_hashes(values: NDArray[numpy.int64], salt: int, missing: int, total: NDArray[numpy.uint64]) -> "
      "None",
      std::int64_t{});
  m.def("add_code_hashes", add_code_hashes, "codes"_a, "table"_a, "total"_a.noconvert(),
        nb::sig("def add_code_hashes(codes: NDArray[numpy.int32], table: NDArray[numpy.uint64], total: "
                "NDArray[numpy.uint64]) -> None"));
}
