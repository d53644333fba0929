// The inner loop of counting: a run of rows of one class, over a group of four columns.
//
// About a frame (shift, bound), bound a power of two, d = x − shift and its square are summed at three levels. The
// first two start from a bias so large that adding never leaves its binade. Then s = fl(a + d) errs by exactly d − (s −
// a), which takes three operations (Dekker's fast two-sum; the bias is from Rump, Ogita, Oishi, "Accurate
// floating-point summation", 2008), and which goes to the next level. Only the third level rounds. For up to 2^10
// values with |d| ≤ bound:
//
//   level   bias of Σ d          bias of Σ d²           unit in the last place of the latter
//     1     1.5 · 2^12 · bound   1.5 · 2^12 · bound²    2^-40 · bound²
//     2     1.5 · 2^-29 · bound  1.5 · 2^-29 · bound²   2^-81 · bound²
//     3     0                    0                      below 2^-123 · bound²
//
// Values with |d| > bound, and NaN, are left out and reported, to be counted one by one. With bound ≤ |shift|/2 or
// shift = 0 the difference d is exact (Sterbenz's lemma), which is why frames are chosen so. d of float32 values is
// then a float32, and its square needs at most 48 bits: it has no error to add.
#pragma once
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "moments/triple_double.hpp"
#include "support/simd.hpp"

namespace naively::moments {

using support::any;
using support::broadcast;
using support::choose;
using support::fused_minus;
using support::fused_plus;
using support::greatest;
using support::keep;
using support::kLanes;
using support::Lanes;
using support::Lanes2;
using support::least;
using support::load;
using support::magnitude;
using support::Mask;
using support::pad_to_lanes;
using support::prefetch_address;
using support::product_error;
using support::store;
using support::two_product;
using support::variable_one;

constexpr int kMaxRunRows = 1024;  // between two folds: 2^10, see above

using Four = double[kLanes];

struct alignas(64) LaneSums {
  Four sum[3], squares[3];  // by level, bias included
  Four low, high;           // smallest and largest d in this frame, or bounds of both with the largest |d| exact
  Four shift, bound;        // the frame; bound < 0 where there is none yet
  Four fast_bound;          // a narrower bound that most values keep, likewise: see fast_run.hpp
};

constexpr double kBias[3] = {0x1.8p12, 0x1.8p-29, 0.0};  // in bounds, or in squares of bounds

// All sums of a group so far. The frame may have changed; the sums are about its current shift.
struct alignas(64) LaneTotals {
  Four s1[3] = {}, s2[3] = {};  // Triples
  Four least, greatest;         // the smallest and the largest x
  Four missing_weight[3] = {};  // a Triple
  Four centre = {};             // a median of some values
  std::int64_t missing[kLanes] = {};

  LaneTotals() {
    for (int k = 0; k < kLanes; ++k) least[k] = HUGE_VAL, greatest[k] = -HUGE_VAL;
  }
  Triple lane(const Four* field, int k) const { return {field[0][k], field[1][k], field[2][k]}; }
  void set(Four* field, int k, const Triple& value) {
    field[0][k] = value.hi, field[1][k] = value.mid, field[2][k] = value.lo;
  }
};

// The values of a group in a run: row i begins at x[place ? place[i] : i · stride], or in `single` if that is not null.
struct RunRows {
  const double* x;
  const float* single;
  std::ptrdiff_t stride;
  const std::ptrdiff_t* place;
  const double* weight;  // of row i, or null
  int count;
  std::uintptr_t next;  // memory to prefetch at row i: next + i · next_step
  std::ptrdiff_t next_step;
  double at(int i) const {
    const std::ptrdiff_t at = place ? place[i] : i * stride;
    return single ? single[at] : x[at];
  }
  RunRows lane(int k) const {
    RunRows one = *this;
    if (single)
      one.single += k;
    else
      one.x += k;
    return one;
  }
  RunRows group(int k) const { return lane(k * static_cast<int>(kLanes)); }
  template <class Real>
  const Real* first() const {
    if constexpr (std::is_same_v<Real, float>)
      return single;
    else
      return x;
  }
};

// What a run leaves to be counted one by one, one bit per lane.
struct Leftover {
  int outside = 0;  // some values were not within the bound
  int coarse = 0;   // all values were too small for the frame, and none was counted
};

struct Levels {
  Lanes top = {}, middle = {}, last = {};
  Levels() = default;
  NAIVELY_INLINE explicit Levels(const Four* f) : top(load(f[0])), middle(load(f[1])), last(load(f[2])) {}
  NAIVELY_INLINE void put(Four* f) const { store(f[0], top), store(f[1], middle), store(f[2], last); }
  NAIVELY_INLINE void put_where(const Mask& where, Four* f) const {
    store(f[0], choose(where, top, load(f[0])));
    store(f[1], choose(where, middle, load(f[1])));
    store(f[2], choose(where, last, load(f[2])));
  }
};

// a − b, on the multiplier if it is fused: with half of the subtractions there and half on the adder, processors with
// separate units are faster by a quarter. `one` must look like a variable to the compiler.
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

// A run whose largest |d| is below this fraction of the bound needs a narrower one; a short run may be small by chance.
NAIVELY_INLINE double coarse_fraction(int rows) { return rows < 4 ? 0x1p-32 : 0x1p-24; }

NAIVELY_INLINE Mask is_coarse(const LaneSums& sums, const Lanes& reach, int rows) {
  return (reach < load(sums.bound) * coarse_fraction(rows)) & (reach > Lanes{});
}

NAIVELY_INLINE Leftover finish(LaneSums& sums, const Lanes& low, const Lanes& high, const Mask& outside,
                               const Mask& coarse) {
  store(sums.low, choose(coarse, load(sums.low), least(low, load(sums.low))));
  store(sums.high, choose(coarse, load(sums.high), greatest(high, load(sums.high))));
  Leftover left;
  for (int lane = 0; lane < kLanes; ++lane) {
    left.coarse |= static_cast<int>(coarse[lane] & 1) << lane;
    left.outside |= static_cast<int>(outside[lane] & 1) << lane;
  }
  return left;
}

// Rows of weight 1.
template <bool fused, bool indexed, class Real>
NAIVELY_INLINE Leftover count_run_body(const RunRows& rows, LaneSums& sums) {
  const Lanes shift = load(sums.shift), bound = load(sums.bound), one = variable_one<fused>();
  Levels sum(sums.sum), squares(sums.squares);
  Lanes low = {}, high = {};
  Mask inside = {};
  const Real* const first = rows.first<Real>();
  for (int i = 0; i < rows.count; ++i) {
    const Real* const x = first + (indexed ? rows.place[i] : i * rows.stride);
    if constexpr (indexed) prefetch_address(rows.next + i * rows.next_step);
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
  const Mask coarse = is_coarse(sums, greatest(high, -low), rows.count);
  sum.put_where(~coarse, sums.sum);
  squares.put_where(~coarse, sums.squares);
  return finish(sums, low, high, inside != Mask{} - rows.count, coarse);
}

// Full two-sums without a bias, as weights are of any size.
NAIVELY_INLINE void add_middle(Levels& to, const Lanes& x) {
  const Lanes2 s = two_sum(to.middle, x);
  to.middle = s.value, to.last += s.error;
}

NAIVELY_INLINE void add_top(Levels& to, const Lanes& x) {
  const Lanes2 s = two_sum(to.top, x);
  to.top = s.value;
  add_middle(to, s.error);
}

// Adds to three numbers of a group, in the lanes of the mask.
NAIVELY_INLINE void add_where(const Mask& where, Four* to, const TripleOf<Lanes>& x) {
  const TripleOf<Lanes> sum = TripleOf<Lanes>{load(to[0]), load(to[1]), load(to[2])} + x;
  store(to[0], choose(where, sum.hi, load(to[0])));
  store(to[1], choose(where, sum.mid, load(to[1])));
  store(to[2], choose(where, sum.lo, load(to[2])));
}

// Rows of any weights; their sums go to the totals at once, because a bias would cost digits of small weights.
template <bool fused>
NAIVELY_INLINE Leftover count_weighted_run_body(const RunRows& rows, LaneSums& sums, LaneTotals& totals) {
  const Lanes shift = load(sums.shift), bound = load(sums.bound);
  Levels sum, squares;
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
  const Mask coarse = is_coarse(sums, greatest(high, -low), rows.count);
  add_where(~coarse, totals.s1, renormalise<Lanes>(sum.top, sum.middle, sum.last));
  add_where(~coarse, totals.s2, renormalise<Lanes>(squares.top, squares.middle, squares.last));
  return finish(sums, low, high, inside != Mask{} - rows.count, coarse);
}

// Moves the sums of a group into its totals.
template <bool fused>
NAIVELY_INLINE void fold_body(LaneSums& sums, LaneTotals& totals) {
  const Lanes bound = load(sums.bound), unit = greatest(bound, Lanes{}), shift = load(sums.shift);
  auto move = [](Four* from, Four* to, const Lanes& unit) {
    const TripleOf<Lanes> before = {load(to[0]), load(to[1]), load(to[2])};
    const TripleOf<Lanes> sum = before + renormalise<Lanes>(load(from[0]) - unit * kBias[0],  // exact, both
                                                            load(from[1]) - unit * kBias[1], load(from[2]));
    store(to[0], sum.hi), store(to[1], sum.mid), store(to[2], sum.lo);
    for (int level = 0; level < 3; ++level) store(from[level], unit * kBias[level]);
  };
  move(sums.sum, totals.s1, unit);
  move(sums.squares, totals.s2, unit * unit);
  // d is exact, and so is x = shift + d. Without a frame all values are missing.
  const Mask has_frame = bound >= Lanes{};
  store(totals.least, choose(has_frame, least(shift + load(sums.low), load(totals.least)), load(totals.least)));
  store(totals.greatest,
        choose(has_frame, greatest(shift + load(sums.high), load(totals.greatest)), load(totals.greatest)));
}

}  // namespace naively::moments
