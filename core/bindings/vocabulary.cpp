// The vocabulary: words and their numbers.
#include "text/vocabulary.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "bindings/arrays.hpp"
#include "bindings/strings.hpp"
#include "text/unicode.hpp"

namespace naively::bindings {
namespace {

using namespace text;

using Ids = New<std::int32_t, 1>;
using Bytes = In<std::uint8_t, 1>;
using WordArrays = std::tuple<New<std::uint8_t, 1>, New<std::int64_t, 1>>;

Ids to_ids(std::vector<std::int32_t> ids) {
  const auto n = static_cast<std::int64_t>(ids.size());
  return to_numpy(std::move(ids), n);
}

// Repairs bytes that are not UTF-8 as in a document, so that every word can be shown.
std::string repaired(std::string_view word) {
  const auto bytes = folded(word, false, false);
  return {bytes.begin(), bytes.end()};
}

template <class Act>
Ids for_words(nb::handle words, Act&& act) {
  const PythonStrings strings(words);
  return to_ids(without_gil([&] {
    std::vector<std::int32_t> ids;
    ids.reserve(strings.views().size());
    act(strings.views(), ids);
    return ids;
  }));
}

void require_words(const Vocabulary& vocabulary) {
  require(!vocabulary.hashes, "this vocabulary has hashes, and no words");
}

std::int32_t find_hash(const HashIndex& hashes, std::string_view word) {
  std::uint8_t room[kShortBytes];
  const Key key = make_key(Words::padded(word, room), static_cast<std::uint32_t>(word.size()), kFeatureSeeds);
  return static_cast<std::int32_t>(hashes.find(feature_hash(key, hashes.bits())));
}

Ids find(const Vocabulary& self, nb::handle words) {
  return for_words(words, [&](const auto& views, auto& ids) {
    std::shared_lock lock(self.lock);
    for (std::string_view word : views)
      ids.push_back(self.hashes ? find_hash(*self.hashes, repaired(word)) : self.words.find(repaired(word)));
  });
}

Ids find_hashes(const Vocabulary& self, const In<std::int32_t, 1>& hashes) {
  require(self.hashes.has_value(), "this vocabulary has words, and no hashes");
  return to_ids(without_gil([&] {
    std::vector<std::int32_t> ids(hashes.size());
    const auto limit = std::uint64_t{1} << self.hashes->bits();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto hash = static_cast<std::uint32_t>(hashes(i));
      ids[i] = hash < limit ? static_cast<std::int32_t>(self.hashes->find(hash)) : -1;
    }
    return ids;
  }));
}

Vocabulary* of_hashes(const In<std::int32_t, 1>& hashes, int bits) {
  require(1 <= bits && bits <= 31, "bits is " + std::to_string(bits) + ": it must be from 1 to 31");
  auto vocabulary = std::make_unique<Vocabulary>();
  vocabulary->hashes.emplace(std::vector<std::uint32_t>(hashes.data(), hashes.data() + hashes.size()), bits);
  return vocabulary.release();
}

Ids add(Vocabulary& self, nb::handle words) {
  require_words(self);
  return for_words(words, [&](const auto& views, auto& ids) {
    std::unique_lock lock(self.lock);
    for (std::string_view word : views) ids.push_back(self.words.compose(repaired(word)));
  });
}

nb::typed<nb::list, nb::str> words_of(
    const Vocabulary& self, const std::optional<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::device::cpu>>& ids) {
  nb::list words;
  std::shared_lock lock(self.lock, std::defer_lock);
  without_gil([&] { lock.lock(); });  // its holder may wait for the GIL
  const std::size_t n = ids ? ids->size() : self.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t id = ids ? (*ids)(i) : static_cast<std::int64_t>(i);
    const auto number = static_cast<std::size_t>(id);
    if (id < 0 || number >= self.size())
      throw std::out_of_range("word " + std::to_string(id) + " of a vocabulary of " + std::to_string(self.size()));
    const std::string word =
        self.hashes ? "#" + std::to_string(self.hashes->hash(number)) : self.words.as_string(number);
    words.append(nb::str(word.data(), word.size()));
  }
  return nb::borrow<nb::typed<nb::list, nb::str>>(words);
}

// Writes all words and their offsets. The parts of a pair have smaller numbers, so they are written before it.
void write_all(const Words& words, std::vector<std::uint8_t>& bytes, std::vector<std::int64_t>& offsets) {
  offsets.reserve(words.size() + 1);
  offsets.push_back(0);
  const auto copy = [&](std::uint32_t id) {
    const auto from = static_cast<std::size_t>(offsets[id]), n = static_cast<std::size_t>(offsets[id + 1]) - from;
    const std::size_t at = bytes.size();
    bytes.resize(at + n);
    std::copy_n(bytes.data() + from, n, bytes.data() + at);
  };
  for (std::size_t id = 0; id < words.size(); ++id) {
    const Entry& entry = words.entry(static_cast<std::uint32_t>(id));
    if (entry.is_pair()) {
      copy(entry.first());
      bytes.push_back(' ');
      copy(entry.last());
    } else {
      const std::string_view word = words.word(id);
      bytes.insert(bytes.end(), word.begin(), word.end());
    }
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
}

WordArrays export_words(const Vocabulary& self) {
  require_words(self);
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> offsets;
  without_gil([&] {
    std::shared_lock lock(self.lock);
    write_all(self.words, bytes, offsets);
    bytes.shrink_to_fit();
  });
  const auto size = static_cast<std::int64_t>(bytes.size()), n = static_cast<std::int64_t>(offsets.size());
  return {to_numpy(std::move(bytes), size), to_numpy(std::move(offsets), n)};
}

bool is_utf8(std::string_view word) {
  if (std::none_of(word.begin(), word.end(), [](char c) { return c & 0x80; })) return true;
  const auto* p = reinterpret_cast<const std::uint8_t*>(word.data());
  const auto* end = p + word.size();
  while (p < end) {
    const auto* start = p;
    if (decode(p, end) == kReplacement && (p - start != 3 || start[0] != 0xEF || start[1] != 0xBF || start[2] != 0xBD))
      return false;
  }
  return true;
}

// Returns whether these can be n-grams of words without spaces; they are then stored as pairs of their parts.
bool may_compose(std::string_view bytes, const Ints& offsets) {
  bool has_ngrams = false;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto from = static_cast<std::size_t>(offsets(i));
    const std::string_view word = bytes.substr(from, static_cast<std::size_t>(offsets(i + 1)) - from);
    const auto spaces = std::count(word.begin(), word.end(), ' ');
    if (spaces == 0) continue;
    if (spaces >= kMaxWords || word.front() == ' ' || word.back() == ' ' || word.find("  ") != word.npos) return false;
    has_ngrams = true;
  }
  return has_ngrams;
}

void fill(Vocabulary& self, const Bytes& bytes, const Ints& offsets) {
  require(offsets.size() > 0, "offsets is empty: n words have n + 1 offsets");
  checked_offsets(offsets, "offsets", size_of(offsets) - 1, size_of(bytes));
  nb::gil_scoped_release no_gil;
  const std::size_t n = offsets.size();
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool compose = may_compose(all, offsets);
  self.words.make_room(n - 1);
  constexpr std::size_t kBatch = 32;  // lookups in flight: the table is larger than the caches
  std::uint8_t room[kBatch][kShortBytes];
  std::string_view words[kBatch];
  const std::uint8_t* start[kBatch];
  Key keys[kBatch];
  for (std::size_t first = 0; first + 1 < n; first += kBatch) {
    const std::size_t size = std::min(kBatch, n - 1 - first);
    for (std::size_t k = 0; k < size; ++k) {
      const auto from = static_cast<std::size_t>(offsets(first + k)),
                 to = static_cast<std::size_t>(offsets(first + k + 1));
      words[k] = all.substr(from, to - from);
      if (!is_utf8(words[k])) throw std::invalid_argument("word " + std::to_string(first + k) + " is not UTF-8");
      start[k] = Words::padded(words[k], room[k]);
      keys[k] = self.words.key(start[k], static_cast<std::uint32_t>(words[k].size()));
      self.words.prefetch(keys[k]);
    }
    for (std::size_t k = 0; k < size; ++k) {
      const auto id = compose && words[k].find(' ') != words[k].npos
                          ? static_cast<std::uint32_t>(self.words.compose(words[k]))
                          : self.words.intern(keys[k], start[k]).id;
      if (id != first + k) throw std::invalid_argument("word " + std::to_string(first + k) + " occurs twice");
    }
  }
}

Ids unite(Vocabulary& self, const Vocabulary& other) {
  require_words(self);
  require_words(other);
  return to_ids(without_gil([&] {
    std::unique_lock own_lock(self.lock, std::defer_lock);
    if (&self == &other) {
      own_lock.lock();
      std::vector<std::int32_t> ids(self.words.size());
      std::iota(ids.begin(), ids.end(), 0);
      return ids;
    }
    std::shared_lock other_lock(other.lock, std::defer_lock);
    std::lock(own_lock, other_lock);
    return self.words.intern_all(other.words);
  }));
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::init<>())
      .def("__len__",
           [](const Vocabulary& self) {
             nb::gil_scoped_release no_gil;
             std::shared_lock lock(self.lock);
             return self.size();
           })
      .def("find", find, "words"_a, "Return the numbers of the words; −1 for a word that is not in the vocabulary.")
      .def("add", add, "words"_a, "Return the numbers of the words; new words are appended.")
      .def("words", words_of, "ids"_a.none() = nb::none(),
           "Return the words of these numbers, or all in order; a hash is shown with # before it.")
      .def("export", export_words, "Return all words as UTF-8, and their n + 1 offsets.")
      .def_static(
          "from_arrays",
          [](const Bytes& bytes, const Ints& offsets) {
            auto vocabulary = std::make_unique<Vocabulary>();
            fill(*vocabulary, bytes, offsets);
            return vocabulary.release();
          },
          nb::rv_policy::take_ownership, "bytes"_a, "offsets"_a,
          "Return the vocabulary of arrays that `export` returned; refuse others.")
      .def_static("of_hashes", of_hashes, nb::rv_policy::take_ownership, "hashes"_a, "bits"_a,
                  "Return the vocabulary of feature hashes of this many bits, which ascend: a word is its hash.")
      .def("find_hashes", find_hashes, "hashes"_a, "Return the numbers of hashes; −1 for one that is unknown.")
      .def("union", unite, "other"_a,
           "Append the new words of another vocabulary; return the numbers of all its words in this one.")
      .def("__getstate__", export_words)
      .def("__setstate__", [](Vocabulary& self, const std::pair<Bytes, Ints>& state) {
        new (&self) Vocabulary();
        fill(self, state.first, state.second);
      });
}

}  // namespace naively::bindings
