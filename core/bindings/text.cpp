// Documents, their tokens, counts and scores.
#include "text/text.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/strings.hpp"
#include "support/mix.hpp"
#include "text/csv_cells.hpp"
#include "text/spaces.hpp"
#include "text/unicode_table.hpp"

namespace naively::bindings {
namespace {

using namespace text;

std::int64_t size_of_documents(const PythonDocuments& documents) {
  return static_cast<std::int64_t>(documents.items.size());
}

std::tuple<CellArrays, CellArrays> py_count_text(const PythonDocuments& documents, const LabelArray& label,
                                                 const Weight& weight, std::int64_t n_classes, Vocabulary* vocabulary,
                                                 const Options& options, int n_threads) {
  const support::Labels labels = labels_of(label, weight, size_of_documents(documents), n_classes);
  check_numbering(vocabulary, options);
  CountedText counted = without_gil([&] {
    return count_text(documents.items, labels.label, labels.weight, static_cast<std::size_t>(n_classes), vocabulary,
                      options, n_threads, check_signals);
  });
  const auto n = static_cast<std::int64_t>(counted.cells.n), n_lengths = static_cast<std::int64_t>(counted.lengths.n);
  return {cells_to_numpy(std::move(counted.cells), n_classes, 2, n),
          cells_to_numpy(std::move(counted.lengths), n_classes, 1, n_lengths)};
}

void score(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options, TokenWeights weights,
           const Floats& class_constant, bool binary, const OutTable& out, const Length& length, int n_threads) {
  const std::int64_t n = size_of_documents(documents);
  check_numbering(vocabulary, options);
  weights.n_classes = class_constant.size();
  weights.class_constant = class_constant.data();
  weights.binary = binary;
  double* const scores = checked(out, "out", {n, size_of(class_constant)});
  double* const lengths = checked(length, "length", {n});
  if (!weights.n_classes) return;
  without_gil(
      [&] { score_text(documents.items, vocabulary, options, weights, scores, lengths, n_threads, check_signals); });
}

void py_score_text(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options,
                   const SparseWeights& sparse, const Floats& class_constant, bool binary, const OutTable& out,
                   const Length& length, int n_threads) {
  const auto& [base, start, classes, values] = sparse;
  TokenWeights weights{};
  weights.n_tokens = base.size(), weights.n_values = classes.size();
  weights.base = base.data(), weights.token_class = classes.data();
  weights.token_indptr = checked(start, "token_start", {size_of(base) + 1});
  weights.token_value = checked(values, "token_value", {size_of(classes)});
  score(documents, vocabulary, options, weights, class_constant, binary, out, length, n_threads);
}

void py_score_text_table(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options,
                         const Table& table, const Floats& class_constant, bool binary, const OutTable& out,
                         const Length& length, int n_threads) {
  TokenWeights weights{};
  weights.n_tokens = table.shape(0), weights.table = checked(table, "table", {-1, size_of(class_constant)});
  score(documents, vocabulary, options, weights, class_constant, binary, out, length, n_threads);
}

std::tuple<New<std::int32_t, 1>, New<std::int32_t, 1>, New<std::int64_t, 1>> py_token_rows(
    const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options, bool ordered, int n_threads) {
  check_numbering(vocabulary, options);
  text::TokenRows rows =
      without_gil([&] { return token_rows(documents.items, vocabulary, options, ordered, n_threads, check_signals); });
  const std::int64_t n = rows.indptr.back();
  return {to_numpy(std::move(rows.count), n), to_numpy(std::move(rows.index), n),
          to_numpy(std::move(rows.indptr), size_of_documents(documents) + 1)};
}

New<std::uint64_t, 1> py_hash_texts(const PythonDocuments& documents, int n_threads) {
  return to_numpy(without_gil([&] { return hash_texts(documents.items, n_threads); }), size_of_documents(documents));
}

void add_text_hashes(const PythonDocuments& documents, std::uint64_t salt, std::uint64_t missing,
                     const Out<std::uint64_t, 1>& total, int n_threads) {
  std::uint64_t* sum = checked(total, "total", {size_of_documents(documents)});
  without_gil([&] {
    for (const std::uint64_t hash : hash_texts(documents.items, n_threads))
      *sum++ += support::mix((hash ? hash : missing) + salt);
  });
}

New<bool, 1> py_are_among(const PythonDocuments& documents, const std::vector<std::string>& values) {
  return to_numpy(without_gil([&] { return are_among(documents.items, values); }), size_of_documents(documents));
}

std::tuple<bool, bool, bool> py_number_kinds(const PythonDocuments& cells, const std::vector<std::string>& missing) {
  const NumberKinds kinds = without_gil([&] { return number_kinds(cells.items, missing); });
  return {kinds.has_values, kinds.are_integers, kinds.are_numbers};
}

New<bool, 1> py_missing(const PythonDocuments& documents) {
  support::LargeArray<bool> missing(documents.items.size(), support::Fill::kAnything);
  for (std::size_t i = 0; i < missing.size(); ++i) missing[i] = documents.items.missing(i);
  return to_numpy(std::move(missing), size_of_documents(documents));
}

// Tokens as Python strings; holds the GIL.
struct ListSink : TokenSink {
  nb::list tokens;
  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final {
    for (std::size_t i = 0; i < n; ++i)
      tokens.append(nb::str(reinterpret_cast<const char*>(text) + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]));
  }
};

nb::typed<nb::list, nb::list> py_tokens(const PythonDocuments& documents, const Options& options) {
  nb::list lists;
  for (std::size_t i = 0; i < documents.items.size(); ++i) {
    ListSink sink;
    Tokeniser tokeniser(options);
    if (!documents.items.missing(i)) documents.items.read(i, tokeniser, sink);
    lists.append(sink.tokens);
  }
  return nb::borrow<nb::typed<nb::list, nb::list>>(lists);
}

std::pair<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> py_single_spaces(
    std::string_view text, std::int64_t max_characters) {
  SpacedText spaced = single_spaces(text, max_characters);
  return {std::move(spaced.text), std::move(spaced.long_words)};
}

using Bytes = In<std::uint8_t, 1>;
using Offsets = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

PythonDocuments documents_of_buffers(const Offsets& offsets, const Bytes& data, const std::optional<Bytes>& valid,
                                     std::size_t bit_offset) {
  require(offsets.size() > 0, "offsets is empty: n documents have n + 1 offsets");
  const std::size_t n = offsets.size() - 1;
  require(!valid || (bit_offset <= SIZE_MAX - n - 7 && valid->size() >= (bit_offset + n + 7) / 8),
          "valid has " + std::to_string(valid ? valid->size() : 0) + " bytes, too few for " + std::to_string(n) +
              " documents from bit " + std::to_string(bit_offset));
  const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
  const std::uint8_t* bits = valid ? valid->data() : nullptr;
  nb::object memory = nb::make_tuple(offsets, data, valid ? nb::cast(*valid) : nb::none());
  const auto documents = [&](auto* pointer) {
    const auto* first = static_cast<decltype(pointer)>(offsets.data());
    return PythonDocuments{Documents::of_buffers(n, first, bytes, bits, bit_offset), memory, {}, {}};
  };
  if (offsets.dtype() == nb::dtype<std::int32_t>()) return documents(static_cast<const std::int32_t*>(nullptr));
  require(offsets.dtype() == nb::dtype<std::int64_t>(), "offsets must be int32 or int64");
  return documents(static_cast<const std::int64_t*>(nullptr));
}

void make_options(Options* self, const std::string& tokens, bool lowercase, bool strip_accents, int shortest,
                  int longest, nb::handle stop_words, int hash_bits, int window) {
  require(tokens == "words" || tokens == "chars" || tokens == "chars_in_words",
          "tokens is '" + tokens + "': it must be 'words', 'chars' or 'chars_in_words'");
  require(1 <= shortest && shortest <= longest && longest <= 64,
          "ngrams is (" + std::to_string(shortest) + ", " + std::to_string(longest) +
              "): it must be two lengths from 1 to 64, the shorter first");
  require(window == 0 || (2 <= window && window <= 64 && longest == 2 && tokens == "words"),
          "window is " + std::to_string(window) +
              ": it must be from 2 to 64, or None, for pairs of words: ngrams (1, 2) or (2, 2)");
  require(0 <= hash_bits && hash_bits <= 31,
          "hash_bits is " + std::to_string(hash_bits) + ": it must be from 1 to 31, or None");
  Options options;
  options.cut = tokens == "words" ? Cut::kWords : tokens == "chars" ? Cut::kChars : Cut::kCharsInWords;
  options.lowercase = lowercase, options.strip_accents = strip_accents;
  options.shortest = shortest, options.longest = longest, options.hash_bits = hash_bits, options.window = window;
  const PythonStrings words(stop_words);
  for (std::string_view word : words.views()) {
    const auto bytes = folded(word, lowercase, strip_accents);
    options.stop_words.intern(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  new (self) Options(std::move(options));
}

}  // namespace

void bind_text(nb::module_& m) {
  m.attr("UNICODE_VERSION") = tables::kUnicodeVersion;
  nb::class_<Options>(m, "TextOptions")
      .def("__init__", make_options, "tokens"_a, "lowercase"_a, "strip_accents"_a, "shortest"_a, "longest"_a,
           "stop_words"_a, "hash_bits"_a, "window"_a = 0);
  nb::class_<PythonDocuments>(m, "Documents")
      .def_static("of_sequence", documents_of_sequence, "documents"_a)
      .def_static("of_tokens", documents_of_tokens, "documents"_a)
      .def_static("of_buffers", documents_of_buffers, "offsets"_a, "data"_a, "valid"_a.none(), "bit_offset"_a)
      .def("__len__", [](const PythonDocuments& self) { return self.items.size(); })
      .def("missing", py_missing);
  m.def("count_text", py_count_text, "documents"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "vocabulary"_a.none(),
        "options"_a, "n_threads"_a);
  m.def("score_text", py_score_text, "documents"_a, "vocabulary"_a.none(), "options"_a, "weights"_a, "class_constant"_a,
        "binary"_a, "out"_a.noconvert(), "length"_a.noconvert().none(), "n_threads"_a);
  m.def("score_text", py_score_text_table, "documents"_a, "vocabulary"_a.none(), "options"_a, "weights"_a,
        "class_constant"_a, "binary"_a, "out"_a.noconvert(), "length"_a.noconvert().none(), "n_threads"_a);
  m.def("token_rows", py_token_rows, "documents"_a, "vocabulary"_a.none(), "options"_a, "ordered"_a, "n_threads"_a);
  m.def("are_among", py_are_among, "documents"_a, "values"_a);
  m.def("number_kinds", py_number_kinds, "documents"_a, "missing"_a);
  m.def("hash_texts", py_hash_texts, "documents"_a, "n_threads"_a);
  m.def("add_text_hashes", add_text_hashes, "documents"_a, "salt"_a, "missing"_a, "total"_a.noconvert(), "n_threads"_a);
  m.def("tokens", py_tokens, "documents"_a, "options"_a);
  m.def("single_spaces", py_single_spaces, "text"_a, "max_characters"_a);
  m.def("distinct_words", distinct_words, "text"_a, "prefix"_a);
  m.def("link_starts", link_starts, "text"_a);
}

}  // namespace naively::bindings
