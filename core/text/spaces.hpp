// ASCII text with one space between words, where a word is a run of characters that are not white space.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace naively::text {

struct SpacedText {
  std::string text;
  std::vector<std::pair<std::int64_t, std::int64_t>> long_words;  // where each starts and ends in `text`
};

// Joins the words of a text by single spaces, and finds words of more than `max_bytes` bytes.
SpacedText single_spaces(std::string_view ascii, std::int64_t max_bytes);

}  // namespace naively::text
