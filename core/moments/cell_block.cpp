#include "moments/cell_block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace naively::moments {
namespace {

constexpr int kSampleSize = 15;

// The frame of a cell, chosen from a sample of its values: see lane_sums.hpp for shift and bound.
struct Frame {
  double shift = 0, bound = -1, fast_bound = -1, centre = 0;
};

// Returns the lower median; reorders the values.
double median(double* values, int n) {
  double* const middle = values + (n - 1) / 2;
  std::nth_element(values, middle, values + n);
  return *middle;
}

// Returns the median of those |value − centre| that are not zero, or 0.
double typical_distance(const double* values, int n, double centre) {
  double distance[kSampleSize];
  int n_distances = 0;
  for (int i = 0; i < n; ++i)
    if (values[i] != centre) distance[n_distances++] = std::abs(values[i] - centre);
  return n_distances == 0 ? 0.0 : median(distance, n_distances);
}

// Returns the largest power of two up to x, or 0.
double power_below(double x) { return x > 0 ? std::ldexp(1.0, std::ilogb(x)) : 0.0; }

// Values close to a point far from zero get it as their shift, others zero. Few values, even of a long-tailed column,
// are outside 4096 typical distances, and the error is below 2^-99 of a typical square inside.
Frame frame_of(double* values, int n) {
  if (n == 0) return {};
  const double centre = median(values, n);
  const double spread = typical_distance(values, n, centre);
  const bool crowded = spread <= std::abs(centre) / 16;
  const double shift = crowded ? centre : 0.0;
  const double widest = crowded ? std::abs(centre) / 4 : 0x1p500;  // at |centre|/2 rounding might mislead
  const double typical = crowded ? spread : typical_distance(values, n, 0.0);
  return {shift, power_below(std::min(4096 * typical, widest)),
          fast_bound_of(power_below(std::min(16 * typical, widest))), centre};
}

// Counts a run in one group, or in two adjacent groups of float32 values. Returns false, and counts nothing, if the run
// is not fast.
template <bool fused, bool shifted>
NAIVELY_INLINE bool count_fast_run_body(const RunRows& rows, LaneSums* sums, bool pair) {
  if (rows.single)
    return pair ? count_fast_singles_body<fused, shifted, 2>(rows, sums)
                : count_fast_singles_body<fused, shifted, 1>(rows, sums);
  return rows.place ? count_fast_body<fused, true, shifted>(rows, sums[0])
                    : count_fast_body<fused, false, shifted>(rows, sums[0]);
}

// Counts a run in the groups of a class from `group` on; returns the first group in which it is not fast.
template <bool fused>
NAIVELY_INLINE std::ptrdiff_t count_fast_groups_body(const Tile& tile, int begin, int count, LaneSums* sums,
                                                     Backoff* backoff, std::ptrdiff_t group) {
  auto is_shifted = [&](std::ptrdiff_t k) NAIVELY_INLINE_LAMBDA { return any<fused>(load(sums[k].shift) != Lanes{}); };
  for (const std::ptrdiff_t end = tile.groups.count(); group < end;) {
    if (backoff[group].wait > 0) break;
    const RunRows rows = tile.rows(group, begin, count);
    auto is_fast = [&](bool pair) NAIVELY_INLINE_LAMBDA {
      return is_shifted(group) || (pair && is_shifted(group + 1))
                 ? count_fast_run_body<fused, true>(rows, sums + group, pair)
                 : count_fast_run_body<fused, false>(rows, sums + group, pair);
    };
    const bool pair = rows.single && group + 1 < end && backoff[group + 1].wait == 0 && tile.groups.are_adjacent(group);
    if (pair && is_fast(true)) {
      backoff[group].next_wait = backoff[group + 1].next_wait = 0;
      group += 2;
    } else if (is_fast(false)) {
      backoff[group].next_wait = 0;
      group += 1;
    } else {
      break;
    }
  }
  return group;
}

NAIVELY_DISPATCH(std::ptrdiff_t, count_fast_groups, count_fast_groups_body,
                 (const Tile& tile, int begin, int count, LaneSums* sums, Backoff* backoff, std::ptrdiff_t group),
                 (tile, begin, count, sums, backoff, group))

template <bool fused>
NAIVELY_INLINE Leftover count_any_run_body(const RunRows& rows, LaneSums& sums, LaneTotals& totals) {
  if (rows.weight) return count_weighted_run_body<fused>(rows, sums, totals);
  if (rows.single) return count_run_body<fused, true, float>(rows, sums);
  return rows.place ? count_run_body<fused, true, double>(rows, sums)
                    : count_run_body<fused, false, double>(rows, sums);
}

NAIVELY_DISPATCH(Leftover, count_any_run, count_any_run_body, (const RunRows& rows, LaneSums& sums, LaneTotals& totals),
                 (rows, sums, totals))

NAIVELY_DISPATCH(void, fold_group, fold_body, (LaneSums & sums, LaneTotals& totals), (sums, totals))

// In four sums, so that an addition need not wait for the one before it.
Triple sum_of(const double* x, int n) {
  Triple sums[4];
  for (int i = 0; i < n; ++i) sums[i % 4] = sums[i % 4] + x[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Counts one value by equation (1) of moments.hpp, with all bits of (x − shift)².
template <bool fused>
NAIVELY_INLINE void count_exactly_body(Triple& s1, Triple& s2, double x, double shift, double weight) {
  const WithError<double> difference = two_sum(x, -shift);
  const Triple d = {difference.value, difference.error, 0};
  const Triple weighted = d * weight;
  s1 = s1 + weighted;
  s2 = s2 + weighted * d;
}

NAIVELY_DISPATCH(void, count_exactly, count_exactly_body,
                 (Triple & s1, Triple& s2, double x, double shift, double weight), (s1, s2, x, shift, weight))

}  // namespace

CellBlock::CellBlock(std::ptrdiff_t classes, std::ptrdiff_t columns)
    : layout_{columns},
      classes_(classes),
      width_(layout_.count()),
      sums_(classes * width_),
      totals_(sums_.size()),
      rows_(classes),
      weight_(classes),
      pending_(classes),
      backoff_(sums_.size()) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    totals_[i] = {};
    std::fill_n(sums_[i].bound, kLanes, -1.0);
    std::fill_n(sums_[i].fast_bound, kLanes, -1.0);
  }
}

Triple CellBlock::weight_at(Position at) const {
  const LaneTotals& totals = totals_[at.group];
  return weight_[at.c] + -totals.lane(totals.missing_weight, at.lane);
}

void CellBlock::adopt_frames(const CellBlock& other) {
  std::copy_n(other.sums_.data(), sums_.size(), sums_.data());
  for (std::size_t i = 0; i < totals_.size(); ++i) std::copy_n(other.totals_[i].centre, kLanes, totals_[i].centre);
}

void CellBlock::choose_frames(const Tile& tile) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t group = 0; group < width_; ++group) {
      const RunRows rows = tile.rows(group, tile.first[c], tile.first[c + 1] - tile.first[c]);
      for (int k = 0; k < kLanes; ++k) choose_frame({c, c * width_ + group, k}, rows.lane(k));
    }
}

void CellBlock::count(const Tile& tile) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c) count(c, tile, tile.first[c], tile.first[c + 1]);
}

void CellBlock::count(std::ptrdiff_t c, const Tile& tile, int begin, int end) {
  const int longest = tile.single ? kFastRunRowsSingle : kFastRunRows;
  while (begin < end) {
    const int runs = (end - begin + longest - 1) / longest, count = (end - begin + runs - 1) / runs;  // of equal length
    count_run(c, tile, begin, count);
    begin += count;
  }
}

void CellBlock::count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count) {
  const std::ptrdiff_t first = c * width_;
  if (pending_[c] + count > kMaxRunRows) {
    for (std::ptrdiff_t group = 0; group < width_; ++group) fold(first + group);
    pending_[c] = 0;
  }
  pending_[c] += count;
  rows_[c] += count;
  is_weighted_ = tile.weight != nullptr;
  if (tile.weight)
    weight_[c] = weight_[c] + sum_of(tile.weight + begin, count);
  else
    weight_[c].hi += count;
  for (std::ptrdiff_t group = 0; group < width_; ++group) {
    if (!tile.weight) group = count_fast_groups(tile, begin, count, &sums_[first], &backoff_[first], group);
    if (group < width_) count_carefully(c, first + group, tile.rows(group, begin, count));
  }
}

void CellBlock::count_carefully(std::ptrdiff_t c, std::ptrdiff_t group, const RunRows& rows) {
  Backoff& backoff = backoff_[group];
  if (backoff.wait > 0)
    --backoff.wait;
  else
    backoff = {backoff.next_wait, static_cast<std::int8_t>(std::min(2 * backoff.next_wait + 1, 31))};
  for (int k = 0; k < kLanes; ++k)
    if (sums_[group].bound[k] < 0) choose_frame({c, group, k}, rows.lane(k));
  const Leftover left = count_any_run(rows, sums_[group], totals_[group]);
  for (int k = 0, todo = left.outside | left.coarse; todo >> k; ++k)
    if (todo >> k & 1) count_one_by_one({c, group, k}, rows.lane(k), left.coarse >> k & 1);
}

// Counts the values of a run that are outside the frame, or all of them, and changes the frame if it does not suit.
void CellBlock::count_one_by_one(Position at, const RunRows& rows, bool all) {
  LaneTotals& totals = totals_[at.group];
  const int k = at.lane;
  const double shift = sums_[at.group].shift[k], bound = sums_[at.group].bound[k];
  Triple s1 = totals.lane(totals.s1, k), s2 = totals.lane(totals.s2, k);
  double sample[kSampleSize];
  int n = 0, counted = 0;
  for (int i = 0; i < rows.count; ++i) {
    const double x = rows.at(i), weight = rows.weight ? rows.weight[i] : 1.0;
    if (!all && std::abs(x - shift) <= bound) continue;
    if (std::isnan(x)) {
      ++totals.missing[k];
      totals.set(totals.missing_weight, k, totals.lane(totals.missing_weight, k) + weight);
      continue;
    }
    totals.least[k] = std::min(totals.least[k], x), totals.greatest[k] = std::max(totals.greatest[k], x);
    if (std::isinf(x)) continue;  // the caller sees it in `largest` and refuses it
    count_exactly(s1, s2, x, shift, weight);
    ++counted;
    if (n < kSampleSize / 2) sample[n++] = x;
  }
  totals.set(totals.s1, k, s1), totals.set(totals.s2, k, s2);
  const bool constant = bound == 0;
  if (!(all || (constant && counted > 0) || (counted > 2 && counted > rows.count / 16))) return;
  if (constant) sample[n++] = shift;
  for (int i = 0; i < rows.count && n < kSampleSize; ++i)
    if (std::abs(rows.at(i) - shift) <= bound) sample[n++] = rows.at(i);
  set_frame(at, sample, n);
}

// From the first finite values.
void CellBlock::choose_frame(Position at, const RunRows& rows) {
  double sample[kSampleSize];
  int n = 0;
  for (int i = 0; i < rows.count && n < kSampleSize; ++i)
    if (std::isfinite(rows.at(i))) sample[n++] = rows.at(i);
  set_frame(at, sample, n);
}

void CellBlock::set_frame(Position at, double* sample, int n) {
  fold(at.group);
  LaneSums& sums = sums_[at.group];
  const Frame frame = frame_of(sample, n);
  if (sums.bound[at.lane] >= 0) move(at, frame.shift);
  totals_[at.group].centre[at.lane] = frame.centre;
  sums.shift[at.lane] = frame.shift;
  sums.bound[at.lane] = frame.bound;
  sums.fast_bound[at.lane] = frame.fast_bound;
  const double unit = std::max(frame.bound, 0.0);  // without a frame nothing is summed, and `fold` takes no bias
  sums.low[at.lane] = sums.high[at.lane] = 0;
  for (int level = 0; level < 3; ++level) {
    sums.sum[level][at.lane] = unit * kBias[level];
    sums.squares[level][at.lane] = unit * unit * kBias[level];
  }
}

void CellBlock::move(Position at, double shift) {
  LaneTotals& totals = totals_[at.group];
  double& old = sums_[at.group].shift[at.lane];
  if (old == shift) return;
  Triple s1 = totals.lane(totals.s1, at.lane), s2 = totals.lane(totals.s2, at.lane);
  change_shift(s1, s2, weight_at(at), old, shift);
  totals.set(totals.s1, at.lane, s1), totals.set(totals.s2, at.lane, s2);
  old = shift;
}

void CellBlock::fold(std::ptrdiff_t group) { fold_group(sums_[group], totals_[group]); }

void CellBlock::fold() {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t group = 0; group < width_ && rows_[c] > 0; ++group) fold(c * width_ + group);
}

void CellBlock::merge(const CellBlock& other) {
  is_weighted_ |= other.is_weighted_;
  for (std::ptrdiff_t c = 0; c < classes_; ++c) {
    for (std::ptrdiff_t group = c * width_; group < (c + 1) * width_; ++group)
      for (int k = 0; k < kLanes; ++k) merge({c, group, k}, other);
    weight_[c] = weight_[c] + other.weight_[c];
    rows_[c] += other.rows_[c];
  }
}

void CellBlock::merge(Position at, const CellBlock& other) {
  const int k = at.lane;
  LaneTotals& a = totals_[at.group];
  const LaneTotals& b = other.totals_[at.group];
  if (!other.is_empty(at)) {
    const double shift = other.sums_[at.group].shift[k];
    Triple s1 = b.lane(b.s1, k), s2 = b.lane(b.s2, k);
    double& own_shift = sums_[at.group].shift[k];
    if (is_empty(at)) own_shift = shift, a.centre[k] = b.centre[k];
    if (own_shift != shift) change_shift(s1, s2, other.weight_at(at), shift, own_shift);
    a.set(a.s1, k, a.lane(a.s1, k) + s1), a.set(a.s2, k, a.lane(a.s2, k) + s2);
    a.least[k] = std::min(a.least[k], b.least[k]), a.greatest[k] = std::max(a.greatest[k], b.greatest[k]);
  }
  a.missing[k] += b.missing[k];
  a.set(a.missing_weight, k, a.lane(a.missing_weight, k) + b.lane(b.missing_weight, k));
}

// Returns the cell about its centre, or about its mean if that is far from it: see moments.hpp.
MomentCell CellBlock::cell(Position at) const {
  if (is_empty(at)) return {};
  const LaneTotals& totals = totals_[at.group];
  const Triple n = weight_at(at);
  MomentCell cell = {rows_[at.c] - totals.missing[at.lane], n, sums_[at.group].shift[at.lane],
                     totals.lane(totals.s1, at.lane), totals.lane(totals.s2, at.lane)};
  auto move = [&](double to) {
    change_shift(cell.s1, cell.s2, n, cell.shift, to);
    cell.shift = to;
  };
  if (cell.shift != totals.centre[at.lane]) move(totals.centre[at.lane]);
  if (is_off_centre(cell.s1, cell.s2, n.hi)) move(rounded(cell.s1 / n.hi + cell.shift));
  cell.reach = std::max(totals.greatest[at.lane] - cell.shift, cell.shift - totals.least[at.lane]);
  cell.error = is_weighted_ ? kErrorTriple * weight_[at.c].hi : kErrorUnweighted * n.hi;
  return cell;
}

void CellBlock::write(MomentCells out, double* largest, std::ptrdiff_t first_column) const {
  std::fill_n(largest + first_column, layout_.columns, 0.0);
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t j = 0; j < layout_.columns; ++j) {
      const Position at = position(c, j);
      const LaneTotals& totals = totals_[at.group];
      double& most = largest[first_column + j];
      out.put(c * out.columns + first_column + j, cell(at));
      if (!is_empty(at)) most = std::max({most, std::abs(totals.least[at.lane]), std::abs(totals.greatest[at.lane])});
    }
}

}  // namespace naively::moments
