#include "text/tokenise.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace naively::text {
namespace {

constexpr std::size_t kSegmentBytes = 8192;  // folded at a time: text, bounds and keys stay in the first cache
constexpr std::size_t kMaxTokens = 2048;     // passed on at a time
constexpr std::string_view kBetween = " \xE2\x80\xA6 ";  // the words of a pair in a window: an ellipsis

bool starts_point(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

// Returns the end of a segment from p on that cuts no code point, so that the segments fold like the document.
const std::uint8_t* segment_end(const std::uint8_t* p, const std::uint8_t* end) {
  if (static_cast<std::size_t>(end - p) <= kSegmentBytes) return end;
  const std::uint8_t* cut = p + kSegmentBytes;
  for (int back = 0; back < 4; ++back)
    if (starts_point(cut[-back])) return cut - back;
  return cut;  // after four continuation bytes, of which the last belongs to no code point
}

}  // namespace

Tokeniser::Tokeniser(const Options& options, bool single)
    : options_(options),
      longest_(single ? 1 : options.longest),
      are_tokens_(options.cut == Cut::kWords && longest_ == 1 && options.stop_words.size() == 0),
      scanner_(options.lowercase, options.strip_accents),
      line_(256),
      bounds_(2 * kMaxTokens) {}

void Tokeniser::begin() {
  scanner_.begin();
  starts_.clear(), in_window_.clear();
  n_bounds_ = line_size_ = chars_done_ = 0;
  source_ = line_.data();
}

void Tokeniser::read(std::string_view document, TokenSink& sink) {
  begin();
  const auto* p = reinterpret_cast<const std::uint8_t*>(document.data());
  const auto* end = p + document.size();
  while (p < end) {
    const std::uint8_t* cut = segment_end(p, end);
    scanner_.feed(p, cut);
    p = cut;
    if (p < end) pass_on(sink, false);
  }
  scanner_.finish();
  pass_on(sink, true);
}

void Tokeniser::read(const std::string_view* words, std::size_t n, TokenSink& sink) {
  begin();
  for (std::size_t i = 0; i < n; ++i) add_word(words[i], false, sink);
  flush(sink);
}

void Tokeniser::pass_on(TokenSink& sink, bool last) {
  if (options_.cut == Cut::kChars) return add_chars(sink, last);
  if (are_tokens_) {
    if (scanner_.words()) sink.take(scanner_.text(), scanner_.bounds(), scanner_.words());
  } else {
    add_words(scanner_.text(), scanner_.bounds(), scanner_.words(), sink);
    if (last) flush(sink);
  }
  if (!last) scanner_.keep(scanner_.settled());
}

void Tokeniser::add_words(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n, TokenSink& sink) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto* start = reinterpret_cast<const char*>(text) + bounds[2 * i];
    const std::string_view word(start, bounds[2 * i + 1] - bounds[2 * i]);
    if (options_.cut == Cut::kWords)
      add_word(word, true, sink);
    else
      add_chars_of_word(word, sink);
  }
}

void Tokeniser::emit(std::size_t start, std::size_t end, TokenSink& sink) {
  bounds_[n_bounds_] = static_cast<std::uint32_t>(start);
  bounds_[n_bounds_ + 1] = static_cast<std::uint32_t>(end);
  n_bounds_ += 2;
  if (n_bounds_ == 2 * kMaxTokens) flush(sink);
}

void Tokeniser::flush(TokenSink& sink) {
  if (n_bounds_) sink.take(source_, bounds_.data(), n_bounds_ / 2);
  n_bounds_ = 0;
}

// Makes room for this many bytes at the end of the line.
void Tokeniser::make_room_in_line(std::size_t bytes, TokenSink& sink) {
  const std::size_t max_size = line_size_ + bytes + kPadding;
  if (line_.size() >= max_size) return;
  if (max_size > UINT32_MAX) throw std::length_error("an n-gram has over 4 GB: cut its words up beforehand");
  flush(sink);
  line_.resize(std::max(max_size, 2 * line_.size()));
  source_ = line_.data();
}

// Appends a word and a space to the line; returns where the word starts.
std::size_t Tokeniser::append_to_line(std::string_view word, bool padded, TokenSink& sink) {
  const std::size_t start = line_size_;
  make_room_in_line(word.size() + 1, sink);
  if (padded && word.size() <= kPadding)
    std::memcpy(line_.data() + start, word.data(), kPadding);  // most words: cheaper than a copy of their size
  else if (word.size())
    std::memcpy(line_.data() + start, word.data(), word.size());
  line_[start + word.size()] = ' ';
  line_size_ = start + word.size() + 1;
  return start;
}

void Tokeniser::add_word(std::string_view word, bool padded, TokenSink& sink) {
  if (options_.stop_words.size() && options_.stop_words.find(word) >= 0) return;
  options_.window&& longest_ > 1 ? add_pairs(word, padded, sink) : add_ngrams(word, padded, sink);
}

// Appends a word to the line and emits the n-grams that it ends, which are pieces of the line.
void Tokeniser::add_ngrams(std::string_view word, bool padded, TokenSink& sink) {
  if (line_size_ > kSegmentBytes) {  // drop all but the words that later n-grams need
    flush(sink);
    const std::size_t n_needed = std::min(starts_.size(), static_cast<std::size_t>(longest_ - 1));
    const std::size_t from = n_needed ? starts_[starts_.size() - n_needed] : line_size_;
    std::memmove(line_.data(), line_.data() + from, line_size_ - from);
    starts_.erase(starts_.begin(), starts_.end() - static_cast<std::ptrdiff_t>(n_needed));
    for (auto& start : starts_) start -= static_cast<std::uint32_t>(from);
    line_size_ -= from;
  }
  starts_.push_back(static_cast<std::uint32_t>(append_to_line(word, padded, sink)));
  const std::size_t end = line_size_ - 1;
  const std::size_t words = starts_.size();
  for (std::size_t n = static_cast<std::size_t>(options_.shortest); n <= static_cast<std::size_t>(longest_); ++n)
    if (n <= words) emit(starts_[words - n], end, sink);
}

// Emits a word and its pairs with the words before it in the window. A pair is written to the line.
void Tokeniser::add_pairs(std::string_view word, bool padded, TokenSink& sink) {
  if (line_size_ > kSegmentBytes) {  // drop all but the words that later pairs need
    flush(sink);
    line_size_ = 0;
    for (auto& [start, size] : in_window_) {
      std::memmove(line_.data() + line_size_, line_.data() + start, size);
      start = std::exchange(line_size_, line_size_ + size);
    }
  }
  const std::size_t last = append_to_line(word, padded, sink);
  if (options_.shortest == 1) emit(last, last + word.size(), sink);
  for (auto before = in_window_.rbegin(); before != in_window_.rend(); ++before) {
    const auto [first, size] = *before;
    const std::size_t n = size + kBetween.size() + word.size();
    make_room_in_line(n, sink);
    const std::size_t start = std::exchange(line_size_, line_size_ + n);
    std::uint8_t* const line = line_.data();
    std::memcpy(line + start, line + first, size);
    std::memcpy(line + start + size, kBetween.data(), kBetween.size());
    std::memcpy(line + start + size + kBetween.size(), line + last, word.size());
    emit(start, start + n, sink);
  }
  in_window_.push_back({last, word.size()});
  if (in_window_.size() == static_cast<std::size_t>(options_.window)) in_window_.erase(in_window_.begin());
}

// Like scikit-learn's char_wb: n-grams of " word ", by length. A word shorter than a length is emitted once and ends
// there.
void Tokeniser::add_chars_of_word(std::string_view word, TokenSink& sink) {
  if (options_.stop_words.size() && options_.stop_words.find(word) >= 0) return;
  if (line_size_ > kSegmentBytes) flush(sink), line_size_ = 0;
  if (line_size_ == 0) append_to_line("", false, sink);  // the space before the first word; others follow a word
  const std::size_t begin = append_to_line(word, true, sink) - 1, end = line_size_;
  const auto next = [&](std::size_t at) {
    do ++at;
    while (at < end && !starts_point(line_[at]));
    return at;
  };
  for (int n = options_.shortest; n <= options_.longest; ++n) {
    std::size_t from = begin, to = begin;
    for (int i = 0; i < n && to < end; ++i) to = next(to);
    emit(from, to, sink);
    if (to == end) return;
    while (to < end) from = next(from), to = next(to), emit(from, to, sink);
  }
}

// Emits n-grams of the text. Between segments the scanner keeps what longer n-grams still need.
void Tokeniser::add_chars(TokenSink& sink, bool last) {
  const std::uint8_t* text = source_ = scanner_.text();
  const std::size_t size = scanner_.size(), longest = static_cast<std::size_t>(options_.longest);
  starts_.clear();
  for (std::size_t i = 0; i < size; ++i)
    if (starts_point(text[i])) starts_.push_back(static_cast<std::uint32_t>(i));
  const std::size_t chars = starts_.size();
  starts_.push_back(static_cast<std::uint32_t>(size));
  for (std::size_t i = chars_done_; i < chars; ++i)
    for (std::size_t n = static_cast<std::size_t>(options_.shortest); n <= std::min(longest, i + 1); ++n)
      emit(starts_[i + 1 - n], starts_[i + 1], sink);
  flush(sink);
  if (last) return;
  chars_done_ = std::min(chars, longest - 1);
  scanner_.keep(starts_[chars - chars_done_]);
}

std::vector<std::uint8_t> folded(std::string_view text, bool lowercase, bool strip_accents) {
  Scanner scanner(lowercase, strip_accents);
  const auto* p = reinterpret_cast<const std::uint8_t*>(text.data());
  scanner.begin();
  scanner.feed(p, p + text.size());
  scanner.finish();
  return {scanner.text(), scanner.text() + scanner.size()};
}

}  // namespace naively::text
