#include "moments/moments.hpp"

#include <algorithm>
#include <cmath>

#include "support/simd.hpp"

namespace naively::moments {
namespace {

NAIVELY_INLINE MomentCell signed_sum(MomentCell a, MomentCell b, int sign) {
  if (b.rows == 0) return a;
  if (a.rows == 0) a.shift = b.shift;
  if (b.shift != a.shift) {
    change_shift(b.s1, b.s2, b.n, b.shift, a.shift);
    b.reach += std::abs(b.shift - a.shift);
  }
  a.rows += sign * b.rows;
  if (a.rows == 0) return {};
  a.error += b.error + kErrorTriple * (std::abs(a.n.hi) + std::abs(b.n.hi));
  a.n = a.n + (sign < 0 ? -b.n : b.n);
  a.n = renormalise(a.n.hi, a.n.mid, a.n.lo);  // again, because the high parts may have cancelled
  a.s1 = a.s1 + (sign < 0 ? -b.s1 : b.s1);
  a.s2 = a.s2 + (sign < 0 ? -b.s2 : b.s2);
  a.reach = std::max(a.reach, b.reach);
  return a;
}

// Returns whether the sums are, within their errors, those of n times the value `mean`.
NAIVELY_INLINE bool is_constant(const MomentCell& cell, double mean) {
  if (cell.rows <= 1) return true;
  const WithError<double> difference = two_sum(mean, -cell.shift);
  const Triple delta = {difference.value, difference.error, 0};
  const Triple n_delta = cell.n * delta;
  const double rest1 = rounded(cell.s1 + -n_delta);
  const double rest2 = rounded(cell.s2 + -((cell.s1 * 2.0 + -n_delta) * delta));  // Σ w(x − mean)²
  const double reach = cell.reach + std::abs(difference.value), error = cell.error + kErrorTriple * cell.n.hi;
  return std::abs(rest1) <= error * reach && rest2 <= error * reach * reach;
}

template <bool fused>
NAIVELY_INLINE void add_body(ConstMomentCells a, ConstMomentCells b, int sign, MomentCells out) {
  for (std::ptrdiff_t i = 0; i < out.size(); ++i) out.put(i, signed_sum(a.get(i), b.get(i), sign));
}

template <bool fused>
NAIVELY_INLINE void pool_body(ConstMomentCells cells, MomentCells out) {
  for (std::ptrdiff_t j = 0; j < out.columns; ++j) {
    MomentCell total;
    for (std::ptrdiff_t c = 0; c < cells.classes; ++c) total = signed_sum(total, cells.get(c * cells.columns + j), 1);
    out.put(j, total);
  }
}

template <bool fused>
NAIVELY_INLINE void describe_body(ConstMomentCells cells, double* mean, double* squares) {
  for (std::ptrdiff_t i = 0; i < cells.size(); ++i) {
    const MomentCell cell = cells.get(i);
    const Triple ratio = cell.s1 / (cell.rows == 0 ? Triple{1, 0, 0} : cell.n);  // an empty cell is all zeros
    const Triple spread = cell.s2 + -(ratio * cell.s1);
    mean[i] = rounded(ratio + cell.shift);
    squares[i] = is_constant(cell, mean[i]) ? 0.0 : std::max(rounded(spread), cell.error * cell.reach * cell.reach);
  }
}

NAIVELY_DISPATCH(void, add_cells, add_body, (ConstMomentCells a, ConstMomentCells b, int sign, MomentCells out),
                 (a, b, sign, out))
NAIVELY_DISPATCH(void, pool_cells, pool_body, (ConstMomentCells cells, MomentCells out), (cells, out))
NAIVELY_DISPATCH(void, describe_cells, describe_body, (ConstMomentCells cells, double* mean, double* squares),
                 (cells, mean, squares))

}  // namespace

void add_moments(ConstMomentCells a, ConstMomentCells b, int sign, MomentCells out) { add_cells(a, b, sign, out); }

void pool_moments(ConstMomentCells cells, MomentCells out) { pool_cells(cells, out); }

void describe_moments(ConstMomentCells cells, double* mean, double* squares) { describe_cells(cells, mean, squares); }

}  // namespace naively::moments
