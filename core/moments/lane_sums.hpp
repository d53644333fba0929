// The inner loop of counting: a run of rows of one class, over a strip of four columns.
//
// About a frame (shift, bound), bound a power of two, d = x − shift and its square are summed at three levels. The
// first two start from a bias so large that adding never leaves its binade: then s = fl(a + d) errs by exactly
// d − (s − a), which three operations find (Dekker's fast two-sum; the idea of a bias is from Rump, Ogita, Oishi,
// "Accurate floating-point summation", 2008), and which goes to the next level. Only the third level rounds. For
// up to 2^10 values with |d| ≤ bound:
//
//   level   bias of Σ d          bias of Σ d²           unit in the last place of the latter
//     1     1.5 · 2^12 · bound   1.5 · 2^12 · bound²    2^-40 · bound²
//     2     1.5 · 2^-29 · bound  1.5 · 2^-29 · bound²   2^-81 · bound²
//     3     0                    0                      below 2^-123 · bound²
//
// Values with |d| > bound, and NaN, are left out and told, to be counted one by one. With bound ≤ |shift|/2 or
// shift = 0 the difference d is exact (Sterbenz's lemma), which is why frames are made so. Of float32 values d is a
// float32 then, and its square needs no more than 48 bits: it has no error to be added.
#pragma once
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "support/simd.hpp"
#include "support/table.hpp"

namespace naively::dense {

constexpr int longest_run = 1024;  // values between two folds: 2^10, see above

using Four = double[lanes];

struct alignas(64) Strip {
  Four sum[3], squares[3];  // by level, bias included
  Four low, high;           // smallest and largest d in this frame, or bounds of both with the largest |d| exact
  Four shift, bound;        // the frame; bound < 0 where there is none yet
  Four near;                // what most values keep within, likewise: see near_run.hpp
};

constexpr double bias[3] = {0x1.8p12, 0x1.8p-29, 0.0};  // in bounds, or in squares of bounds

// The sums of the strip since the beginning. The frame may have changed; the sums are about its present shift.
struct alignas(64) Totals {
  Four s1[3] = {}, s2[3] = {};  // Triples
  Four least, greatest;         // the smallest and the largest x
  Four missing_weight[2] = {};  // a sum and its error
  Four centre = {};             // a median of some values
  std::int64_t missing[lanes] = {};

  Totals() {
    for (int k = 0; k < lanes; ++k) least[k] = HUGE_VAL, greatest[k] = -HUGE_VAL;
  }
  Triple lane(const Four* field, int k) const { return {field[0][k], field[1][k], field[2][k]}; }
  void set(Four* field, int k, const Triple& value) {
    field[0][k] = value.hi, field[1][k] = value.mid, field[2][k] = value.lo;
  }
};

// The values of a strip: row i begins at x[place ? place[i] : i · stride], or so in `single` if that is there.
struct Rows {
  const double* x;
  const float* single;
  std::ptrdiff_t stride;
  const std::ptrdiff_t* place;
  const double* weight;  // of row i, or null
  int count;
  std::uintptr_t next;  // memory to ask for while at row i: next + i · next_step
  std::ptrdiff_t next_step;
  double at(int i) const {
    const std::ptrdiff_t at = place ? place[i] : i * stride;
    return single ? single[at] : x[at];
  }
  Rows lane(int k) const {
    Rows one = *this;
    if (single)
      one.single += k;
    else
      one.x += k;
    return one;
  }
  Rows lanes_on(int strips) const { return lane(strips * static_cast<int>(lanes)); }
  template <class Real>
  const Real* first() const {
    if constexpr (std::is_same_v<Real, float>)
      return single;
    else
      return x;
  }
};

// What a run leaves to be done by hand, one bit per lane.
struct Leftover {
  int outside = 0;  // some values were not within the bound
  int coarse = 0;   // all values were too small for the frame: nothing of the run was counted in this lane
};

struct Levels {
  Lanes top, middle, last;
  NAIVELY_INLINE explicit Levels(const Four* f) : top(load(f[0])), middle(load(f[1])), last(load(f[2])) {}
  NAIVELY_INLINE void put(Four* f) const { store(f[0], top), store(f[1], middle), store(f[2], last); }
  NAIVELY_INLINE void put_where(const Mask& wanted, Four* f) const {
    store(f[0], wanted ? top : load(f[0]));
    store(f[1], wanted ? middle : load(f[1]));
    store(f[2], wanted ? last : load(f[2]));
  }
};

// a − b, on the multiplier where there is a fused one: half of the subtractions there, half on the adder, are
// faster by a quarter where these are separate units. `one` must look like a variable to the compiler.
template <bool fused>
NAIVELY_INLINE Lanes minus(const Lanes& a, const Lanes& b, const Lanes& one) {
  if constexpr (fused)
    return fused_minus(a, one, b);
  else
    return a - b;
}

template <bool fused>
NAIVELY_INLINE void add_middle(Levels& to, const Lanes& x, const Lanes& one) {
  const Lanes s = to.middle + x;
  to.last += minus<fused>(x, minus<fused>(s, to.middle, one), one);
  to.middle = s;
}

template <bool fused>
NAIVELY_INLINE void add_top(Levels& to, const Lanes& x, const Lanes& one) {
  const Lanes s = to.top + x;
  const Lanes error = x - minus<fused>(s, to.top, one);
  to.top = s;
  add_middle<fused>(to, error, one);
}

// A run whose largest |d| is below this fraction of the bound is better served by a narrower one; a short run may
// be small by chance.
NAIVELY_INLINE double coarse_fraction(int rows) { return rows < 4 ? 0x1p-32 : 0x1p-24; }

NAIVELY_INLINE Mask is_coarse(const Strip& strip, const Lanes& reach, int rows) {
  return (reach < load(strip.bound) * coarse_fraction(rows)) & (reach > Lanes{});
}

NAIVELY_INLINE Leftover finish(Strip& strip, const Levels& sum, const Levels& squares, const Lanes& low,
                               const Lanes& high, const Mask& outside, int rows) {
  const Mask coarse = is_coarse(strip, greatest(high, -low), rows);
  sum.put_where(~coarse, strip.sum);
  squares.put_where(~coarse, strip.squares);
  store(strip.low, coarse ? load(strip.low) : least(low, load(strip.low)));
  store(strip.high, coarse ? load(strip.high) : greatest(high, load(strip.high)));
  Leftover left;
  for (int lane = 0; lane < lanes; ++lane) {
    left.coarse |= static_cast<int>(coarse[lane] & 1) << lane;
    left.outside |= static_cast<int>(outside[lane] & 1) << lane;
  }
  return left;
}

// Rows of weight 1.
template <bool fused, bool indexed, class Real>
NAIVELY_INLINE Leftover count_run_body(const Rows& rows, Strip& strip) {
  const Lanes shift = load(strip.shift), bound = load(strip.bound), one = variable_one<fused>();
  Levels sum(strip.sum), squares(strip.squares);
  Lanes low = {}, high = {};
  Mask inside = {};
  const Real* const first = rows.first<Real>();
  for (int i = 0; i < rows.count; ++i) {
    const Real* const x = first + (indexed ? rows.place[i] : i * rows.stride);
    if constexpr (indexed) prefetch(rows.next + i * rows.next_step);
    Lanes d = load(x) - shift;
    const Mask within = magnitude(d) <= bound;
    d = keep(d, within);
    inside += within;
    low = least(d, low), high = greatest(d, high);
    const Lanes square = d * d;
    add_top<fused>(sum, d, one);
    add_top<fused>(squares, square, one);
    if constexpr (!std::is_same_v<Real, float>) add_middle<fused>(squares, product_error<fused>(d, d, square), one);
  }
  return finish(strip, sum, squares, low, high, inside != Mask{} - rows.count, rows.count);
}

// Full two-sums, as weights are of any size: the bias then does no harm and no good.
NAIVELY_INLINE void add_middle(Levels& to, const Lanes& x) {
  const Lanes2 s = two_sum(to.middle, x);
  to.middle = s.value, to.last += s.error;
}

NAIVELY_INLINE void add_top(Levels& to, const Lanes& x) {
  const Lanes2 s = two_sum(to.top, x);
  to.top = s.value;
  add_middle(to, s.error);
}

template <bool fused>
NAIVELY_INLINE Leftover count_weighted_run_body(const Rows& rows, Strip& strip) {
  const Lanes shift = load(strip.shift), bound = load(strip.bound);
  Levels sum(strip.sum), squares(strip.squares);
  Lanes low = {}, high = {};
  Mask inside = {};
  for (int i = 0; i < rows.count; ++i) {
    Lanes d = load(rows.x + i * rows.stride) - shift;
    const Mask within = magnitude(d) <= bound;
    d = keep(d, within);
    inside += within;
    low = least(d, low), high = greatest(d, high);
    const Lanes2 first = two_product<fused>(d, broadcast(rows.weight[i]));
    const Lanes2 second = two_product<fused>(first.value, d), third = two_product<fused>(first.error, d);
    add_top(sum, first.value);
    add_middle(sum, first.error);
    add_top(squares, second.value);
    add_middle(squares, second.error);
    add_middle(squares, third.value);
    squares.last += third.error;
  }
  return finish(strip, sum, squares, low, high, inside != Mask{} - rows.count, rows.count);
}

// Moves what a strip has summed into its totals.
template <bool fused>
NAIVELY_INLINE void fold_body(Strip& strip, Totals& totals) {
  const Lanes bound = load(strip.bound), unit = greatest(bound, Lanes{}), shift = load(strip.shift);
  auto move = [](Four* from, Four* to, const Lanes& unit) {
    const Three<Lanes> before = {load(to[0]), load(to[1]), load(to[2])};
    const Three<Lanes> sum = before + renormalised<Lanes>(load(from[0]) - unit * bias[0],  // exact, both
                                                          load(from[1]) - unit * bias[1], load(from[2]));
    store(to[0], sum.hi), store(to[1], sum.mid), store(to[2], sum.lo);
    for (int level = 0; level < 3; ++level) store(from[level], unit * bias[level]);
  };
  move(strip.sum, totals.s1, unit);
  move(strip.squares, totals.s2, unit * unit);
  // d is exact, and so is x = shift + d. Without a frame there were missing values only.
  const Mask framed = bound >= Lanes{};
  store(totals.least, framed ? least(shift + load(strip.low), load(totals.least)) : load(totals.least));
  store(totals.greatest, framed ? greatest(shift + load(strip.high), load(totals.greatest)) : load(totals.greatest));
}

}  // namespace naively::dense
