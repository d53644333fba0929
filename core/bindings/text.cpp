#include "text/text.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <mutex>
#include <optional>
#include <string>

#include "bindings/module.hpp"
#include "bindings/strings.hpp"
#include "counts/token_logs.hpp"
#include "text/unicode_table.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace naively::text;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Lengths = std::optional<nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

template <class T>
nb::object array_of(naively::support::LargeArray<T> data, std::initializer_list<std::size_t> shape) {
  auto* kept = new naively::support::LargeArray<T>(std::move(data));
  nb::capsule owner(kept, [](void* q) noexcept { delete static_cast<naively::support::LargeArray<T>*>(q); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner).cast();
}

template <class T>
nb::object array_of(std::vector<T> data) {
  auto* kept = new std::vector<T>(std::move(data));
  nb::capsule owner(kept, [](void* q) noexcept { delete static_cast<std::vector<T>*>(q); });
  return nb::ndarray<nb::numpy, T>(kept->data(), {kept->size()}, owner).cast();
}

nb::tuple tuple_of(CellTable table, std::size_t n_classes, std::size_t n_sums) {
  return nb::make_tuple(array_of(std::move(table.indptr), {n_classes + 1}), array_of(std::move(table.index), {table.n}),
                        array_of(std::move(table.sums), {n_sums, table.n}), array_of(std::move(table.rows), {table.n}));
}

void check_size(std::size_t found, std::size_t wanted, const char* what, const char* whose) {
  if (found != wanted)
    throw std::invalid_argument(std::string(what) + " has the length " + std::to_string(found) + ", not the " +
                                std::to_string(wanted) + " of " + whose);
}

void check_numbering(const Vocabulary* vocabulary, const Options& options) {
  if (!vocabulary == !options.hash_bits)
    throw std::invalid_argument("give either a vocabulary, or options with hash_bits, and not both");
}

nb::tuple count(const PythonDocuments& documents, Vector<std::int32_t> label, std::optional<Vector<double>> weight,
                std::size_t n_classes, Vocabulary* vocabulary, const Options& options, int n_jobs) {
  const std::size_t n = documents.items.size();
  check_size(label.size(), n, "label", "the documents");
  if (weight) check_size(weight->size(), n, "weight", "the documents");
  check_numbering(vocabulary, options);
  Counted counted;
  {
    nb::gil_scoped_release no_gil;
    counted = count_text(documents.items, label.data(), weight ? weight->data() : nullptr, n_classes, vocabulary,
                         options, n_jobs, look_for_signals);
  }
  return nb::make_tuple(tuple_of(std::move(counted.cells), n_classes, 2),
                        tuple_of(std::move(counted.lengths), n_classes, 1));
}

void score(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options, Evidence evidence,
           Vector<double> class_constant, Scores out, int n_jobs, const Lengths& length) {
  check_numbering(vocabulary, options);
  evidence.n_classes = class_constant.size();
  evidence.class_constant = class_constant.data();
  check_size(out.shape(0), documents.items.size(), "out", "the documents");
  check_size(out.shape(1), evidence.n_classes, "a row of out", "class_constant");
  if (length) check_size(length->size(), documents.items.size(), "length", "the documents");
  if (!evidence.n_classes) return;
  nb::gil_scoped_release no_gil;
  score_text(documents.items, vocabulary, options, evidence, out.data(), length ? length->data() : nullptr, n_jobs,
             look_for_signals);
}

void score_sparse(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options, Vector<double> base,
                  Vector<std::int64_t> token_indptr, Vector<std::int32_t> token_class, Vector<double> token_value,
                  Vector<double> class_constant, bool binary, Scores out, int n_jobs, const Lengths& length) {
  check_size(token_indptr.size(), base.size() + 1, "token_indptr", "base, and one more");
  check_size(token_value.size(), token_class.size(), "token_value", "token_class");
  Evidence evidence{};
  evidence.n_tokens = base.size(), evidence.n_values = token_class.size();
  evidence.base = base.data(), evidence.token_indptr = token_indptr.data();
  evidence.token_class = token_class.data(), evidence.token_value = token_value.data();
  evidence.binary = binary;
  score(documents, vocabulary, options, evidence, class_constant, out, n_jobs, length);
}

void score_dense(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options, Matrix<double> table,
                 Vector<double> class_constant, bool binary, Scores out, int n_jobs, const Lengths& length) {
  check_size(table.shape(1), class_constant.size(), "a row of table", "class_constant");
  Evidence evidence{};
  evidence.n_tokens = table.shape(0), evidence.table = table.data(), evidence.binary = binary;
  score(documents, vocabulary, options, evidence, class_constant, out, n_jobs, length);
}

nb::tuple rows(const PythonDocuments& documents, Vocabulary* vocabulary, const Options& options, bool ordered,
               int n_jobs) {
  check_numbering(vocabulary, options);
  TokenRows found;
  {
    nb::gil_scoped_release no_gil;
    found = token_rows(documents.items, vocabulary, options, ordered, n_jobs, look_for_signals);
  }
  return nb::make_tuple(array_of(std::move(found.count)), array_of(std::move(found.index)),
                        array_of(std::move(found.indptr)));
}

CountCells cells_of(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& index, const Vector<double>& count,
                    std::size_t n_tokens, double alpha) {
  if (indptr.size() == 0) throw std::invalid_argument("indptr is empty: n classes have n + 1 of them");
  check_size(count.size(), index.size(), "count", "index");
  if (!(alpha > 0)) throw std::invalid_argument("alpha is " + std::to_string(alpha) + ": it must be above 0");
  return {indptr.size() - 1, index.size(), n_tokens, indptr.data(), index.data(), count.data()};
}

nb::object log_table(Vector<std::int64_t> indptr, Vector<std::int32_t> index, Vector<double> count, Vector<double> base,
                     double alpha, int n_jobs) {
  const CountCells cells = cells_of(indptr, index, count, base.size(), alpha);
  naively::support::LargeArray<double> table;
  {
    nb::gil_scoped_release no_gil;
    table = token_log_table(cells, base.data(), alpha, n_jobs);
  }
  return array_of(std::move(table), {cells.n_tokens, cells.n_classes});
}

nb::tuple logs(Vector<std::int64_t> indptr, Vector<std::int32_t> index, Vector<double> count, std::size_t n_tokens,
               double alpha, int n_jobs) {
  const CountCells cells = cells_of(indptr, index, count, n_tokens, alpha);
  TokenLogs found;
  {
    nb::gil_scoped_release no_gil;
    found = token_logs(cells, alpha, n_jobs);
  }
  const auto n = static_cast<std::size_t>(found.start[n_tokens]);
  return nb::make_tuple(array_of(std::move(found.start), {n_tokens + 1}), array_of(std::move(found.owner), {n}),
                        array_of(std::move(found.value), {n}));
}

nb::object hashes(const PythonDocuments& documents, int n_jobs) {
  std::vector<std::uint64_t> found;
  {
    nb::gil_scoped_release no_gil;
    found = hash_texts(documents.items, n_jobs);
  }
  return array_of(std::move(found));
}

nb::object missing(const PythonDocuments& documents) {
  const std::size_t n = documents.items.size();
  naively::support::LargeArray<bool> found(n, naively::support::Fill::kAnything);
  for (std::size_t i = 0; i < n; ++i) found[i] = documents.items.missing(i);
  return array_of(std::move(found), {n});
}

// Tokens as Python strings; holds the GIL.
struct ListSink : TokenSink {
  nb::list found;
  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final {
    for (std::size_t i = 0; i < n; ++i)
      found.append(nb::str(reinterpret_cast<const char*>(text) + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]));
  }
};

nb::list tokens(const PythonDocuments& documents, const Options& options) {
  nb::list lists;
  for (std::size_t i = 0; i < documents.items.size(); ++i) {
    ListSink sink;
    Tokeniser tokeniser(options);
    if (!documents.items.missing(i)) documents.items.read(i, tokeniser, sink);
    lists.append(sink.found);
  }
  return lists;
}

PythonDocuments documents_of_buffers(nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> offsets,
                                     Vector<std::uint8_t> data, std::optional<Vector<std::uint8_t>> valid,
                                     std::size_t bit_offset) {
  if (offsets.size() == 0) throw std::invalid_argument("offsets is empty: n documents have n + 1 offsets");
  const std::size_t n = offsets.size() - 1;
  if (valid && (bit_offset > SIZE_MAX - n - 7 || valid->size() < (bit_offset + n + 7) / 8))
    throw std::invalid_argument("valid has " + std::to_string(valid->size()) + " bytes, too few for " +
                                std::to_string(n) + " documents from bit " + std::to_string(bit_offset));
  const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
  const std::uint8_t* bits = valid ? valid->data() : nullptr;
  nb::object keep = nb::make_tuple(offsets, data, valid ? nb::cast(*valid) : nb::none());
  if (offsets.dtype() == nb::dtype<std::int32_t>())
    return {Documents::of_buffers(n, static_cast<const std::int32_t*>(offsets.data()), bytes, bits, bit_offset),
            keep,
            {},
            {}};
  if (offsets.dtype() == nb::dtype<std::int64_t>())
    return {Documents::of_buffers(n, static_cast<const std::int64_t*>(offsets.data()), bytes, bits, bit_offset),
            keep,
            {},
            {}};
  throw std::invalid_argument("offsets must be int32 or int64");
}

void make_options(Options* self, const std::string& cut, bool lowercase, bool strip_accents, int shortest, int longest,
                  nb::handle stop_words, int hash_bits) {
  if (cut != "words" && cut != "chars" && cut != "chars_in_words")
    throw std::invalid_argument("tokens is '" + cut + "': it must be 'words', 'chars' or 'chars_in_words'");
  if (shortest < 1 || longest < shortest || longest > 64)
    throw std::invalid_argument("ngrams is (" + std::to_string(shortest) + ", " + std::to_string(longest) +
                                "): it must be two lengths from 1 to 64, the shorter first");
  if (hash_bits < 0 || hash_bits > 31)
    throw std::invalid_argument("hash_bits is " + std::to_string(hash_bits) + ": it must be from 1 to 31, or None");
  Options made;
  made.cut = cut == "words" ? Cut::words : cut == "chars" ? Cut::chars : Cut::chars_in_words;
  made.lowercase = lowercase, made.strip_accents = strip_accents, made.shortest = shortest, made.longest = longest;
  made.hash_bits = hash_bits;
  const PythonStrings words(stop_words);
  for (std::string_view word : words.views()) {
    const auto bytes = folded(word, lowercase, strip_accents);
    made.stop_words.intern(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  new (self) Options(std::move(made));
}

}  // namespace

void bind_vocabulary(nb::module_& m);  // bindings_vocabulary.cpp

void bind_text(nb::module_& m) {
  // Objects that live in module-level tables of test frameworks outlast the interpreter, and are no leak of ours.
  nb::set_leak_warnings(false);
  m.attr("UNICODE_VERSION") = UNICODE_VERSION;
  bind_vocabulary(m);
  nb::class_<Options>(m, "TextOptions")
      .def("__init__", make_options, "tokens"_a, "lowercase"_a, "strip_accents"_a, "shortest"_a, "longest"_a,
           "stop_words"_a, "hash_bits"_a);
  nb::class_<PythonDocuments>(m, "Documents")
      .def_static("of_sequence", documents_of_sequence, "documents"_a)
      .def_static("of_tokens", documents_of_tokens, "documents"_a)
      .def_static("of_buffers", documents_of_buffers, "offsets"_a, "data"_a, "valid"_a.none(), "bit_offset"_a)
      .def("__len__", [](const PythonDocuments& self) { return self.items.size(); })
      .def("missing", missing, nb::sig("def missing(self) -> NDArray[numpy.bool_]"));
  m.def("count_text", count, "documents"_a, "label"_a, "weight"_a.none(), "n_classes"_a, "vocabulary"_a.none(),
        "options"_a, "n_jobs"_a);
  m.def("score_text", score_sparse, "documents"_a, "vocabulary"_a.none(), "options"_a, "base"_a, "token_indptr"_a,
        "token_class"_a, "token_value"_a, "class_constant"_a, "binary"_a, "out"_a.noconvert(), "n_jobs"_a,
        "length"_a.noconvert().none());
  m.def("score_text_table", score_dense, "documents"_a, "vocabulary"_a.none(), "options"_a, "table"_a,
        "class_constant"_a, "binary"_a, "out"_a.noconvert(), "n_jobs"_a, "length"_a.noconvert().none());
  m.def("token_rows", rows, "documents"_a, "vocabulary"_a.none(), "options"_a, "ordered"_a, "n_jobs"_a,
        nb::sig("def token_rows(documents: Documents, vocabulary: Vocabulary | None, options: TextOptions, ordered: "
                "bool, n_jobs: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]"));
  m.def("token_log_table", log_table, "indptr"_a, "index"_a, "count"_a, "base"_a, "alpha"_a, "n_jobs"_a,
        nb::sig("def token_log_table(indptr: NDArray[numpy.int64], index: NDArray[numpy.int32], count: "
                "NDArray[numpy.float64], base: NDArray[numpy.float64], alpha: float, n_jobs: int) -> "
                "NDArray[numpy.float64]"));
  m.def("token_logs", logs, "indptr"_a, "index"_a, "count"_a, "n_tokens"_a, "alpha"_a, "n_jobs"_a,
        nb::sig("def token_logs(indptr: NDArray[numpy.int64], index: NDArray[numpy.int32], count: "
                "NDArray[numpy.float64], n_tokens: int, alpha: float, n_jobs: int) -> tuple[NDArray[numpy.int64], "
                "NDArray[numpy.int32], NDArray[numpy.float64]]"));
  m.def("hash_texts", hashes, "documents"_a, "n_jobs"_a,
        nb::sig("def hash_texts(documents: Documents, n_jobs: int) -> NDArray[numpy.uint64]"));
  m.def("tokens", tokens, "documents"_a, "options"_a,
        nb::sig("def tokens(documents: Documents, options: TextOptions) -> list[list[str]]"));
}
