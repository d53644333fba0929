#include "text/vocabulary.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include "bindings/strings.hpp"
#include "text/unicode.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace naively::text;

namespace {

using Ids = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Ids ids_of(std::vector<std::int32_t> ids) {
  auto* kept = new std::vector<std::int32_t>(std::move(ids));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  return Ids(kept->data(), {kept->size()}, owner);
}

// Bytes that are no UTF-8 are repaired as in a document, so that every word can be shown.
std::string repaired(std::string_view word) {
  const auto bytes = folded(word, false, false);
  return {bytes.begin(), bytes.end()};
}

template <class Act>
Ids for_each_word(nb::handle words, Act&& act) {
  const PythonStrings strings(words);
  std::vector<std::int32_t> ids;
  ids.reserve(strings.views().size());
  {
    nb::gil_scoped_release no_gil;
    act(strings.views(), ids);
  }
  return ids_of(std::move(ids));
}

Ids find(const Vocabulary& self, nb::handle words) {
  return for_each_word(words, [&](const auto& views, auto& ids) {
    std::shared_lock lock(self.lock);
    for (std::string_view word : views) ids.push_back(self.words.find(repaired(word)));
  });
}

Ids add(Vocabulary& self, nb::handle words) {
  return for_each_word(words, [&](const auto& views, auto& ids) {
    std::unique_lock lock(self.lock);
    for (std::string_view word : views) ids.push_back(self.words.compose(repaired(word)));
  });
}

nb::list words_of(const Vocabulary& self,
                  std::optional<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::device::cpu>> ids) {
  nb::list found;
  std::shared_lock lock(self.lock, std::defer_lock);
  {
    nb::gil_scoped_release no_gil;  // who holds the lock may be waiting for the GIL
    lock.lock();
  }
  const std::size_t n = ids ? ids->size() : self.words.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t id = ids ? (*ids)(i) : static_cast<std::int64_t>(i);
    if (id < 0 || static_cast<std::size_t>(id) >= self.words.size())
      throw std::out_of_range("word " + std::to_string(id) + " of a vocabulary of " +
                              std::to_string(self.words.size()));
    const std::string word = self.words.written(static_cast<std::size_t>(id));
    found.append(nb::str(word.data(), word.size()));
  }
  return found;
}

// The parts of a pair have smaller numbers: they are already written.
void write_out(const Words& words, std::vector<std::uint8_t>& bytes, std::vector<std::int64_t>& offsets) {
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

nb::tuple arrays_of(const Vocabulary& self) {
  std::vector<std::uint8_t>* bytes;
  std::vector<std::int64_t>* offsets;
  {
    nb::gil_scoped_release no_gil;
    std::shared_lock lock(self.lock);
    bytes = new std::vector<std::uint8_t>();
    offsets = new std::vector<std::int64_t>();
    write_out(self.words, *bytes, *offsets);
    bytes->shrink_to_fit();
  }
  nb::capsule own_bytes(bytes, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
  nb::capsule own_offsets(offsets, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  return nb::make_tuple(nb::ndarray<nb::numpy, std::uint8_t>(bytes->data(), {bytes->size()}, own_bytes).cast(),
                        nb::ndarray<nb::numpy, std::int64_t>(offsets->data(), {offsets->size()}, own_offsets).cast());
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

// Whether these can be n-grams of words that have no space in them, kept as pairs where their parts are there.
bool may_compose(std::string_view bytes, const Offsets& offsets) {
  bool any = false;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto from = static_cast<std::size_t>(offsets(i));
    const std::string_view word = bytes.substr(from, static_cast<std::size_t>(offsets(i + 1)) - from);
    const auto spaces = std::count(word.begin(), word.end(), ' ');
    if (spaces == 0) continue;
    if (spaces >= kMostWords || word.front() == ' ' || word.back() == ' ' || word.find("  ") != word.npos) return false;
    any = true;
  }
  return any;
}

void check_offsets(const Bytes& bytes, const Offsets& offsets) {
  const std::size_t n = offsets.size();
  const auto end = static_cast<std::int64_t>(bytes.size());
  if (n == 0 || offsets(0) != 0 || offsets(n - 1) != end)
    throw std::invalid_argument("offsets must start with 0 and end with the number of bytes, " + std::to_string(end));
  for (std::size_t i = 0; i + 1 < n; ++i)
    if (offsets(i + 1) < offsets(i) || offsets(i + 1) > end)
      throw std::invalid_argument("offsets fall, or pass the end, at word " + std::to_string(i));
}

void fill(Vocabulary& self, const Bytes& bytes, const Offsets& offsets) {
  nb::gil_scoped_release no_gil;
  check_offsets(bytes, offsets);
  const std::size_t n = offsets.size();
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool compose = may_compose(all, offsets);
  self.words.make_room(n - 1);
  constexpr std::size_t kTogether = 32;  // lookups in flight, as in intern_all: the table is larger than the caches
  std::uint8_t room[kTogether][kInline];
  std::string_view words[kTogether];
  const std::uint8_t* start[kTogether];
  Key keys[kTogether];
  for (std::size_t first = 0; first + 1 < n; first += kTogether) {
    const std::size_t few = std::min(kTogether, n - 1 - first);
    for (std::size_t k = 0; k < few; ++k) {
      const auto from = static_cast<std::size_t>(offsets(first + k)),
                 to = static_cast<std::size_t>(offsets(first + k + 1));
      words[k] = all.substr(from, to - from);
      if (!is_utf8(words[k])) throw std::invalid_argument("word " + std::to_string(first + k) + " is not UTF-8");
      start[k] = Words::padded(words[k], room[k]);
      keys[k] = self.words.key(start[k], static_cast<std::uint32_t>(words[k].size()));
      self.words.prefetch(keys[k]);
    }
    for (std::size_t k = 0; k < few; ++k) {
      const auto id = compose && words[k].find(' ') != words[k].npos
                          ? static_cast<std::uint32_t>(self.words.compose(words[k]))
                          : self.words.intern(keys[k], start[k]).id;
      if (id != first + k) throw std::invalid_argument("word " + std::to_string(first + k) + " is there twice");
    }
  }
}

Ids unite(Vocabulary& self, const Vocabulary& other) {
  std::vector<std::int32_t> ids;
  {
    nb::gil_scoped_release no_gil;
    std::unique_lock mine(self.lock, std::defer_lock);
    std::shared_lock theirs(other.lock, std::defer_lock);
    if (&self == &other)
      mine.lock();
    else
      std::lock(mine, theirs);
    if (&self == &other) {
      ids.resize(self.words.size());
      std::iota(ids.begin(), ids.end(), 0);
    } else {
      ids = self.words.intern_all(other.words);
    }
  }
  return ids_of(std::move(ids));
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::init<>())
      .def("__len__",
           [](const Vocabulary& self) {
             nb::gil_scoped_release no_gil;
             std::shared_lock lock(self.lock);
             return self.words.size();
           })
      .def("find", find, "words"_a,
           nb::sig("def find(self, words: collections.abc.Sequence[str | bytes]) -> NDArray[numpy.int32]"),
           "Numbers of the words; −1 where a word is not there.")
      .def("add", add, "words"_a,
           nb::sig("def add(self, words: collections.abc.Sequence[str | bytes]) -> NDArray[numpy.int32]"),
           "Numbers of the words; new ones are appended.")
      .def("words", words_of, "ids"_a.none() = nb::none(),
           nb::sig("def words(self, ids: NDArray[numpy.int32] | None = None) -> list[str]"),
           "The words of these numbers, or all in order.")
      .def("export", arrays_of, nb::sig("def export(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]"),
           "All words as UTF-8, and their n + 1 offsets.")
      .def_static(
          "from_arrays",
          [](const Bytes& bytes, const Offsets& offsets) {
            auto made = std::make_unique<Vocabulary>();
            fill(*made, bytes, offsets);
            return made.release();
          },
          nb::rv_policy::take_ownership, "bytes"_a, "offsets"_a,
          "The inverse of export; refuses what export cannot give.")
      .def("union", unite, "other"_a, nb::sig("def union(self, other: Vocabulary) -> NDArray[numpy.int32]"),
           "Append the other's new words; the other's numbers in this vocabulary.")
      .def("__getstate__", arrays_of)
      .def("__setstate__", [](Vocabulary& self, std::pair<Bytes, Offsets> state) {
        new (&self) Vocabulary();
        fill(self, state.first, state.second);
      });
}
