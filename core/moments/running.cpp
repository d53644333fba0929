#include "moments/running.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace naively::dense {

RunningMoments::RunningMoments(std::ptrdiff_t classes)
    : panel_(classes, lanes), waiting_(classes), values_(worth + most + lanes) {}

void RunningMoments::add(std::ptrdiff_t c, const double* x, const std::uint16_t* place, int n) {
  Waiting& waiting = waiting_[c];
  double* const values = values_.data();
  std::copy_n(waiting.x, waiting.n, values);
  int there = waiting.n;
  for (int i = 0; i < n; ++i) {
    const double value = x[place[i]];
    values[there] = value;
    there += std::abs(value) <= largest;
  }
  const int counted = there < worth ? 0 : there / static_cast<int>(lanes) * static_cast<int>(lanes);
  if (counted > 0) count(c, counted);
  waiting.n = there - counted;
  std::copy_n(values + counted, waiting.n, waiting.x);
}

// The first n values, which fill lines.
void RunningMoments::count(std::ptrdiff_t c, int n) {
  const Tile tile{Strips{lanes}, nullptr, false, 0, 0, 0, nullptr, values_.data(), nullptr, nullptr};
  panel_.count(c, tile, 0, n / static_cast<int>(lanes));
}

void RunningMoments::write(Cells out, std::ptrdiff_t j) {
  const auto classes = static_cast<std::ptrdiff_t>(waiting_.size());
  for (std::ptrdiff_t c = 0; c < classes; ++c) {
    Waiting& waiting = waiting_[c];
    if (waiting.n == 0) continue;
    std::copy_n(waiting.x, waiting.n, values_.data());
    const auto lines = static_cast<int>(padded(waiting.n));
    std::fill(values_.data() + waiting.n, values_.data() + lines, std::numeric_limits<double>::quiet_NaN());
    count(c, lines);
    waiting.n = 0;
  }
  panel_.fold();
  std::vector<std::int64_t> rows(classes * lanes), turned_rows(rows.size()), sum_rows(classes);
  std::vector<double> state(9 * rows.size()), turned_state(state.size()), sum_state(9 * classes), greatest(lanes);
  const Cells four{rows.data(), state.data(), classes, lanes}, sum{sum_rows.data(), sum_state.data(), 1, classes};
  const Cells turned{turned_rows.data(), turned_state.data(), lanes, classes};  // so that the four can be pooled
  panel_.write(four, greatest.data(), 0);
  for (std::ptrdiff_t c = 0; c < classes; ++c)
    for (std::ptrdiff_t k = 0; k < lanes; ++k) turned.put(k * classes + c, four.get(c * lanes + k));
  pool_moments({turned.rows, turned.state, lanes, classes}, sum);
  for (std::ptrdiff_t c = 0; c < classes; ++c) out.put(c * out.columns + j, sum.get(c));
}

}  // namespace naively::dense
