#include "panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace naively::dense {
namespace {

template <bool fused>
NAIVELY_INLINE Leftover count_any_run_body(const Rows& rows, std::ptrdiff_t ahead, Strip& strip, bool careful) {
  if (rows.weight) return count_weighted_run_body<fused>(rows, strip);
  if (rows.index)
    return careful ? count_run_body<fused, true, true>(rows, ahead, strip)
                   : count_run_body<fused, false, true>(rows, ahead, strip);
  return careful ? count_run_body<fused, true, false>(rows, ahead, strip)
                 : count_run_body<fused, false, false>(rows, ahead, strip);
}

NAIVELY_DISPATCH(Leftover, count_any_run, count_any_run_body,
                 (const Rows& rows, std::ptrdiff_t ahead, Strip& strip, bool careful), (rows, ahead, strip, careful))

constexpr int sample_size = 15;

struct Frame {
  double shift = 0, bound = -1, centre = 0;
};

// The lower median; reorders the values.
double median(double* values, int n) {
  double* const middle = values + (n - 1) / 2;
  std::nth_element(values, middle, values + n);
  return *middle;
}

// The median of those |value − centre| that are not zero, or 0.
double typical_distance(const double* values, int n, double centre) {
  double distance[sample_size];
  int kept = 0;
  for (int i = 0; i < n; ++i)
    if (values[i] != centre) distance[kept++] = std::abs(values[i] - centre);
  return kept == 0 ? 0.0 : median(distance, kept);
}

// Values that crowd around a point far from zero get it as their shift, others zero. 4096 typical distances leave
// few values even of a long-tailed column outside, and an error below 2^-99 of a typical square to those inside.
Frame frame_of(double* values, int n) {
  if (n == 0) return {};
  const double centre = median(values, n);
  const double spread = typical_distance(values, n, centre);
  const bool crowded = spread <= std::abs(centre) / 16;
  const double shift = crowded ? centre : 0.0;
  const double widest = crowded ? std::abs(centre) / 2 : 0x1p500;
  const double bound = std::min(4096 * (crowded ? spread : typical_distance(values, n, 0.0)), widest);
  return {shift, bound > 0 ? std::ldexp(1.0, std::ilogb(bound)) : 0.0, centre};
}

// Adds to a sum kept with its error.
void add(Double2& sum, double x) {
  const Double2 next = two_sum(sum.value, x);
  sum = {next.value, sum.error + next.error};
}

// One value in full: equation (1) of moments.hpp, all of (x − shift)² kept.
void count_exactly(Triple& s1, Triple& s2, double x, double shift, double weight) {
  const Double2 difference = two_sum(x, -shift);
  const Triple d = {difference.value, difference.error, 0};
  const Triple weighted = d * weight;
  s1 = s1 + weighted;
  s2 = s2 + weighted * d;
}

}  // namespace

Panel::Panel(std::ptrdiff_t classes, std::ptrdiff_t width)
    : classes_(classes), width_(width), strips_(classes * width / lanes), totals_(classes * width), rows_(classes),
      weight_(classes), pending_(classes), careful_(strips_.size()) {
  for (std::size_t i = 0; i < strips_.size(); ++i) std::fill_n(strips_[i].bound, lanes, -1.0);
}

Triple Panel::weight_of(std::ptrdiff_t c, const Total& total) const {
  const Triple all = {weight_[c].value, weight_[c].error, 0};
  return all + -total.missing_weight.value + -total.missing_weight.error;
}

void Panel::adopt_frames(const Panel& other) {
  std::copy_n(other.strips_.data(), strips_.size(), strips_.data());
  for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i].centre = other.totals_[i].centre;
}

void Panel::choose_frames(const Tile& tile) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t j = 0; j < width_; ++j)
      choose_frame(c, j, tile.rows(j, tile.first[c], tile.first[c + 1] - tile.first[c]));
}

void Panel::count(const Tile& tile) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (int i = tile.first[c], end = tile.first[c + 1]; i < end; i += longest_run)
      count_run(c, tile, i, std::min(end - i, longest_run));
}

void Panel::count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count) {
  if (pending_[c] + count > longest_run) {
    for (std::ptrdiff_t j = 0; j < width_; ++j) fold(c, j);
    pending_[c] = 0;
  }
  pending_[c] += count;
  rows_[c] += count;
  if (tile.weight)
    for (int i = begin; i < begin + count; ++i) add(weight_[c], tile.weight[i]);
  else
    weight_[c].value += count;
  for (std::ptrdiff_t j = 0; j < width_; j += lanes) {
    Strip& cells = strip(c, j);
    char& careful = careful_[(c * width_ + j) / lanes];
    for (int k = 0; k < lanes; ++k)
      if (cells.bound[k] < 0) choose_frame(c, j + k, tile.rows(j + k, begin, count));
    const Rows rows = tile.rows(j, begin, count);
    Leftover left = count_any_run(rows, tile.ahead, cells, careful);
    if (left.again) careful = true, left = count_any_run(rows, tile.ahead, cells, careful);
    for (int k = 0, todo = left.outside | left.coarse; todo >> k; ++k)
      if (todo >> k & 1) count_by_hand(c, j + k, tile.rows(j + k, begin, count), left.coarse >> k & 1);
  }
}

// Counts the values of a run that are outside the frame of cell (c, j), or all of them, and changes the frame if
// it no longer suits.
void Panel::count_by_hand(std::ptrdiff_t c, std::ptrdiff_t j, const Rows& rows, bool all) {
  Total& total = totals_[c * width_ + j];
  const double k = shift(c, j), widest = bound(c, j);
  double sample[sample_size];
  int n = 0, counted = 0;
  for (int i = 0; i < rows.count; ++i) {
    const double x = rows.at(i), weight = rows.weight ? rows.weight[i] : 1.0;
    if (!all && std::abs(x - k) <= widest) continue;
    if (std::isnan(x)) {
      ++total.missing;
      add(total.missing_weight, weight);
      continue;
    }
    total.least = std::min(total.least, x), total.greatest = std::max(total.greatest, x);
    if (std::isinf(x)) continue;  // refused by the caller, who sees it in `largest`
    count_exactly(total.s1, total.s2, x, k, weight);
    ++counted;
    if (n < sample_size / 2) sample[n++] = x;
  }
  const bool constant = widest == 0;
  if (!(all || (constant && counted > 0) || (counted > 2 && counted > rows.count / 16))) return;
  if (constant) sample[n++] = k;
  for (int i = 0; i < rows.count && n < sample_size; ++i)
    if (std::abs(rows.at(i) - k) <= widest) sample[n++] = rows.at(i);
  set_frame(c, j, sample, n);
}

// From the first values that are there.
void Panel::choose_frame(std::ptrdiff_t c, std::ptrdiff_t j, const Rows& rows) {
  double sample[sample_size];
  int n = 0;
  for (int i = 0; i < rows.count && n < sample_size; ++i)
    if (std::isfinite(rows.at(i))) sample[n++] = rows.at(i);
  set_frame(c, j, sample, n);
}

void Panel::set_frame(std::ptrdiff_t c, std::ptrdiff_t j, double* sample, int n) {
  fold(c, j);
  Total& total = totals_[c * width_ + j];
  const Frame frame = frame_of(sample, n);
  Strip& cells = strip(c, j);
  if (cells.bound[j % lanes] >= 0 && cells.shift[j % lanes] != frame.shift)
    change_shift(total.s1, total.s2, weight_of(c, total), cells.shift[j % lanes], frame.shift);
  total.centre = frame.centre;
  cells.shift[j % lanes] = frame.shift;
  cells.bound[j % lanes] = frame.bound;
  for (int level = 0; level < 3; ++level) {
    cells.sum[level][j % lanes] = bias(level, frame.bound);
    cells.squares[level][j % lanes] = bias(level, frame.bound * frame.bound);
  }
}

void Panel::fold(std::ptrdiff_t c, std::ptrdiff_t j) {
  Strip& cells = strip(c, j);
  const std::ptrdiff_t k = j % lanes;
  const double unit = cells.bound[k];
  if (unit < 0) return;  // nothing but missing values yet
  auto taken = [&](Four* field, double unit) {
    double value[3];
    for (int level = 0; level < 3; ++level) {
      value[level] = field[level][k] - bias(level, unit);  // exact
      field[level][k] = bias(level, unit);
    }
    return renormalised(value[0], value[1], value[2]);
  };
  Total& total = totals_[c * width_ + j];
  total.s1 = total.s1 + taken(cells.sum, unit);
  total.s2 = total.s2 + taken(cells.squares, unit * unit);
  // d is exact, and so is x = shift + d.
  total.least = std::min(total.least, cells.shift[k] + std::exchange(cells.low[k], 0.0));
  total.greatest = std::max(total.greatest, cells.shift[k] + std::exchange(cells.high[k], 0.0));
  careful_[(c * width_ + j) / lanes] = false;
}

void Panel::fold() {
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t j = 0; j < width_; ++j)
      if (totals_[c * width_ + j].missing < rows_[c]) fold(c, j);
}

void Panel::merge(const Panel& other) {
  for (std::ptrdiff_t c = 0; c < classes_; ++c) {
    for (std::ptrdiff_t j = 0; j < width_; ++j) {
      Total &a = totals_[c * width_ + j], b = other.totals_[c * width_ + j];
      const double other_shift = other.strip(c, j).shift[j % lanes];
      if (a.missing == rows_[c]) shift(c, j) = other_shift, a.centre = b.centre;
      if (shift(c, j) != other_shift) change_shift(b.s1, b.s2, other.weight_of(c, b), other_shift, shift(c, j));
      a.s1 = a.s1 + b.s1, a.s2 = a.s2 + b.s2;
      a.least = std::min(a.least, b.least), a.greatest = std::max(a.greatest, b.greatest);
      a.missing += b.missing;
      add(a.missing_weight, b.missing_weight.value), add(a.missing_weight, b.missing_weight.error);
    }
    add(weight_[c], other.weight_[c].value), add(weight_[c], other.weight_[c].error);
    rows_[c] += other.rows_[c];
  }
}

// The cell about its centre, or its mean if that is far from it: see moments.hpp for why.
Cell Panel::cell(std::ptrdiff_t c, std::ptrdiff_t j) const {
  const Total& total = totals_[c * width_ + j];
  const Triple n = weight_of(c, total);
  Cell cell = {rows_[c] - total.missing, rounded(n), strip(c, j).shift[j % lanes], total.s1, total.s2};
  if (cell.rows == 0) return {};
  auto move = [&](double to) {
    change_shift(cell.s1, cell.s2, n, cell.shift, to);
    cell.shift = to;
  };
  if (cell.shift != total.centre) move(total.centre);
  if (off_centre(cell.s1, cell.s2, cell.n)) move(rounded(cell.s1 / cell.n + cell.shift));
  cell.reach = std::max(total.greatest - cell.shift, cell.shift - total.least);
  return cell;
}

void Panel::write(Cells out, double* largest, std::ptrdiff_t first_column, std::ptrdiff_t columns) const {
  std::fill_n(largest + first_column, columns, 0.0);
  for (std::ptrdiff_t c = 0; c < classes_; ++c)
    for (std::ptrdiff_t j = 0; j < columns; ++j) {
      const std::ptrdiff_t column = first_column + j;
      out.put(c * out.columns + column, cell(c, j));
      const Total& total = totals_[c * width_ + j];
      if (total.missing < rows_[c])
        largest[column] = std::max({largest[column], std::abs(total.least), std::abs(total.greatest)});
    }
}

}  // namespace naively::dense
