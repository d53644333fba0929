// Which numbers are above a threshold, and whether all of them are finite: one pass for both.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace naively::dense {

// out[i] = x[i] > threshold; returns whether every x[i] is finite.
template <class T>
bool above(const T* x, std::ptrdiff_t n, T threshold, bool* out) {
  constexpr std::ptrdiff_t AT_ONCE = 1024;  // the second look finds the numbers in the cache
  constexpr T LARGEST = std::numeric_limits<T>::max();
  bool finite = true;
  for (std::ptrdiff_t start = 0; start < n; start += AT_ONCE) {
    const std::ptrdiff_t stop = std::min(n, start + AT_ONCE);
    for (std::ptrdiff_t i = start; i < stop; ++i) out[i] = x[i] > threshold;
    std::int64_t odd = 0;
    for (std::ptrdiff_t i = start; i < stop; ++i) odd |= !((x[i] <= LARGEST) & (x[i] >= -LARGEST));
    finite &= odd == 0;
  }
  return finite;
}

}  // namespace naively::dense
