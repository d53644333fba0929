// The rows of a batch by class, tile by tile: sorted once for all columns that ask for it, if one does.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace naively::histogram {

class TilesByClass {
 public:
  static constexpr std::int64_t TILE = 1024;  // rows

  explicit TilesByClass(std::int64_t n_classes) : n_classes_(n_classes), next_(n_classes) {}

  // Labels in 0 .. n_classes − 1; they must stay until the next batch begins.
  void begin(const std::int32_t* label, std::int64_t n) {
    label_ = label;
    n_ = n;
    once_.emplace();
  }

  // Calls f(class, places of its rows in the tile, how many they are) for each class of the tile that begins at
  // `start`.
  template <class F>
  void each(std::int64_t start, F&& f) {
    std::call_once(*once_, [&] { sort(); });
    const std::int64_t tile = start / TILE;
    const std::uint16_t* const place = place_.data() + tile * room();
    for (std::int64_t k = first_[tile]; k < first_[tile + 1]; ++k)
      f(spans_[k].label, place + spans_[k].begin, spans_[k].end - spans_[k].begin);
  }

 private:
  static constexpr std::int64_t FEW = 4;  // classes
  struct Span {
    std::int32_t label;
    int begin, end;  // in the sorted rows of the tile
  };

  // Places of a tile.
  std::int64_t room() const { return n_classes_ <= FEW ? n_classes_ * TILE : TILE; }

  void sort() {
    const std::int64_t tiles = (n_ + TILE - 1) / TILE;
    if (static_cast<std::int64_t>(place_.size()) < tiles * room()) place_.resize(tiles * room());
    spans_.clear();
    first_.clear();
    for (std::int64_t start = 0; start < n_; start += TILE) {
      const auto n = static_cast<int>(std::min(TILE, n_ - start));
      first_.push_back(static_cast<std::int64_t>(spans_.size()));
      std::uint16_t* const place = place_.data() + start / TILE * room();
      switch (n_classes_) {
        case 2: gather<2>(label_ + start, n, place); break;
        case 3: gather<3>(label_ + start, n, place); break;
        case 4: gather<4>(label_ + start, n, place); break;
        default: sort(label_ + start, n, place);
      }
    }
    first_.push_back(static_cast<std::int64_t>(spans_.size()));
  }

  // Few classes have room for all rows of a tile each. Every row is written to all of them, and stays in its own: a
  // place that depended on the label would have to wait until the one before it is known.
  template <int classes>
  void gather(const std::int32_t* label, int n, std::uint16_t* place) {
    int next[classes] = {};
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < classes; ++c) {
        place[c * TILE + next[c]] = static_cast<std::uint16_t>(i);
        next[c] += label[i] == c;
      }
    for (int c = 0; c < classes; ++c)
      if (const int begin = c * static_cast<int>(TILE); next[c] > 0) spans_.push_back({c, begin, begin + next[c]});
  }

  void sort(const std::int32_t* label, int n, std::uint16_t* place) {
    for (int i = 0; i < n; ++i)
      if (next_[label[i]]++ == 0) seen_.push_back(label[i]);
    int begin = 0;
    for (const std::int32_t c : seen_) {
      spans_.push_back({c, begin, begin + next_[c]});
      begin += std::exchange(next_[c], begin);
    }
    for (int i = 0; i < n; ++i) place[next_[label[i]]++] = static_cast<std::uint16_t>(i);
    for (const std::int32_t c : seen_) next_[c] = 0;
    seen_.clear();
  }

  std::int64_t n_classes_, n_ = 0;
  const std::int32_t* label_ = nullptr;
  std::optional<std::once_flag> once_;
  std::vector<std::uint16_t> place_;
  std::vector<Span> spans_;
  std::vector<std::int64_t> first_;  // span of each tile
  std::vector<std::int32_t> next_, seen_;
};

}  // namespace naively::histogram
