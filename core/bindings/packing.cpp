// Packed arrays. Types are checked here; numbers that are not integers are written as Python writes them.
#include "support/packing.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

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

}  // namespace

void bind_packing(nb::module_& m) {
  m.def("pack_arrays", py_pack_arrays, "arrays"_a, "max_inline"_a, "min_separate"_a);
}

}  // namespace naively::bindings
