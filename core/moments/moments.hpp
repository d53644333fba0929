// Moments of the values of every class and column: n = Σ w, s1 = Σ w(x − k), s2 = Σ w(x − k)² about a shift k. (1)
//
//   mean = k + s1/n,   squares = Σ w(x − mean)² = s2 − s1²/n                                                  (2)
//   about another shift k' = k − Δ:   s1' = s1 + nΔ,   s2' = s2 + 2Δ·s1 + nΔ²                                 (3)
//
// n, s1 and s2 are Triples, so that values and weights 10^9 times larger than the rest can be counted and removed again
// without a trace. What rounding leaves is bounded by `error`:
//
//   |n − Σ w| ≤ error,   |s1 − Σ w(x − k)| ≤ error · reach,   |s2 − Σ w(x − k)²| ≤ error · reach²             (4)
//
// with the largest |x − k| as reach. A change of shift (3) by Δ keeps (4) if the reach grows by |Δ|. Sums add errors.
// Values have no spread if s1 and s2 are, within (4), those of n times one double: that decides what is zero.
#pragma once
#include <cstddef>
#include <cstdint>

#include "moments/triple_double.hpp"
#include "support/inputs.hpp"

namespace naively::moments {

struct MomentCell {
  std::int64_t rows = 0;
  Triple n;
  double shift = 0;
  Triple s1, s2;
  double reach = 0;  // the largest |x − shift| counted so far, or a bound on it
  double error = 0;  // see (4)
};

// Bounds of the error of a count, in units of n: without weights (see lane_sums.hpp; a frame is at most 2^16 reaches
// wide), and with weights or of one more operation on Triples.
constexpr double kErrorUnweighted = 0x1p-90, kErrorTriple = 0x1p-150;

constexpr int kStateSize = 12;

// Cells as arrays: rows is (classes, columns), state (12, classes, columns): n, shift, s1 (3), s2 (3), reach, the lower
// two parts of n, error.
template <class Real, class Integer>
struct CellArrays {
  Integer* rows;
  Real* state;
  std::ptrdiff_t classes, columns;

  std::ptrdiff_t size() const { return classes * columns; }
  NAIVELY_INLINE MomentCell get(std::ptrdiff_t i) const {
    auto s = [&](int k) { return state[k * size() + i]; };
    return {rows[i], {s(0), s(9), s(10)}, s(1), {s(2), s(3), s(4)}, {s(5), s(6), s(7)}, s(8), s(11)};
  }
  NAIVELY_INLINE void put(std::ptrdiff_t i, const MomentCell& cell) const {
    const auto& [n_rows, n, shift, s1, s2, reach, error] = cell;
    const double values[kStateSize] = {n.hi,   shift, s1.hi, s1.mid, s1.lo, s2.hi,
                                       s2.mid, s2.lo, reach, n.mid,  n.lo,  error};
    rows[i] = n_rows;
    for (int k = 0; k < kStateSize; ++k) state[k * size() + i] = values[k];
  }
};
using MomentCells = CellArrays<double, std::int64_t>;
using ConstMomentCells = CellArrays<const double, const std::int64_t>;

// Equation (3), from one shift to another.
NAIVELY_INLINE void change_shift(Triple& s1, Triple& s2, Triple n, double from, double to) {
  const WithError<double> difference = two_sum(from, -to);
  const Triple delta = {difference.value, difference.error, 0};
  const Triple n_delta = n * delta;
  s2 = s2 + (s1 * 2.0 + n_delta) * delta;
  s1 = s1 + n_delta;
}

// Returns whether the mean is further than four deviations from the shift.
NAIVELY_INLINE bool is_off_centre(const Triple& s1, const Triple& s2, double n) {
  const double distance = s1.hi / n;
  return distance * s1.hi > 16 * (s2.hi - distance * s1.hi);
}

// label[i] in 0 .. classes − 1 is the class of row i; weight may be null (all 1). largest[j] = max |x_ij|.
void count_moments(const support::FloatTable& x, const std::int32_t* label, const double* weight, MomentCells out,
                   double* largest, int n_threads);
void add_moments(ConstMomentCells a, ConstMomentCells b, int sign, MomentCells out);
void pool_moments(ConstMomentCells cells, MomentCells out);  // out has one class
void describe_moments(ConstMomentCells cells, double* mean, double* squares);

// The log density of every row under every class, columns independent and normal:
//
//   out_ic += Σ_j −½ (log 2πσ²_cj + z²_ijc),   z_ijc = (x_ij − μ_cj) / σ_cj                                    (4)
//
// over the columns j whose x_ij is not NaN (missing).
struct IrregularValues {
  std::ptrdiff_t infinite;  // the first column with an infinity, −1 if none; `out` is then of no use
  bool missing;             // whether a value is missing
};

// The parameters of some columns of a table (classes, stride): those of class c begin at c · stride.
struct GaussianTable {
  const double* mean;
  const double* variance;
  std::ptrdiff_t classes, stride;
};

// out is (rows, classes).
IrregularValues score_gaussian(const support::FloatTable& x, const GaussianTable& table, double* out, int n_threads);

}  // namespace naively::moments
