// Documents: views of strings, the buffers of an Arrow column, or lists of tokens. Nothing is copied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/compiler.hpp"
#include "text/tokenise.hpp"

namespace naively::text {

class Documents {
 public:
  // A view without data is a missing document.
  static Documents of_views(std::vector<std::string_view> views) {
    Documents made(views.size());
    made.views_ = std::move(views);
    return made;
  }
  // Document i is the tokens [first[i], first[i + 1]), or missing if missing[i] is not 0.
  static Documents of_tokens(std::vector<std::string_view> tokens, std::vector<std::size_t> first,
                             std::vector<char> missing) {
    Documents made(missing.size());
    made.views_ = std::move(tokens);
    made.first_ = std::move(first);
    made.missing_ = std::move(missing);
    return made;
  }
  // Arrow's layout: n + 1 offsets into `data`; bit `bit_offset + i` of `valid` is 1 if document i is present (null: all
  // are).
  template <class Offset>
  static Documents of_buffers(std::size_t n, const Offset* offsets, std::string_view data, const std::uint8_t* valid,
                              std::size_t bit_offset) {
    Documents made(n);
    (sizeof(Offset) == 4 ? made.narrow_ : made.wide_) = offsets;
    made.data_ = data;
    made.valid_ = valid;
    made.bit_offset_ = bit_offset;
    return made;
  }

  std::size_t size() const { return n_; }
  bool are_tokens() const { return !first_.empty(); }

  bool missing(std::size_t i) const {
    if (are_tokens()) return missing_[i];
    if (!narrow_ && !wide_) return !views_[i].data();
    const std::size_t bit = bit_offset_ + i;
    return valid_ && !(valid_[bit / 8] >> bit % 8 & 1);
  }

  // The size of a document in bytes, or a similar measure of work. Offsets are checked when they are read.
  std::size_t work(std::size_t i) const {
    if (are_tokens()) return 8 * (first_[i + 1] - first_[i]);
    return missing(i) ? 0 : text(i).size();
  }

  // The sum of the sizes of all documents.
  std::size_t total_work() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += work(i);
    return sum;
  }

  // Prefetches the first bytes of a document: the processor's own prefetching starts late in each document.
  void prefetch(std::size_t i) const {
    constexpr std::size_t kLine = 64, kMaxBytes = 8192;
    if (i >= n_ || are_tokens() || missing(i)) return;
    const std::string_view bytes = text(i).substr(0, kMaxBytes);
    for (std::size_t k = 0; k < bytes.size(); k += kLine) support::prefetch_once(bytes.data() + k);
  }

  void read(std::size_t i, Tokeniser& tokeniser, TokenSink& sink) const {
    if (are_tokens())
      tokeniser.read(views_.data() + first_[i], first_[i + 1] - first_[i], sink);
    else
      tokeniser.read(text(i), sink);
  }

  // The bytes of a document that is not a list of tokens.
  std::string_view text(std::size_t i) const {
    if (!narrow_ && !wide_) return views_[i];
    const std::int64_t from =
        narrow_ ? static_cast<const std::int32_t*>(narrow_)[i] : static_cast<const std::int64_t*>(wide_)[i];
    const std::int64_t to =
        narrow_ ? static_cast<const std::int32_t*>(narrow_)[i + 1] : static_cast<const std::int64_t*>(wide_)[i + 1];
    if (from < 0 || to < from || static_cast<std::uint64_t>(to) > data_.size())
      throw std::invalid_argument("document " + std::to_string(i) + " has the offsets " + std::to_string(from) +
                                  " to " + std::to_string(to) + " in " + std::to_string(data_.size()) +
                                  " bytes: offsets must not fall, nor pass the end");
    return data_.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
  }

 private:
  explicit Documents(std::size_t n) : n_(n) {}

  std::size_t n_;
  std::vector<std::string_view> views_;
  std::vector<std::size_t> first_;
  std::vector<char> missing_;
  const void *narrow_ = nullptr, *wide_ = nullptr;
  std::string_view data_;
  const std::uint8_t* valid_ = nullptr;
  std::size_t bit_offset_ = 0;
};

}  // namespace naively::text
