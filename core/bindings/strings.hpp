// Python's strings as views of UTF-8, for the bindings. In the limited API throughout.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "text/documents.hpp"

// The strings of a sequence, kept alive. None gives a view without data where it is allowed.
class PythonStrings {
 public:
  explicit PythonStrings(nanobind::handle sequence, bool allow_none = false);
  const std::vector<std::string_view>& views() const { return views_; }

  // One item: str without a copy (ASCII) or by the UTF-8 that Python keeps with it, or bytes as they are.
  // A lone surrogate becomes U+FFFD in a copy, which `copies` keeps.
  static std::string_view view(PyObject* item, std::size_t position, bool allow_none,
                               std::vector<nanobind::object>& copies);

  std::vector<nanobind::object> take_copies() { return std::move(copies_); }
  std::vector<std::string_view> take_views() { return std::move(views_); }
  nanobind::object items() const { return items_; }

 private:
  nanobind::object items_;  // a tuple: nobody can take items out of it while threads read them
  std::vector<nanobind::object> copies_;
  std::vector<std::string_view> views_;
};

struct PythonDocuments {
  naively::text::Documents items;
  nanobind::object keep;  // what the views point into
  std::vector<nanobind::object> copies;
  std::vector<nanobind::object> lists;
};

// Ctrl-C. The core calls it from the thread that called us, without the GIL.
inline void look_for_signals() {
  nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals()) throw nanobind::python_error();
}

PythonDocuments documents_of_sequence(nanobind::handle sequence);
PythonDocuments documents_of_tokens(nanobind::handle sequence);
