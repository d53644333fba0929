#include "moments/moments.hpp"

#include <algorithm>
#include <cmath>

#include "support/simd.hpp"

namespace naively::moments {
namespace {

NAIVELY_INLINE void move_to_mean(MomentCell& cell, Triple n) {
  const double mean = rounded(cell.s1 / cell.n + cell.shift);
  change_shift(cell.s1, cell.s2, n, cell.shift, mean);
  cell.reach += std::abs(mean - cell.shift);
  cell.shift = mean;
}

NAIVELY_INLINE MomentCell signed_sum(MomentCell a, MomentCell b, int sign) {
  if (b.rows == 0) return a;
  if (a.rows == 0) a.shift = b.shift;
  if (b.shift != a.shift) {
    change_shift(b.s1, b.s2, {b.n, 0, 0}, b.shift, a.shift);
    b.reach += std::abs(b.shift - a.shift);
  }
  a.rows += sign * b.rows;
  if (a.rows == 0) return {};
  const WithError<double> n = two_sum(a.n, sign * b.n);
  a.n = n.value;
  a.s1 = a.s1 + (sign < 0 ? -b.s1 : b.s1);
  a.s2 = a.s2 + (sign < 0 ? -b.s2 : b.s2);
  a.reach = std::max(a.reach, b.reach);
  if (n.error != 0 && is_off_centre(a.s1, a.s2, a.n)) move_to_mean(a, {n.value, n.error, 0});
  return a;
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
    const Triple ratio = cell.s1 / (cell.rows == 0 ? 1.0 : cell.n);  // an empty cell is all zeros
    mean[i] = rounded(ratio + cell.shift);
    squares[i] = std::max(0.0, rounded(cell.s2 + -(ratio * cell.s1)));
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
