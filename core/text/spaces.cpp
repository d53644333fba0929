#include "text/spaces.hpp"

#include <algorithm>

namespace naively::text {
namespace {

// White space as Python's str.split() has it.
bool is_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r') || ('\x1c' <= c && c <= '\x1f'); }

}  // namespace

SpacedText single_spaces(std::string_view ascii, std::int64_t max_bytes) {
  SpacedText spaced;
  spaced.text.reserve(ascii.size());
  for (auto end = ascii.begin();;) {
    const auto start = std::find_if_not(end, ascii.end(), is_space);
    if (start == ascii.end()) return spaced;
    end = std::find_if(start, ascii.end(), is_space);
    if (!spaced.text.empty()) spaced.text += ' ';
    const auto first = static_cast<std::int64_t>(spaced.text.size());
    spaced.text.append(start, end);
    if (end - start > max_bytes) spaced.long_words.emplace_back(first, spaced.text.size());
  }
}

}  // namespace naively::text
