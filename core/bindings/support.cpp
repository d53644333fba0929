// Packed arrays, and hashes of the content of rows. Numbers that are not integers are packed as Python writes them; the
// equation of the hashes is in src/naively/data/row_hash.py.
#include <algorithm>
#include <bit>
#include <vector>

#include "bindings/arrays.hpp"
#include "support/mix.hpp"
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

New<std::uint64_t, 1> py_mix(const In<std::uint64_t, 1>& x) {
  std::vector<std::uint64_t> mixed(static_cast<std::size_t>(size_of(x)));
  std::transform(x.data(), x.data() + mixed.size(), mixed.begin(), mix);
  return to_numpy(std::move(mixed), size_of(x));
}

constexpr std::int64_t kHashedRows = 128;  // at a time, so that a row-major matrix stays in the cache

template <class T>
std::uint64_t bits_of(T value, std::uint64_t missing) {
  const double x = static_cast<double>(value) + 0.0;  // −0.0 + 0.0 is 0.0
  return x == x ? std::bit_cast<std::uint64_t>(x) : missing;
}

void add_number_hashes(const Numbers<2>& values, const In<std::uint64_t, 1>& salt, std::uint64_t missing,
                       const Totals& total) {
  const std::int64_t n = size_of(total), m = size_of(salt);
  const void* const data = checked(values, "values", {n, m});
  const std::int64_t down = n && m ? values.stride(0) : 1, across = n && m ? values.stride(1) : 1;
  const NumberType type = type_of(values.dtype());
  with_type(type, [&]<class T>(const T*) {
    nb::gil_scoped_release no_gil;
    const T* const from = static_cast<const T*>(data);
    if (type == NumberType::kBool) {  // two values: what a column adds is known before its rows are read
      std::vector<std::uint64_t> step(static_cast<std::size_t>(m));
      std::uint64_t none = 0;  // the sum of a row of zeros
      for (std::int64_t j = 0; j < m; ++j) {
        none += mix(salt(j));
        step[static_cast<std::size_t>(j)] = mix(bits_of(1.0, 0) + salt(j)) - mix(salt(j));
      }
      for (std::int64_t i = 0; i < n; ++i) {
        std::uint64_t sum = none;
        for (std::int64_t j = 0; j < m; ++j) {
          sum += step[static_cast<std::size_t>(j)] & -static_cast<std::uint64_t>(from[i * down + j * across]);
        }
        total(i) += sum;
      }
      return;
    }
    for (std::int64_t start = 0; start < n; start += kHashedRows) {
      const std::int64_t stop = std::min(start + kHashedRows, n);
      for (std::int64_t j = 0; j < m; ++j) {
        const T* const column = from + j * across;
        const std::uint64_t of_column = salt(j);
        for (std::int64_t i = start; i < stop; ++i) total(i) += mix(bits_of(column[i * down], missing) + of_column);
      }
    }
  });
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
  m.def("mix", py_mix, "x"_a);
  m.def("add_number_hashes", add_number_hashes, "values"_a, "salt"_a, "missing"_a, "total"_a.noconvert());
  m.def("add_code_hashes", add_code_hashes, "codes"_a, "table"_a, "total"_a.noconvert());
}

}  // namespace naively::bindings
