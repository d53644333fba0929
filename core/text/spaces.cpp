#include "text/spaces.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "text/keys.hpp"

namespace naively::text {
namespace {

char to_lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t index_of(char c) { return static_cast<unsigned char>(c); }

// A table of the bytes for which a condition holds.
template <class Condition>
constexpr std::array<bool, 256> bytes_with(Condition&& condition) {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = condition(static_cast<unsigned char>(i));
  return table;
}

constexpr auto kIsWordLetter = bytes_with([](unsigned char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
});
constexpr auto kMayEndWord = bytes_with([](unsigned char c) { return c <= ' ' || c >= 0x80; });
constexpr auto kMayStartLink =
    bytes_with([](unsigned char c) { return std::string_view("hHfFwWmM").find(static_cast<char>(c)) < 8; });

// Returns the bytes of the first character if it is white space as Python's str.split() has it, else 0.
std::size_t space_bytes(std::string_view utf8) {
  const char c = utf8[0];
  if (index_of(c) < 0x80) return c == ' ' || ('\t' <= c && c <= '\r') || ('\x1c' <= c && c <= '\x1f');
  for (const std::string_view space : {"\xC2\x85", "\xC2\xA0", "\xE1\x9A\x80", "\xE2\x80\xA8", "\xE2\x80\xA9",
                                       "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"})
    if (utf8.starts_with(space)) return space.size();
  const bool is_general =
      utf8.size() > 2 && utf8.starts_with("\xE2\x80") && index_of(utf8[2]) <= 0x8A;  // U+2000 to 200A
  return is_general ? 3 : 0;
}

std::int64_t n_characters(std::string_view utf8) {
  return std::count_if(utf8.begin(), utf8.end(), [](char c) { return (index_of(c) & 0xC0) != 0x80; });
}

// Whether a text has a word, given in lower case, at a position.
bool has_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.size() - at >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, char b) { return a == to_lower(b); });
}

}  // namespace

SpacedText single_spaces(std::string_view utf8, std::int64_t max_characters) {
  SpacedText spaced{std::string(utf8.size(), ' '), {}};
  std::size_t size = 0, counted = 0;  // bytes of the result, and those of which the characters are counted
  std::int64_t characters = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    if (const std::size_t n = space_bytes(utf8.substr(at))) {
      at += n;
      continue;
    }
    if (size > 0) ++size;
    const std::size_t start = size;
    do spaced.text[size++] = utf8[at++];
    while (at < utf8.size() && !(kMayEndWord[index_of(utf8[at])] && space_bytes(utf8.substr(at))));
    if (static_cast<std::int64_t>(size - start) <= max_characters) continue;
    const std::string_view text = std::string_view(spaced.text).substr(0, size);
    const std::int64_t n = n_characters(text.substr(start));
    if (n <= max_characters) continue;
    characters += n_characters(text.substr(counted, start - counted));
    spaced.long_words.emplace_back(characters, characters + n);
    counted = start;
  }
  spaced.text.resize(size);
  return spaced;
}

std::string distinct_words(std::string_view ascii, std::string_view prefix) {
  static const Seeds seeds = random_seeds();
  std::vector<std::uint8_t> text(ascii.size() + kShortBytes);  // bytes that make_key() may read, and an end of the last
  std::transform(ascii.begin(), ascii.end(), text.begin(), to_lower);
  std::vector<std::string_view> words;
  std::vector<std::uint32_t> slots(std::bit_ceil(ascii.size() + 1));  // the number of a word, from 1 on
  std::string joined;
  for (const std::uint8_t *at = text.data(), *end; at < text.data() + ascii.size(); at = end) {
    end = at + 1;
    if (!kIsWordLetter[*at]) continue;
    while (kIsWordLetter[*end] || (*end == '\'' && kIsWordLetter[end[1]])) ++end;
    const std::string_view word(reinterpret_cast<const char*>(at), static_cast<std::size_t>(end - at));
    std::size_t slot = make_key(at, static_cast<std::uint32_t>(word.size()), seeds).hash & (slots.size() - 1);
    while (slots[slot] && words[slots[slot] - 1] != word) slot = (slot + 1) & (slots.size() - 1);
    if (slots[slot]) continue;
    words.push_back(word);
    slots[slot] = static_cast<std::uint32_t>(words.size());
    (joined.empty() ? joined : joined += ' ').append(prefix).append(word);
  }
  return joined;
}

std::vector<std::int64_t> link_starts(std::string_view ascii) {
  std::vector<std::int64_t> starts;
  for (std::size_t at = 0; at < ascii.size(); ++at) {
    if (!kMayStartLink[index_of(ascii[at])]) continue;
    const char first = to_lower(ascii[at]);
    const bool is_link = first == 'h'   ? has_at(ascii, at, "http://") || has_at(ascii, at, "https://")
                         : first == 'f' ? has_at(ascii, at, "ftp://")
                         : first == 'w' ? has_at(ascii, at, "www.")
                                        : has_at(ascii, at, "mailto:");
    if (is_link) starts.push_back(static_cast<std::int64_t>(at));
  }
  return starts;
}

}  // namespace naively::text
