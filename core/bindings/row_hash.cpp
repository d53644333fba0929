// Hashes of the content of rows, one column at a time; the equation is in src/naively/data/row_hash.py.
#include <bit>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

namespace naively::bindings {
namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
using Totals = Out<std::uint64_t, 1>;

// The finaliser of SplitMix64.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

template <class T>
void add_number_hashes(const Column<T>& values, std::uint64_t salt, std::uint64_t missing, const Totals& total) {
  const std::int64_t n = size_of(total), stride = n ? values.stride(0) : 1;
  const T* const from = checked(values, "values", {n});
  nb::gil_scoped_release no_gil;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(from[i * stride]) + 0.0;  // −0.0 + 0.0 is 0.0
    total(i) += mix((x == x ? std::bit_cast<std::uint64_t>(x) : missing) + salt);
  }
}

void add_code_hashes(const Column<std::int32_t>& codes, const In<std::uint64_t, 1>& table, const Totals& total) {
  const std::int64_t n = size_of(total), stride = n ? codes.stride(0) : 1, last = size_of(table) - 1;
  const std::int32_t* const from = checked(codes, "codes", {n});
  require(last >= 0, "table is empty");
  nb::gil_scoped_release no_gil;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t code = from[i * stride];
    require(code >= -1 && code < last, "a code has no value");
    total(i) += table(code < 0 ? last : code);
  }
}

}  // namespace

void bind_row_hash(nb::module_& m) {
  m.def("add_number_hashes", add_number_hashes<double>, "values"_a.noconvert(), "salt"_a, "missing"_a,
        "total"_a.noconvert());
  m.def("add_number_hashes", add_number_hashes<std::int64_t>, "values"_a.noconvert(), "salt"_a, "missing"_a,
        "total"_a.noconvert());
  m.def("add_code_hashes", add_code_hashes, "codes"_a, "table"_a, "total"_a.noconvert());
}

}  // namespace naively::bindings
