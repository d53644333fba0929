// Moments of the values of every class and column: n = Σ w, s1 = Σ w(x − k), s2 = Σ w(x − k)² about a shift k. (1)
//
//   mean = k + s1/n,   squares = Σ w(x − mean)² = s2 − s1²/n                                                  (2)
//   about another shift k' = k − Δ:   s1' = s1 + nΔ,   s2' = s2 + 2Δ·s1 + nΔ²                                 (3)
//
// s1 and s2 are Triples, so that values 10^9 times larger than the rest can be counted and removed again without a
// trace. n is a double, and rounded if weights do not sum exactly. (2) then errs by about (mean − k)²n/squares units in
// the last place, which is small while the shift is among the values.
#pragma once
#include <cstddef>
#include <cstdint>

#include "moments/triple_double.hpp"
#include "support/inputs.hpp"

namespace naively::moments {

struct MomentCell {
  std::int64_t rows = 0;
  double n = 0, shift = 0;
  Triple s1, s2;
  double reach = 0;  // the largest |x − shift| counted so far, or a bound on it
};

// Cells as arrays: rows is (classes, columns), state (9, classes, columns) in the order of the fields of MomentCell.
template <class Real, class Integer>
struct CellArrays {
  Integer* rows;
  Real* state;
  std::ptrdiff_t classes, columns;

  std::ptrdiff_t size() const { return classes * columns; }
  NAIVELY_INLINE MomentCell get(std::ptrdiff_t i) const {
    auto s = [&](int k) { return state[k * size() + i]; };
    return {rows[i], s(0), s(1), {s(2), s(3), s(4)}, {s(5), s(6), s(7)}, s(8)};
  }
  NAIVELY_INLINE void put(std::ptrdiff_t i, const MomentCell& cell) const {
    const auto& [n_rows, n, shift, s1, s2, reach] = cell;
    const double values[9] = {n, shift, s1.hi, s1.mid, s1.lo, s2.hi, s2.mid, s2.lo, reach};
    rows[i] = n_rows;
    for (int k = 0; k < 9; ++k) state[k * size() + i] = values[k];
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

// mean and variance are (classes, columns), out (rows, classes).
IrregularValues score_gaussian(const support::FloatTable& x, const double* mean, const double* variance,
                               std::ptrdiff_t classes, double* out, int n_threads);

}  // namespace naively::moments
