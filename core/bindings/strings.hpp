// Python's strings as views of UTF-8. In the limited API throughout.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "text/documents.hpp"
#include "text/vocabulary.hpp"

namespace naively::bindings {

// The strings of a sequence, kept alive. None is a view without data if it is allowed.
class PythonStrings {
 public:
  explicit PythonStrings(nanobind::handle sequence, bool allow_none = false);
  const std::vector<std::string_view>& views() const { return views_; }

  std::vector<nanobind::object> take_copies() { return std::move(copies_); }
  std::vector<std::string_view> take_views() { return std::move(views_); }
  nanobind::object items() const { return items_; }

 private:
  nanobind::object items_;                // a tuple: no items can be removed while threads read them
  std::vector<nanobind::object> copies_;  // of strings with lone surrogates
  std::vector<std::string_view> views_;
};

struct PythonDocuments {
  text::Documents items;
  nanobind::object memory;  // that the views point into
  std::vector<nanobind::object> copies;
  std::vector<nanobind::object> lists;
};

PythonDocuments documents_of_sequence(nanobind::handle sequence);
PythonDocuments documents_of_tokens(nanobind::handle sequence);

// Raises KeyboardInterrupt after Ctrl-C. The core calls it from the calling thread, without the GIL.
inline void check_signals() {
  nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals()) throw nanobind::python_error();
}

// Tokens are numbered by a vocabulary or by hash_bits; or by a vocabulary of hashes with as many bits, to be read.
inline void check_numbering(const text::Vocabulary* vocabulary, const text::Options& options) {
  const bool has_hashes = vocabulary && vocabulary->hashes;
  if (has_hashes ? vocabulary->hashes->bits() != options.hash_bits : !vocabulary == !options.hash_bits)
    throw std::invalid_argument("give either a vocabulary, or options with hash_bits, and not both");
}

}  // namespace naively::bindings
