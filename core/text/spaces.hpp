// Words of a text for the reader of mails, where a word is a run of characters that are not white space, or of letters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace naively::text {

struct SpacedText {
  std::string text;
  std::vector<std::pair<std::int64_t, std::int64_t>> long_words;  // where each starts and ends, in characters
};

// Joins the words of UTF-8 text by single spaces, and finds words of more than `max_characters`.
SpacedText single_spaces(std::string_view utf8, std::int64_t max_characters);

// The different words of an ASCII text in the order of their first occurrence: in lower case, with a prefix before
// each, and a space between them. A word is a run of letters, digits, underscores, and apostrophes between these.
std::string distinct_words(std::string_view ascii, std::string_view prefix);

// Where an ASCII text has http://, https://, ftp://, www. or mailto:, in any case, ascending.
std::vector<std::int64_t> link_starts(std::string_view ascii);

}  // namespace naively::text
