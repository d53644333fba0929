// The frame of a cell, chosen from some of its values: see strip.hpp for what it is, near_run.hpp for `near`.
#pragma once
#include <algorithm>
#include <cmath>

#include "moments/fast_run.hpp"

namespace naively::dense {

constexpr int sample_size = 15;

struct Frame {
  double shift = 0, bound = -1, near = -1, centre = 0;
};

// The lower median; reorders the values.
inline double median(double* values, int n) {
  double* const middle = values + (n - 1) / 2;
  std::nth_element(values, middle, values + n);
  return *middle;
}

// The median of those |value − centre| that are not zero, or 0.
inline double typical_distance(const double* values, int n, double centre) {
  double distance[sample_size];
  int kept = 0;
  for (int i = 0; i < n; ++i)
    if (values[i] != centre) distance[kept++] = std::abs(values[i] - centre);
  return kept == 0 ? 0.0 : median(distance, kept);
}

// The largest power of two up to x, or 0.
inline double power_below(double x) { return x > 0 ? std::ldexp(1.0, std::ilogb(x)) : 0.0; }

// Values that crowd around a point far from zero get it as their shift, others zero. 4096 typical distances leave
// few values even of a long-tailed column outside, and an error below 2^-99 of a typical square to those inside.
inline Frame frame_of(double* values, int n) {
  if (n == 0) return {};
  const double centre = median(values, n);
  const double spread = typical_distance(values, n, centre);
  const bool crowded = spread <= std::abs(centre) / 16;
  const double shift = crowded ? centre : 0.0;
  const double widest = crowded ? std::abs(centre) / 4 : 0x1p500;  // at |centre|/2 rounding might deceive
  const double typical = crowded ? spread : typical_distance(values, n, 0.0);
  return {shift, power_below(std::min(4096 * typical, widest)), near_of(power_below(std::min(16 * typical, widest))),
          centre};
}

}  // namespace naively::dense
