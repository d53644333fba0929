// Fast runs: values that lie bound each other, as most do, are summed exactly with half the operations of other runs.
//
// In units of `fast_bound`, a power of two, a fast run has |d| < 1, and no d but zeros below 2^-18, so that d is a
// multiple of 2^-70. Then a sum biased by 1.5 · 2^21 has its last place at 2^-31. Adding d to it cuts d = h + r into
// the multiple h of 2^-31 that was added, and a rest |r| ≤ 2^-32, and
//
//   d² = h·(d + r) + r²,   d + r = h + 2r exactly.
//
// Squares are summed by 30, of every other row, about a bias of 2, with last place 2^-51: what d² adds to that is z,
// |d² − z| ≤ 2^-52. g = h·(d + r) − z is a multiple of 2^-100 below 2^-52 + 2^-64, so that it is exact, and so is a sum
// of 30 of them. Only the sum of r², below 2^-60 and likewise in two parts, is rounded: by some 2^-115 for each value.
// Other runs are refused.
//
// float32 values are easier: with |d| ≥ 2^-22, d is a multiple of 2^-45, hence Σ d is exact for a run, and so is, about
// a bias of 8, Σ (d² − z). They are read eight at a time.
#pragma once
#include <algorithm>
#include <cstdint>

#include "moments/lane_sums.hpp"

namespace naively::moments {

using support::bits_as;
using support::doubles;
using support::finish_first;
using support::put_singles;
using support::shuffle;
using support::Singles;
using support::Vector;

// Rows at a time: their cache lines should stay until the next group needs them.
constexpr int kFastRunRows = 160, kFastRunRowsSingle = 256;
constexpr int kBlockRows = 60;  // twice 30, see above
constexpr double kMinFast = 0x1p-18, kMinFastSingle = 0x1p-22;
constexpr std::int64_t kUpperHalf = ~std::int64_t{UINT32_MAX};

// The bound that most runs keep, 8 to 16 typical distances; −1 if a square might underflow.
NAIVELY_INLINE double fast_bound_of(double bound) { return bound < 0x1p-400 ? -1.0 : bound; }

using Halves = Vector<std::uint32_t, 8>;

// The range of magnitudes that are not zero, by the upper halves of their bits, which compare as integers do. (Below
// 2^-1042 those are zero, too; compared with `fast_bound` such a number is as good as zero.)
struct MagnitudeRange {
  Halves most = {}, least = ~Halves{};  // the latter less by one, so that zero is not small

  template <bool fused>
  NAIVELY_INLINE void add(const Lanes& a, const Lanes& b) {
    using Eight = Vector<float, 8>;  // for which there is an instruction
    const Eight upper = shuffle<1, 3, 9, 11, 5, 7, 13, 15>(bits_as<Eight>(a), bits_as<Eight>(b));
    const Halves magnitude = bits_as<Halves>(upper) & INT32_MAX, less = magnitude - 1;
    most = support::greatest(magnitude, most);
    least = support::least(less, least);
    finish_first<fused>(most), finish_first<fused>(least);
  }
  // Of what was added as a (0) or as b (1): the largest magnitude, its lower half zero; and whether some are below a
  // power of two, or just above it.
  NAIVELY_INLINE Lanes largest(int which) const { return numbers(most, which); }
  NAIVELY_INLINE Mask reaches(int which, const Lanes& limit) const { return numbers(least, which) < limit; }

 private:
  NAIVELY_INLINE static Lanes numbers(const Halves& upper, int which) {
    return bits_as<Lanes>(which == 0 ? shuffle<0, 8, 1, 9, 4, 12, 5, 13>(Halves{}, upper)
                                     : shuffle<2, 10, 3, 11, 6, 14, 7, 15>(Halves{}, upper));
  }
};

// Stores the exact extremes of a run that may go beyond those known.
template <bool indexed, class Real>
NAIVELY_INLINE void note_extremes(const RunRows& rows, LaneSums& group) {
  const Lanes shift = load(group.shift);
  Lanes lowest = load(group.low), highest = load(group.high);
  const Real* const first = rows.first<Real>();
  for (int i = 0; i < rows.count; ++i) {
    const Lanes d = load(first + (indexed ? rows.place[i] : i * rows.stride)) - shift;
    lowest = least(d, lowest), highest = greatest(d, highest);
  }
  const Mask centred = shift == Lanes{};
  const Lanes reach = greatest(highest, -lowest);
  store(group.low, choose(centred, -reach, lowest)), store(group.high, choose(centred, reach, highest));
}

// Returns whether the sums of a run are exact; `most` is its largest |d|, of doubles without the lower half. If not,
// fast_bound may become wider.
template <bool fused, bool indexed, class Real>
NAIVELY_INLINE bool accept(const RunRows& rows, LaneSums& group, const Lanes& most, const Mask& tiny,
                           const Mask& crowded) {
  const Lanes bound = load(group.fast_bound), low = load(group.low), high = load(group.high);
  const Mask wide = ~(most < bound) | crowded;
  const Mask refused = wide | tiny | is_coarse(group, most, rows.count);
  // If the shift is zero only |d| counts.
  const Lanes known = choose(load(group.shift) == Lanes{}, greatest(high, -low), least(high, -low));
  if (!any<fused>(refused | ~(most < keep(known, Mask{} + kUpperHalf)))) return true;
  if (any<fused>(refused)) {
    store(group.fast_bound, choose(wide & (most < HUGE_VAL), least(bound + bound, load(group.bound)), bound));
    return false;
  }
  if (std::is_same_v<Real, float> && !any<fused>(load(group.shift) != Lanes{}))
    store(group.low, -greatest(most, known)), store(group.high, greatest(most, known));
  else
    note_extremes<indexed, Real>(rows, group);
  return true;
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

// c + a · b, rounded twice without a fused multiply-add.
template <bool fused>
NAIVELY_INLINE Lanes product_plus(const Lanes& a, const Lanes& b, const Lanes& c) {
  if constexpr (fused)
    return fused_plus(a, b, c);
  else
    return c + a * b;
}

// The sums of every other row of a block: of d², biased, of g and of r².
struct FastHalf {
  Lanes squares, errors = {}, tail = {};
};

// The sums of a run, and of a block of it.
struct FastSums {
  Lanes sum, rest = {};                                       // of h, biased, and of r
  Lanes squares = {}, middle = {}, last = {}, rounding = {};  // of what blocks have summed
  Lanes bias;
  FastHalf even, odd;  // an array would be in memory, not in registers
  Mask crowded = {};   // lanes whose sum of squares left its binade

  NAIVELY_INLINE explicit FastSums(const Lanes& bound)
      : sum(bound * 0x1.8p21), bias(bound * bound * 2.0), even{bias}, odd{bias} {}

  template <bool fused>
  NAIVELY_INLINE void add(const Lanes& d, FastHalf& half) {
    const Lanes s = sum + d, h = s - sum, r = d - h;
    sum = s, rest += r;
    const Lanes q = product_plus<fused>(d, d, half.squares), z = q - half.squares;
    half.squares = q;
    half.tail = product_plus<fused>(r, r, half.tail);
    half.errors += product_minus<fused>(h, d + r, z);
    finish_first<fused>(rest), finish_first<fused>(half.errors);
  }
  NAIVELY_INLINE void end_squares() {
    crowded |= ~(greatest(even.squares, odd.squares) < bias + bias);
    squares += (even.squares - bias) + (odd.squares - bias);
  }
  NAIVELY_INLINE void end_block() {
    end_squares();
    const Lanes2 both = two_sum(even.errors, odd.errors), above = two_sum(middle, both.value);
    const Lanes2 below = two_sum(last, (even.tail + odd.tail) + (both.error + above.error));
    middle = above.value, last = below.value, rounding += below.error;
    even = odd = FastHalf{bias};
  }
  template <bool fused>
  NAIVELY_INLINE void add_to(LaneSums& group, const Lanes& bound) const {
    const Lanes one = variable_one<fused>();
    Levels first(group.sum), second(group.squares);
    add_top<fused>(first, sum - bound * 0x1.8p21, one);
    add_top<fused>(first, rest, one);
    add_top<fused>(second, squares, one);
    add_middle<fused>(second, middle, one);
    add_middle<fused>(second, even.errors, one);
    add_middle<fused>(second, odd.errors, one);
    add_middle<fused>(second, last, one);
    add_middle<fused>(second, even.tail + odd.tail, one);
    second.last += rounding;
    first.put(group.sum), second.put(group.squares);
  }
};

template <bool fused, bool indexed, bool shifted>
NAIVELY_INLINE bool count_fast_body(const RunRows& rows, LaneSums& group) {
  const Lanes shift = load(group.shift), bound = load(group.fast_bound);
  FastSums sums(bound);
  MagnitudeRange range;
  const std::ptrdiff_t* const place = rows.place;
  const std::ptrdiff_t stride = rows.stride, next_step = rows.next_step;
  std::uintptr_t next = rows.next;
  auto difference = [&](int i) NAIVELY_INLINE_LAMBDA {
    const Lanes x = load(rows.x + (indexed ? place[i] : i * stride));
    return shifted ? x - shift : x;
  };
  for (int i = 0;;) {
    const int end = std::min(i + kBlockRows, rows.count);
    for (; i + 1 < end; i += 2) {
      if constexpr (indexed) prefetch_address(next), next += 2 * next_step;  // a cache line
      const Lanes first = difference(i), second = difference(i + 1);
      range.add<fused>(first, second);
      sums.add<fused>(first, sums.even);
      sums.add<fused>(second, sums.odd);
    }
    if (i < end) {
      const Lanes only = difference(i++);
      range.add<fused>(only, only);
      sums.add<fused>(only, sums.even);
    }
    if (i == rows.count) break;
    sums.end_block();
  }
  sums.end_squares();
  const Lanes most = greatest(range.largest(0), range.largest(1)), smallest = bound * kMinFast;
  if (!accept<fused, indexed, double>(rows, group, most, range.reaches(0, smallest) | range.reaches(1, smallest),
                                      sums.crowded | ~(sums.squares < bound * bound * 4.0)))
    return false;
  sums.add_to<fused>(group, bound);
  return true;
}

// The sums of float32 values in a run; of squares, of every other row.
struct FastSingles {
  Lanes bias, squares[2], sum = {}, errors = {};

  NAIVELY_INLINE explicit FastSingles(const Lanes& bound) : bias(bound * bound * 8.0), squares{bias, bias} {}

  template <bool fused>
  NAIVELY_INLINE void add(const Lanes& d, int part) {
    sum += d;
    const Lanes q = product_plus<fused>(d, d, squares[part]);
    errors += product_minus<fused>(d, d, q - squares[part]);
    squares[part] = q;
    finish_first<fused>(sum), finish_first<fused>(errors);
  }
  NAIVELY_INLINE Mask crowded() const { return ~(greatest(squares[0], squares[1]) < bias + bias); }
  template <bool fused>
  NAIVELY_INLINE void add_to(LaneSums& group) const {
    const Lanes one = variable_one<fused>();
    Levels first(group.sum), second(group.squares);
    add_top<fused>(first, sum, one);
    add_top<fused>(second, (squares[0] - bias) + (squares[1] - bias), one);
    add_middle<fused>(second, errors, one);
    first.put(group.sum), second.put(group.squares);
  }
};

// The same of float32 values, by their bits, of `wide` adjacent groups.
template <int wide>
struct SingleRange {
  using Bits = typename Singles<wide>::Bits;
  Bits most = {}, least = ~Bits{};

  template <bool fused>
  NAIVELY_INLINE void add(const Bits& bits) {
    const Bits magnitude = bits & INT32_MAX, less = magnitude - 1;
    most = support::greatest(magnitude, most);
    least = support::least(less, least);
    finish_first<fused>(most), finish_first<fused>(least);
  }
  NAIVELY_INLINE Lanes largest(int group) const { return doubles(most, group); }
  NAIVELY_INLINE Mask reaches(int group, const Lanes& limit) const { return doubles(least, group) < limit; }
};

// One group of float32 values, or two adjacent ones, of which both are counted or none. Shifts are float32 values, too,
// and a value bound a shift differs from it by a float32.
template <bool fused, bool shifted, int wide>
NAIVELY_INLINE bool count_fast_singles_body(const RunRows& rows, LaneSums* groups) {
  using Values = typename Singles<wide>::Values;
  FastSingles left(load(groups[0].fast_bound)),
      right(load(groups[wide - 1].fast_bound));  // an array would be in memory
  SingleRange<wide> range;
  Values shift = {};
  for (int k = 0; shifted && k < wide; ++k) put_singles(shift, k, load(groups[k].shift));
  const std::ptrdiff_t* const place = rows.place;
  std::uintptr_t next = rows.next;
  auto count = [&](int i, int part) NAIVELY_INLINE_LAMBDA {
    const float* const x = rows.single + place[i];
    Values d;
    std::memcpy(&d, x, sizeof d);
    if constexpr (shifted) d -= shift;
    range.template add<fused>(bits_as<typename Singles<wide>::Bits>(d));
    left.add<fused>(shifted ? doubles(d, 0) : load(x), part);
    if constexpr (wide == 2) right.add<fused>(shifted ? doubles(d, 1) : load(x + kLanes), part);
  };
  int i = 0;
  for (; i + 3 < rows.count; i += 4) {
    prefetch_address(next), prefetch_address(next + 2 * wide * rows.next_step);  // a cache line each, or half of one
    next += 4 * wide * rows.next_step;
    count(i, 0), count(i + 1, 1), count(i + 2, 0), count(i + 3, 1);
  }
  for (; i < rows.count; ++i) count(i, 0);
  auto good = [&](int k, const FastSingles& sums) NAIVELY_INLINE_LAMBDA {
    return accept<fused, true, float>(rows.group(k), groups[k], range.largest(k),
                                      range.reaches(k, load(groups[k].fast_bound) * kMinFastSingle), sums.crowded());
  };
  if (!good(0, left)) return false;
  if (wide == 2 && !good(1, right)) return false;
  left.add_to<fused>(groups[0]);
  if constexpr (wide == 2) right.add_to<fused>(groups[1]);
  return true;
}

}  // namespace naively::moments
