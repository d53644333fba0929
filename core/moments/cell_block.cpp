#include "moments/cell_block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "moments/frame.hpp"

namespace naively::dense {
namespace {

// A run in one strip, or in two of float32 values side by side. False: it is not near, and has not been counted.
template <bool fused, bool shifted>
NAIVELY_INLINE bool count_near_run_body(const Rows& rows, Strip* strips, bool pair) {
  if (rows.single)
    return pair ? count_near_singles_body<fused, shifted, 2>(rows, strips)
                : count_near_singles_body<fused, shifted, 1>(rows, strips);
  return rows.place ? count_near_body<fused, true, shifted>(rows, strips[0])
                    : count_near_body<fused, false, shifted>(rows, strips[0]);
}

// A run in the strips of a class from `strip` on, up to the first where it is not near, which is told.
template <bool fused>
NAIVELY_INLINE std::ptrdiff_t count_near_strips_body(const Tile& tile, int begin, int count, Strip* strips,
                                                     Doubt* doubt, std::ptrdiff_t strip) {
  auto is_shifted = [&](std::ptrdiff_t k)
                        __attribute__((always_inline)) { return any<fused>(load(strips[k].shift) != Lanes{}); };
  for (const std::ptrdiff_t end = tile.strips.count(); strip < end;) {
    if (doubt[strip].wait > 0) break;
    const Rows rows = tile.rows(strip, begin, count);
    auto is_near = [&](bool pair) __attribute__((always_inline)) {
      return is_shifted(strip) || (pair && is_shifted(strip + 1))
                 ? count_near_run_body<fused, true>(rows, strips + strip, pair)
                 : count_near_run_body<fused, false>(rows, strips + strip, pair);
    };
    const bool pair = rows.single && strip + 1 < end && doubt[strip + 1].wait == 0 && tile.strips.side_by_side(strip);
    if (pair && is_near(true)) {
      doubt[strip].longer = doubt[strip + 1].longer = 0;
      strip += 2;
    } else if (is_near(false)) {
      doubt[strip].longer = 0;
      strip += 1;
    } else {
      break;
    }
  }
  return strip;
}

NAIVELY_DISPATCH(std::ptrdiff_t, count_near_strips, count_near_strips_body,
                 (const Tile& tile, int begin, int count, Strip* strips, Doubt* doubt, std::ptrdiff_t strip),
                 (tile, begin, count, strips, doubt, strip))

template <bool fused>
NAIVELY_INLINE Leftover count_any_run_body(const Rows& rows, Strip& strip) {
  if (rows.weight) return count_weighted_run_body<fused>(rows, strip);
  if (rows.single) return count_run_body<fused, true, float>(rows, strip);
  return rows.place ? count_run_body<fused, true, double>(rows, strip)
                    : count_run_body<fused, false, double>(rows, strip);
}

NAIVELY_DISPATCH(Leftover, count_any_run, count_any_run_body, (const Rows& rows, Strip& strip), (rows, strip))

NAIVELY_DISPATCH(void, fold_strip, fold_body, (Strip & strip, Totals& totals), (strip, totals))

// Adds to a sum kept with its error.
void add(double& sum, double& error, double x) {
  const Double2 next = two_sum(sum, x);
  sum = next.value, error += next.error;
}

// One value in full: equation (1) of moments.hpp, all of (x − shift)² kept.
template <bool fused>
NAIVELY_INLINE void count_exactly_body(Triple& s1, Triple& s2, double x, double shift, double weight) {
  const Double2 difference = two_sum(x, -shift);
  const Triple d = {difference.value, difference.error, 0};
  const Triple weighted = d * weight;
  s1 = s1 + weighted;
  s2 = s2 + weighted * d;
}

NAIVELY_DISPATCH(void, count_exactly, count_exactly_body,
                 (Triple & s1, Triple& s2, double x, double shift, double weight), (s1, s2, x, shift, weight))

}  // namespace

Panel::Panel(std::ptrdiff_t classes, std::ptrdiff_t columns)
    : layout_{columns},
      classes_(classes),
      width_(layout_.count()),
      strips_(classes * width_),
      totals_(strips_.size()),
      rows_(classes),
      weight_(classes),
      pending_(classes),
      doubt_(strips_.size()) {
  for (std::size_t i = 0; i < strips_.size(); ++i) {
    std::fill_n(strips_[i].bound, lanes, -1.0);
    std::fill_n(strips_[i].near, lanes, -1.0);
  }
}

Triple Panel::weight_at(Place at) const {
  const Four* const missing = totals_[at.strip].missing_weight;
  return Triple{weight_[at.c].value, weight_[at.c].error, 0} + -missing[0][at.lane] + -missing[1][at.lane];
}

void Panel::adopt_frames(const Panel& other) {
  std::copy_n(other.strips_.data(), strips_.size(), strips_.data());
  for (std::size_t i = 0; i < totals_.size(); ++i) std::copy_n(other.totals_[i].centre, lanes, totals_[i].centre);
}

void Panel::choose_frames(const Tile& tile) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t strip = 0; strip < width_; ++strip) {
      const Rows rows = tile.rows(strip, tile.first[c], tile.first[c + 1] - tile.first[c]);
      for (int k = 0; k < lanes; ++k) choose_frame({c, c * width_ + strip, k}, rows.lane(k));
    }
}

void Panel::count(const Tile& tile) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c) count(c, tile, tile.first[c], tile.first[c + 1]);
}

void Panel::count(std::ptrdiff_t c, const Tile& tile, int begin, int end) {
  const int longest = tile.single ? near_run_single : near_run;
  while (begin < end) {
    const int runs = (end - begin + longest - 1) / longest, count = (end - begin + runs - 1) / runs;  // of equal length
    count_run(c, tile, begin, count);
    begin += count;
  }
}

void Panel::count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count) {
  const std::ptrdiff_t first = c * width_;
  if (pending_[c] + count > longest_run) {
    for (std::ptrdiff_t strip = 0; strip < width_; ++strip) fold(first + strip);
    pending_[c] = 0;
  }
  pending_[c] += count;
  rows_[c] += count;
  if (tile.weight)
    for (int i = begin; i < begin + count; ++i) add(weight_[c].value, weight_[c].error, tile.weight[i]);
  else
    weight_[c].value += count;
  for (std::ptrdiff_t strip = 0; strip < width_; ++strip) {
    if (!tile.weight) strip = count_near_strips(tile, begin, count, &strips_[first], &doubt_[first], strip);
    if (strip < width_) count_carefully(c, first + strip, tile.rows(strip, begin, count));
  }
}

void Panel::count_carefully(std::ptrdiff_t c, std::ptrdiff_t strip, const Rows& rows) {
  Doubt& doubt = doubt_[strip];
  if (doubt.wait > 0)
    --doubt.wait;
  else
    doubt = {doubt.longer, static_cast<std::int8_t>(std::min(2 * doubt.longer + 1, 31))};
  for (int k = 0; k < lanes; ++k)
    if (strips_[strip].bound[k] < 0) choose_frame({c, strip, k}, rows.lane(k));
  const Leftover left = count_any_run(rows, strips_[strip]);
  for (int k = 0, todo = left.outside | left.coarse; todo >> k; ++k)
    if (todo >> k & 1) count_by_hand({c, strip, k}, rows.lane(k), left.coarse >> k & 1);
}

// Counts the values of a run that are outside the frame, or all of them, and changes the frame if it no longer suits.
void Panel::count_by_hand(Place at, const Rows& rows, bool all) {
  Totals& totals = totals_[at.strip];
  const int k = at.lane;
  const double shift = strips_[at.strip].shift[k], bound = strips_[at.strip].bound[k];
  Triple s1 = totals.lane(totals.s1, k), s2 = totals.lane(totals.s2, k);
  double sample[sample_size];
  int n = 0, counted = 0;
  for (int i = 0; i < rows.count; ++i) {
    const double x = rows.at(i), weight = rows.weight ? rows.weight[i] : 1.0;
    if (!all && std::abs(x - shift) <= bound) continue;
    if (std::isnan(x)) {
      ++totals.missing[k];
      add(totals.missing_weight[0][k], totals.missing_weight[1][k], weight);
      continue;
    }
    totals.least[k] = std::min(totals.least[k], x), totals.greatest[k] = std::max(totals.greatest[k], x);
    if (std::isinf(x)) continue;  // refused by the caller, who sees it in `largest`
    count_exactly(s1, s2, x, shift, weight);
    ++counted;
    if (n < sample_size / 2) sample[n++] = x;
  }
  totals.set(totals.s1, k, s1), totals.set(totals.s2, k, s2);
  const bool constant = bound == 0;
  if (!(all || (constant && counted > 0) || (counted > 2 && counted > rows.count / 16))) return;
  if (constant) sample[n++] = shift;
  for (int i = 0; i < rows.count && n < sample_size; ++i)
    if (std::abs(rows.at(i) - shift) <= bound) sample[n++] = rows.at(i);
  set_frame(at, sample, n);
}

// From the first values that are there.
void Panel::choose_frame(Place at, const Rows& rows) {
  double sample[sample_size];
  int n = 0;
  for (int i = 0; i < rows.count && n < sample_size; ++i)
    if (std::isfinite(rows.at(i))) sample[n++] = rows.at(i);
  set_frame(at, sample, n);
}

void Panel::set_frame(Place at, double* sample, int n) {
  fold(at.strip);
  Strip& strip = strips_[at.strip];
  const Frame frame = frame_of(sample, n);
  if (strip.bound[at.lane] >= 0) move(at, frame.shift);
  totals_[at.strip].centre[at.lane] = frame.centre;
  strip.shift[at.lane] = frame.shift;
  strip.bound[at.lane] = frame.bound;
  strip.near[at.lane] = frame.near;
  const double unit =
      std::max(frame.bound, 0.0);  // no value, no frame: nothing may be summed, and `fold` takes no bias
  strip.low[at.lane] = strip.high[at.lane] = 0;
  for (int level = 0; level < 3; ++level) {
    strip.sum[level][at.lane] = unit * bias[level];
    strip.squares[level][at.lane] = unit * unit * bias[level];
  }
}

void Panel::move(Place at, double shift) {
  Totals& totals = totals_[at.strip];
  double& old = strips_[at.strip].shift[at.lane];
  if (old == shift) return;
  Triple s1 = totals.lane(totals.s1, at.lane), s2 = totals.lane(totals.s2, at.lane);
  change_shift(s1, s2, weight_at(at), old, shift);
  totals.set(totals.s1, at.lane, s1), totals.set(totals.s2, at.lane, s2);
  old = shift;
}

void Panel::fold(std::ptrdiff_t strip) { fold_strip(strips_[strip], totals_[strip]); }

void Panel::fold() {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t strip = 0; strip < width_ && rows_[c] > 0; ++strip) fold(c * width_ + strip);
}

void Panel::merge(const Panel& other) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c) {
    for (std::ptrdiff_t strip = c * width_; strip < (c + 1) * width_; ++strip)
      for (int k = 0; k < lanes; ++k) merge({c, strip, k}, other);
    add(weight_[c].value, weight_[c].error, other.weight_[c].value);
    add(weight_[c].value, weight_[c].error, other.weight_[c].error);
    rows_[c] += other.rows_[c];
  }
}

void Panel::merge(Place at, const Panel& other) {
  const int k = at.lane;
  Totals& a = totals_[at.strip];
  const Totals& b = other.totals_[at.strip];
  if (!other.empty(at)) {
    const double shift = other.strips_[at.strip].shift[k];
    Triple s1 = b.lane(b.s1, k), s2 = b.lane(b.s2, k);
    double& mine = strips_[at.strip].shift[k];
    if (empty(at)) mine = shift, a.centre[k] = b.centre[k];
    if (mine != shift) change_shift(s1, s2, other.weight_at(at), shift, mine);
    a.set(a.s1, k, a.lane(a.s1, k) + s1), a.set(a.s2, k, a.lane(a.s2, k) + s2);
    a.least[k] = std::min(a.least[k], b.least[k]), a.greatest[k] = std::max(a.greatest[k], b.greatest[k]);
  }
  a.missing[k] += b.missing[k];
  for (const Four& part : b.missing_weight) add(a.missing_weight[0][k], a.missing_weight[1][k], part[k]);
}

// The cell about its centre, or its mean if that is far from it: see moments.hpp for why.
Cell Panel::cell(Place at) const {
  if (empty(at)) return {};
  const Totals& totals = totals_[at.strip];
  const Triple n = weight_at(at);
  Cell cell = {rows_[at.c] - totals.missing[at.lane], rounded(n), strips_[at.strip].shift[at.lane],
               totals.lane(totals.s1, at.lane), totals.lane(totals.s2, at.lane)};
  auto move = [&](double to) {
    change_shift(cell.s1, cell.s2, n, cell.shift, to);
    cell.shift = to;
  };
  if (cell.shift != totals.centre[at.lane]) move(totals.centre[at.lane]);
  if (off_centre(cell.s1, cell.s2, cell.n)) move(rounded(cell.s1 / cell.n + cell.shift));
  cell.reach = std::max(totals.greatest[at.lane] - cell.shift, cell.shift - totals.least[at.lane]);
  return cell;
}

void Panel::write(Cells out, double* largest, std::ptrdiff_t first_column) const {
  std::fill_n(largest + first_column, layout_.columns, 0.0);
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t j = 0; j < layout_.columns; ++j) {
      const Place at = place(c, j);
      const Totals& totals = totals_[at.strip];
      double& most = largest[first_column + j];
      out.put(c * out.columns + first_column + j, cell(at));
      if (!empty(at)) most = std::max({most, std::abs(totals.least[at.lane]), std::abs(totals.greatest[at.lane])});
    }
}

}  // namespace naively::dense
