#include "bindings/strings.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

namespace naively::bindings {

namespace nb = nanobind;
using text::Documents;

namespace {

// str is viewed as the UTF-8 that Python keeps with it, bytes as they are. A lone surrogate becomes U+FFFD in a copy.
std::string_view view(PyObject* item, std::size_t position, bool allow_none, std::vector<nb::object>& copies) {
  if (PyUnicode_Check(item)) {
    Py_ssize_t size = 0;
    if (const char* text = PyUnicode_AsUTF8AndSize(item, &size)) return {text, static_cast<std::size_t>(size)};
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
    PyErr_Clear();
    copies.push_back(nb::steal(PyUnicode_AsEncodedString(item, "utf-8", "surrogatepass")));
    if (!copies.back().ptr()) throw nb::python_error();
    char* bytes = PyBytes_AsString(copies.back().ptr());  // no one else has it, so it may be written to
    size = PyBytes_Size(copies.back().ptr());
    for (Py_ssize_t i = 0; i + 2 < size; ++i)  // a surrogate is ED A0..BF xx, and U+FFFD has three bytes as well
      if (static_cast<unsigned char>(bytes[i]) == 0xED && static_cast<unsigned char>(bytes[i + 1]) >= 0xA0)
        bytes[i] = '\xEF', bytes[i + 1] = '\xBF', bytes[i + 2] = '\xBD';
    return {bytes, static_cast<std::size_t>(size)};
  }
  if (PyBytes_Check(item)) return {PyBytes_AsString(item), static_cast<std::size_t>(PyBytes_Size(item))};
  if (allow_none && item == Py_None) return {};
  const std::string type = nb::cast<std::string>(nb::str(nb::handle(item).type().attr("__name__")));
  throw nb::type_error(("item " + std::to_string(position) + " is of type " + type + ": it must be str or bytes" +
                        (allow_none ? ", or None if it is missing" : ""))
                           .c_str());
}

}  // namespace

PythonStrings::PythonStrings(nb::handle sequence, bool allow_none) {
  if (PyUnicode_Check(sequence.ptr()) || PyBytes_Check(sequence.ptr()))
    throw nb::type_error("a single string was given: give a list of strings");
  items_ = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!items_.ptr()) throw nb::python_error();
  const auto n = static_cast<std::size_t>(PyTuple_Size(items_.ptr()));
  views_.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    views_.push_back(view(PyTuple_GetItem(items_.ptr(), static_cast<Py_ssize_t>(i)), i, allow_none, copies_));
}

PythonDocuments documents_of_sequence(nb::handle sequence) {
  PythonStrings strings(sequence, true);
  return {Documents::of_views(strings.take_views()), strings.items(), strings.take_copies(), {}};
}

PythonDocuments documents_of_tokens(nb::handle sequence) {
  const nb::object documents = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!documents.ptr()) throw nb::python_error();
  std::vector<std::string_view> tokens;
  std::vector<std::size_t> first{0};
  std::vector<char> missing;
  std::vector<nb::object> copies, lists;
  for (Py_ssize_t i = 0; i < PyTuple_Size(documents.ptr()); ++i) {
    PyObject* item = PyTuple_GetItem(documents.ptr(), i);
    missing.push_back(item == Py_None);
    if (item != Py_None) {
      PythonStrings strings(item);
      tokens.insert(tokens.end(), strings.views().begin(), strings.views().end());
      for (auto& copy : strings.take_copies()) copies.push_back(std::move(copy));
      lists.push_back(strings.items());
    }
    first.push_back(tokens.size());
  }
  return {Documents::of_tokens(std::move(tokens), std::move(first), std::move(missing)), documents, std::move(copies),
          std::move(lists)};
}

}  // namespace naively::bindings
