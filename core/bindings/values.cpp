// Two sorted tuples of strings as one, and where each string went. Python has no merge that tells the places, and a
// dictionary of a million strings takes half a second to make; strings stay where they are, only pointers move.
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/module.hpp"

namespace nb = nanobind;

namespace {

using Strings = nb::typed<nb::tuple, nb::str, nb::ellipsis>;
using Places = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;

// The strings of a tuple, which it keeps alive; refused unless each comes after the one before.
std::vector<PyObject*> strings_of(const Strings& values) {
  std::vector<PyObject*> found(values.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = PyTuple_GetItem(values.ptr(), static_cast<Py_ssize_t>(i));
    if (!PyUnicode_Check(found[i])) throw std::invalid_argument("the values are not all strings");
    if (i > 0 && PyUnicode_Compare(found[i - 1], found[i]) >= 0)
      throw std::invalid_argument("the strings are not in order, each once");
  }
  return found;
}

Places give(const std::vector<std::int32_t>& places) {
  auto* memory = static_cast<std::int32_t*>(std::malloc((places.size() + 1) * sizeof(std::int32_t)));
  if (memory == nullptr) throw std::bad_alloc();
  std::copy(places.begin(), places.end(), memory);
  return Places(memory, {places.size()}, nb::capsule(memory, [](void* p) noexcept { std::free(p); }));
}

std::tuple<Strings, Places, Places> merge_strings(const Strings& a, const Strings& b) {
  const std::vector<PyObject*> mine = strings_of(a), theirs = strings_of(b);
  if (mine.size() + theirs.size() >= (std::size_t{1} << 31)) throw std::invalid_argument("there are too many strings");
  std::vector<PyObject*> all;
  all.reserve(mine.size() + theirs.size());
  std::vector<std::int32_t> of_mine(mine.size()), of_theirs(theirs.size());
  std::size_t i = 0, j = 0;
  while (i < mine.size() || j < theirs.size()) {
    const int order = i == mine.size() ? 1 : j == theirs.size() ? -1 : PyUnicode_Compare(mine[i], theirs[j]);
    const auto place = static_cast<std::int32_t>(all.size());
    all.push_back(order <= 0 ? mine[i] : theirs[j]);
    if (order <= 0) of_mine[i++] = place;
    if (order >= 0) of_theirs[j++] = place;
  }
  nb::tuple merged = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(all.size())));
  if (!merged.is_valid()) throw nb::python_error();
  for (std::size_t k = 0; k < all.size(); ++k) {
    Py_INCREF(all[k]);
    if (PyTuple_SetItem(merged.ptr(), static_cast<Py_ssize_t>(k), all[k]) != 0) throw nb::python_error();
  }
  return {nb::borrow<Strings>(merged), give(of_mine), give(of_theirs)};
}

}  // namespace

void bind_values(nb::module_& m) {
  using namespace nb::literals;
  m.def("merge_strings", merge_strings, "a"_a, "b"_a);
}
