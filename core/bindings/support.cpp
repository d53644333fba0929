// Packed arrays, and hashes of the content of rows. Numbers that are not integers are packed as Python writes them; the
// equation of the hashes is in src/naively/data/row_hash.py.
#include <bit>

#include "bindings/arrays.hpp"
#include "support/packing.hpp"

namespace naively::bindings {
namespace {

using namespace support;
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

ElementType element_type(nb::dlpack::dtype dtype) {
  switch (type_of(dtype)) {
    case NumberType::kF64: return ElementType::kFloat64;
    case NumberType::kI64: return ElementType::kInt64;
    case NumberType::kI32: return ElementType::kInt32;
    case NumberType::kU8: return ElementType::kUint8;
    case NumberType::kBool: return ElementType::kBool;
    default: throw std::invalid_argument("an array is neither float64, int64, int32, uint8 nor bool; convert it");
  }
}

void append_shortest(double x, std::string& out) {
  char* text = PyOS_double_to_string(x, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
  if (text == nullptr) throw nb::python_error();
  out += text;
  PyMem_Free(text);
}

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

std::tuple<nb::bytes, nb::bytes, nb::bytes> py_pack_arrays(const nb::typed<nb::sequence, nb::object>& arrays,
                                                           std::int64_t max_inline, std::int64_t min_separate) {
  std::vector<Array> held;  // with the arrays that had to be copied
  std::vector<ArrayView> views;
  for (nb::handle item : arrays) {
    const Array& array = held.emplace_back(nb::cast<Array>(item));
    ArrayView view{element_type(array.dtype()), array.data(), {}, static_cast<std::int64_t>(array.size())};
    for (std::size_t d = 0; d < array.ndim(); ++d) view.shape.push_back(size_of(array, d));
    views.push_back(std::move(view));
  }
  const PackedArrays packed = pack(views, max_inline, min_separate, append_shortest);
  return {to_bytes(packed.json), to_bytes(packed.body), to_bytes(packed.separate)};
}

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

void bind_support(nb::module_& m) {
  m.def("pack_arrays", py_pack_arrays, "arrays"_a, "max_inline"_a, "min_separate"_a);
  m.def("add_number_hashes", add_number_hashes<double>, "values"_a.noconvert(), "salt"_a, "missing"_a,
        "total"_a.noconvert());
  m.def("add_number_hashes", add_number_hashes<std::int64_t>, "values"_a.noconvert(), "salt"_a, "missing"_a,
        "total"_a.noconvert());
  m.def("add_code_hashes", add_code_hashes, "codes"_a, "table"_a, "total"_a.noconvert());
}

}  // namespace naively::bindings
