// Runs of values that lie near each other, which most do: summed exactly with half the operations of any other run.
//
// In units of `near`, a power of two, a run has |d| ≤ 1, and no d but zeros below 2^-18, so that d is a multiple of
// 2^-70. Then a sum biased by 1.5 · 2^21 has its last place at 2^-31: adding d to it cuts d = h + r into the multiple
// h of 2^-31 that was added, and a rest |r| ≤ 2^-32, and
//
//   d² = h·(d + r) + r²,   d + r = h + 2r exactly.
//
// Squares are summed by 30, about a bias of 2, with last place 2^-51: what d² adds to that is z, |d² − z| ≤ 2^-52.
// g = h·(d + r) − z is a multiple of 2^-100 below 2^-52 + 2^-64, so that it is exact, and so is a sum of 30 of them.
// Only the sum of r², below 2^-60 and in two parts, is rounded: by some 2^-115 for each value. Runs of other values
// are refused, and told.
//
// float32 values are easier: with |d| ≥ 2^-22, d is a multiple of 2^-45, hence Σ d is exact for a run, and so is, about
// a bias of 8, Σ (d² − z). They are read eight at a time.
#pragma once
#include <algorithm>
#include <cstdint>

#include "strip.hpp"

namespace naively::dense {

constexpr int near_run = 160;   // rows at a time: their cache lines should stay until the next strip needs them
constexpr int near_block = 30;  // see above; even
constexpr double near_smallest = 0x1p-18, near_smallest_single = 0x1p-22;

// What most runs keep within: 8 to 16 typical distances. Not where a square might underflow.
NAIVELY_INLINE double near_of(double within) { return within < 0x1p-400 ? -1.0 : within; }

typedef std::uint32_t Halves __attribute__((vector_size(32)));  // of the four doubles

// At least the largest and at most the smallest |d| that is not zero, up to the unit in the last place, by the
// integers that the bits of numbers are; for doubles of high and low halves apart, which is a bound.
template <class Bits>
struct Range {
  Bits most = {}, least = ~Bits{};
  NAIVELY_INLINE void add(const Bits& magnitudes, const Bits& minus_one) {
    most = magnitudes > most ? magnitudes : most;
    least = minus_one < least ? minus_one : least;
  }
};

NAIVELY_INLINE void add(Range<Halves>& range, const Lanes& d) {
  const Mask bits = reinterpret_cast<Mask>(d) & INT64_MAX;
  range.add(reinterpret_cast<Halves>(bits), reinterpret_cast<Halves>(bits - 1));
}

// The exact extremes of a run, if it may go beyond those known. Where the shift is zero only |d| counts.
template <bool indexed, class Real>
NAIVELY_INLINE void note_extremes(const Rows& rows, Strip& strip, const Lanes& most) {
  const Lanes shift = load(strip.shift), low = load(strip.low), high = load(strip.high);
  const Mask centred = shift == Lanes{};
  if (!any(most > (centred ? greatest(high, -low) : least(high, -low)))) return;
  Lanes lowest = low, highest = high;
  const Real* const first = rows.first<Real>();
  for (int i = 0; i < rows.count; ++i) {
    const Lanes d = load(first + (indexed ? rows.place[i] : i * rows.stride)) - shift;
    lowest = least(d, lowest), highest = greatest(d, highest);
  }
  const Lanes reach = greatest(highest, -lowest);
  store(strip.low, centred ? -reach : lowest), store(strip.high, centred ? reach : highest);
}

// Whether the sums of a run hold; if not, `near` may become wider.
NAIVELY_INLINE bool is_near(Strip& strip, const Lanes& most, const Lanes& smallest, const Mask& crowded, int rows,
                            double limit) {
  const Lanes near = load(strip.near);
  const Mask wide = ~(most <= near) | crowded;
  if (!any(wide | (smallest < near * limit) | is_coarse(strip, most, rows))) return true;
  store(strip.near, wide & (most < HUGE_VAL) ? least(near + near, load(strip.bound)) : near);
  return false;
}

// d · w − z, where that is a double.
template <bool fused>
NAIVELY_INLINE Lanes product_minus(const Lanes& d, const Lanes& w, const Lanes& z) {
  if constexpr (fused) {
    return fused_minus(d, w, z);
  } else {
    const Lanes p = d * w;
    return (p - z) + product_error<false>(d, w, p);
  }
}

// c + a · b; without a fused multiply-add rounded twice.
template <bool fused>
NAIVELY_INLINE Lanes product_plus(const Lanes& a, const Lanes& b, const Lanes& c) {
  if constexpr (fused)
    return fused_plus(a, b, c);
  else
    return c + a * b;
}

// The sums of a run, and of a block of it.
struct NearSums {
  Lanes sum, rest = {};                                      // of h, biased, and of r
  Lanes squares = {}, middle = {}, last = {}, rounding = {};  // of what blocks have summed
  Lanes bias, block, errors = {}, tail[2] = {};              // of d² and g, and of r² in two parts

  NAIVELY_INLINE explicit NearSums(const Lanes& near)
      : sum(near * 0x1.8p21), bias(near * near * 2.0), block(bias) {}

  template <bool fused>
  NAIVELY_INLINE void add(const Lanes& d, int part) {
    const Lanes s = sum + d, h = s - sum, r = d - h;
    sum = s, rest += r;
    const Lanes q = product_plus<fused>(d, d, block), z = q - block;
    block = q;
    errors += product_minus<fused>(h, d + r, z);
    tail[part] = product_plus<fused>(r, r, tail[part]);
  }
  // Whether the sum of squares has left its binade, per lane.
  NAIVELY_INLINE Mask end_block() {
    const Mask crowded = ~(block < bias + bias);
    squares += block - bias;
    const Lanes2 above = two_sum(middle, errors), below = two_sum(last, tail[0] + tail[1] + above.error);
    middle = above.value, last = below.value, rounding += below.error;
    block = bias, errors = tail[0] = tail[1] = Lanes{};
    return crowded;
  }
};

template <bool fused, bool indexed>
NAIVELY_INLINE bool count_near_body(const Rows& rows, Strip& strip) {
  const Lanes shift = load(strip.shift), near = load(strip.near), one = variable_one<fused>();
  NearSums sums(near);
  Range<Halves> range;
  Mask crowded = {};
  const std::ptrdiff_t* const place = rows.place;
  const std::ptrdiff_t stride = rows.stride, next_step = rows.next_step;
  std::uintptr_t next = rows.next;
  auto count = [&](int i, int part) __attribute__((always_inline)) {
    const Lanes d = load(rows.x + (indexed ? place[i] : i * stride)) - shift;
    add(range, d);
    sums.add<fused>(d, part);
  };
  for (int i = 0; i < rows.count;) {
    const int end = std::min(i + near_block, rows.count);
    for (; i + 1 < end; i += 2) {
      if constexpr (indexed) prefetch(next), next += 2 * next_step;  // a cache line
      count(i, 0), count(i + 1, 1);
    }
    if (i < end) count(i++, 0);
    crowded |= sums.end_block();
  }
  crowded |= ~(sums.squares < near * near * 4.0);
  const Lanes most = reinterpret_cast<Lanes>(range.most), smallest = reinterpret_cast<Lanes>(range.least);
  if (!is_near(strip, most, smallest, crowded, rows.count, near_smallest)) return false;
  note_extremes<indexed, double>(rows, strip, most);
  Levels first(strip.sum), second(strip.squares);
  add_top<fused>(first, sums.sum - near * 0x1.8p21, one);
  add_top<fused>(first, sums.rest, one);
  add_top<fused>(second, sums.squares, one);
  add_middle<fused>(second, sums.middle, one);
  add_middle<fused>(second, sums.last, one);
  second.last += sums.rounding;
  first.put(strip.sum), second.put(strip.squares);
  return true;
}

// `wide` strips side by side, of float32 values; all are counted, or none.
template <bool fused, int wide>
NAIVELY_INLINE bool count_near_singles_body(const Rows& rows, Strip* strips) {
  using Values = typename Singles<wide>::Values;
  using Bits = typename Singles<wide>::Bits;
  const Lanes one = variable_one<fused>();
  Values shift;
  Lanes sum[wide] = {}, squares[wide], errors[wide] = {};
  for (int k = 0; k < wide; ++k) {
    put_singles(shift, k, load(strips[k].shift));
    squares[k] = load(strips[k].near) * load(strips[k].near) * 8.0;
  }
  Range<Bits> range;
  std::uintptr_t next = rows.next;
  for (int i = 0; i < rows.count; ++i) {
    if (i % (4 / wide) == 0) prefetch(next), next += 4 * rows.next_step;  // a cache line
    Values x;
    std::memcpy(&x, rows.single + rows.place[i], sizeof x);
    const Values difference = x - shift;
    const Bits bits = reinterpret_cast<Bits>(difference) & INT32_MAX;
    range.add(bits, bits - 1);
    for (int k = 0; k < wide; ++k) {
      const Lanes d = doubles(difference, k);
      sum[k] += d;
      const Lanes q = product_plus<fused>(d, d, squares[k]);
      errors[k] += product_minus<fused>(d, d, q - squares[k]);
      squares[k] = q;
    }
  }
  const Values largest = reinterpret_cast<Values>(range.most), smallest = reinterpret_cast<Values>(range.least);
  bool good = true;
  for (int k = 0; k < wide; ++k) {
    const Lanes bias = load(strips[k].near) * load(strips[k].near) * 8.0;
    good &= is_near(strips[k], doubles(largest, k), doubles(smallest, k), ~(squares[k] < bias + bias), rows.count,
                    near_smallest_single);
    squares[k] -= bias;
  }
  for (int k = 0; good && k < wide; ++k) {
    note_extremes<true, float>(rows.lanes_on(k), strips[k], doubles(largest, k));
    Levels first(strips[k].sum), second(strips[k].squares);
    add_top<fused>(first, sum[k], one);
    add_top<fused>(second, squares[k], one);
    add_middle<fused>(second, errors[k], one);
    first.put(strips[k].sum), second.put(strips[k].squares);
  }
  return good;
}

}  // namespace naively::dense
