// Python's door to packed arrays: types are checked here, and numbers that are not whole are written as Python does.
#include "support/packing.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>

#include "bindings/module.hpp"

namespace nb = nanobind;

namespace naively::packing {
namespace {

using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

Kind kind_of(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(dtype.code);
  if (code == Code::Float && dtype.bits == 64) return Kind::f8;
  if (code == Code::Int && dtype.bits == 64) return Kind::i8;
  if (code == Code::Int && dtype.bits == 32) return Kind::i4;
  if (code == Code::UInt && dtype.bits == 8) return Kind::u1;
  if (code == Code::Bool && dtype.bits == 8) return Kind::b1;
  throw std::invalid_argument("an array is neither float64, int64, int32, uint8 nor bool; convert it");
}

void shortest(double x, std::string& out) {
  char* text = PyOS_double_to_string(x, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
  if (text == nullptr) throw nb::python_error();
  out += text;
  PyMem_Free(text);
}

nb::bytes given(const std::string& text) { return nb::bytes(text.data(), text.size()); }

std::tuple<nb::bytes, nb::bytes, nb::bytes> py_pack_arrays(const nb::typed<nb::sequence, nb::object>& arrays,
                                                           std::int64_t few, std::int64_t many) {
  std::vector<Array> held;  // so that what had to be copied stays
  std::vector<View> views;
  held.reserve(nb::len(arrays));
  views.reserve(nb::len(arrays));
  for (nb::handle item : arrays) {
    const Array& array = held.emplace_back(nb::cast<Array>(item));
    View view{kind_of(array.dtype()), array.data(), {}, static_cast<std::int64_t>(array.size())};
    for (std::size_t d = 0; d < array.ndim(); ++d) view.shape.push_back(static_cast<std::int64_t>(array.shape(d)));
    views.push_back(std::move(view));
  }
  const Packed packed = pack(views, few, many, shortest);
  return {given(packed.listed), given(packed.body), given(packed.apart)};
}

}  // namespace
}  // namespace naively::packing

void bind_packing(nb::module_& m) {
  using namespace nb::literals;
  m.def("pack_arrays", naively::packing::py_pack_arrays, "arrays"_a, "few"_a, "many"_a);
}
