#include "counts/cells.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace naively::counts {

CellsBuilder::CellsBuilder(std::vector<std::int64_t> start, std::int64_t n_sums)
    : start_(std::move(start)),
      used_(start_.size() - 1, 0),
      n_sums_(n_sums),
      room_(start_.back()),
      index_(room_),
      sums_(n_sums * room_),
      rows_(room_) {}

void CellsBuilder::append(std::int64_t c, const CellsView& cells, std::int64_t from, std::int64_t to) {
  const std::int64_t at = start_[c] + used_[c], n = to - from;
  used_[c] += n;
  std::copy_n(cells.index + from, n, index_.get() + at);
  std::copy_n(cells.rows + from, n, rows_.get() + at);
  for (std::int64_t f = 0; f < n_sums_; ++f)
    std::copy_n(cells.sums + f * cells.size + from, n, sums_.get() + f * room_ + at);
}

namespace {

// Moves the cells of each class to their position in the finished table. A target never lies above its source, nor
// above a source that is not moved yet, because no class is larger than its room.
template <class T>
void move_together(T* from, T* to, const std::vector<std::int64_t>& start, const std::int64_t* indptr) {
  for (std::size_t c = 0; c + 1 < start.size(); ++c)
    if (to + indptr[c] != from + start[c])
      std::memmove(to + indptr[c], from + start[c], (indptr[c + 1] - indptr[c]) * sizeof(T));
}

}  // namespace

Cells CellsBuilder::finish() && {
  Cells cells;
  cells.n_classes = static_cast<std::int64_t>(used_.size());
  cells.n_sums = n_sums_;
  cells.indptr = Buffer<std::int64_t>(cells.n_classes + 1);
  cells.indptr[0] = 0;
  for (std::int64_t c = 0; c < cells.n_classes; ++c) cells.indptr[c + 1] = cells.indptr[c] + used_[c];
  cells.size = cells.indptr[cells.n_classes];
  move_together(index_.get(), index_.get(), start_, cells.indptr.get());
  move_together(rows_.get(), rows_.get(), start_, cells.indptr.get());
  for (std::int64_t f = 0; f < n_sums_; ++f)
    move_together(sums_.get() + f * room_, sums_.get() + f * cells.size, start_, cells.indptr.get());
  index_.resize(cells.size);
  rows_.resize(cells.size);
  sums_.resize(n_sums_ * cells.size);
  cells.index = std::move(index_);
  cells.rows = std::move(rows_);
  cells.sums = std::move(sums_);
  return cells;
}

namespace {

// Returns the first index in [from, to) whose token is ≥ `token`, by doubling steps: near ones are reached at once.
std::int64_t seek(const std::int32_t* index, std::int64_t from, std::int64_t to, std::int32_t token) {
  std::int64_t step = 1, low = from;
  while (low + step < to && index[low + step] < token) {
    low += step;
    step *= 2;
  }
  return std::lower_bound(index + low, index + std::min(low + step, to), token) - index;
}

double channel(const CellsView& cells, std::int64_t f, std::int64_t i) { return cells.sums[f * cells.size + i]; }

// Class c of a ± b. Runs of a between the tokens of b are copied at once, so a small b costs little more than a copy.
void merge_class(const CellsView& a, const CellsView& b, int sign, std::int64_t c, std::vector<double>& sums,
                 CellsBuilder& builder) {
  std::int64_t i = a.indptr[c];
  const std::int64_t end = a.indptr[c + 1];
  for (std::int64_t j = b.indptr[c]; j < b.indptr[c + 1]; ++j) {
    const std::int32_t token = b.index[j];
    const std::int64_t next = seek(a.index, i, end, token);
    builder.append(c, a, i, next);
    const bool both = next < end && a.index[next] == token;
    const std::int64_t rows = (both ? a.rows[next] : 0) + sign * b.rows[j];
    for (std::int64_t f = 0; f < a.n_sums; ++f) sums[f] = (both ? channel(a, f, next) : 0.0) + sign * channel(b, f, j);
    if (rows != 0) builder.append(c, token, sums.data(), rows);
    i = next + both;
  }
  builder.append(c, a, i, end);
}

}  // namespace

Cells merge_cells(const CellsView& a, const CellsView& b, int sign) {
  std::vector<std::int64_t> start(a.n_classes + 1);
  for (std::int64_t c = 0; c <= a.n_classes; ++c) start[c] = a.indptr[c] + b.indptr[c];
  CellsBuilder builder(std::move(start), a.n_sums);
  std::vector<double> sums(a.n_sums);
  for (std::int64_t c = 0; c < a.n_classes; ++c) merge_class(a, b, sign, c, sums, builder);
  return std::move(builder).finish();
}

namespace {

struct Moved {
  std::int32_t token;
  std::int64_t from;
};

// Lists the cells of one new class in order of their new tokens. Cells with the same token keep the order of the table.
void gather_class(const CellsView& cells, const std::vector<std::int64_t>& sources, const std::int32_t* index_map,
                  std::vector<Moved>& moved) {
  moved.clear();
  for (const std::int64_t c : sources)
    for (std::int64_t i = cells.indptr[c]; i < cells.indptr[c + 1]; ++i)
      if (const std::int32_t token = index_map[cells.index[i]]; token >= 0) moved.push_back({token, i});
  const auto by_token = [](const Moved& x, const Moved& y) { return x.token < y.token; };
  if (!std::is_sorted(moved.begin(), moved.end(), by_token)) std::stable_sort(moved.begin(), moved.end(), by_token);
}

void check_tokens(const CellsView& cells, std::int64_t n_tokens) {
  for (std::int64_t i = 0; i < cells.size; ++i)
    if (cells.index[i] < 0 || cells.index[i] >= n_tokens)
      throw std::invalid_argument("token " + std::to_string(cells.index[i]) + " in a table of " +
                                  std::to_string(n_tokens) + " tokens; the table and its tokens do not match");
}

}  // namespace

Cells renumber_cells(const CellsView& cells, const std::int32_t* class_map, const std::int32_t* index_map,
                     std::int64_t n_tokens, std::int64_t n_classes) {
  check_tokens(cells, n_tokens);
  std::vector<std::vector<std::int64_t>> sources(n_classes);
  for (std::int64_t c = 0; c < cells.n_classes; ++c) {
    if (class_map[c] >= n_classes)
      throw std::invalid_argument("class_map gives class " + std::to_string(class_map[c]) + " of " +
                                  std::to_string(n_classes) + "; it must be below the number of classes");
    if (class_map[c] >= 0) sources[class_map[c]].push_back(c);
  }
  std::vector<std::int64_t> start(n_classes + 1, 0);
  for (std::int64_t c = 0; c < n_classes; ++c) {
    start[c + 1] = start[c];
    for (const std::int64_t s : sources[c]) start[c + 1] += cells.indptr[s + 1] - cells.indptr[s];
  }
  CellsBuilder builder(std::move(start), cells.n_sums);
  std::vector<Moved> moved;
  std::vector<double> sums(cells.n_sums);
  for (std::int64_t c = 0; c < n_classes; ++c) {
    gather_class(cells, sources[c], index_map, moved);
    for (std::size_t k = 0; k < moved.size();) {
      const std::int32_t token = moved[k].token;
      std::int64_t rows = cells.rows[moved[k].from];
      for (std::int64_t f = 0; f < cells.n_sums; ++f) sums[f] = channel(cells, f, moved[k].from);
      for (++k; k < moved.size() && moved[k].token == token; ++k) {
        rows += cells.rows[moved[k].from];
        for (std::int64_t f = 0; f < cells.n_sums; ++f) sums[f] += channel(cells, f, moved[k].from);
      }
      if (rows != 0) builder.append(c, token, sums.data(), rows);
    }
  }
  return std::move(builder).finish();
}

TokenMajor by_token(const CellsView& cells, std::int64_t n_tokens) {
  check_tokens(cells, n_tokens);
  TokenMajor result{Buffer<std::int64_t>(n_tokens + 1), Buffer<std::int32_t>(cells.size),
                    Buffer<std::int64_t>(cells.size)};
  std::int64_t* indptr = result.indptr.get();
  std::fill_n(indptr, n_tokens + 1, 0);
  for (std::int64_t i = 0; i < cells.size; ++i) ++indptr[cells.index[i] + 1];
  for (std::int64_t k = 0; k < n_tokens; ++k) indptr[k + 1] += indptr[k];
  std::vector<std::int64_t> next(indptr, indptr + n_tokens);
  for (std::int64_t c = 0; c < cells.n_classes; ++c)
    for (std::int64_t i = cells.indptr[c]; i < cells.indptr[c + 1]; ++i) {
      const std::int64_t at = next[cells.index[i]]++;
      result.classes[at] = static_cast<std::int32_t>(c);
      result.order[at] = i;
    }
  return result;
}

SelectedTokens select_tokens(const CellsView& cells, const std::int32_t* position, std::int64_t n_tokens,
                             std::int64_t n_selected) {
  // Calls act(class, cell, position, whether the class has another token at this position before). The tokens that are
  // not selected share the last position.
  const auto for_cells = [&](auto&& act) {
    for (std::int64_t c = 0; c < cells.n_classes; ++c) {
      bool has_others = false;
      for (std::int64_t i = cells.indptr[c]; i < cells.indptr[c + 1]; ++i) {
        const std::int64_t k = cells.index[i];
        if (k < 0 || k >= n_tokens || position[k] < -1 || position[k] >= n_selected)
          throw std::invalid_argument("a token of the cells has no position");
        const bool is_other = position[k] < 0;
        act(c, i, is_other ? n_selected : position[k], is_other && has_others);
        has_others |= is_other;
      }
    }
  };
  std::vector<char> is_present(n_tokens);
  std::vector<std::int64_t> next(n_selected +
                                 2);  // the number of cells of position k − 1, then where its next one goes
  for_cells([&](std::int64_t, std::int64_t i, std::int64_t k, bool again) {
    is_present[cells.index[i]] = 1;
    next[k + 1] += !again;
  });
  for (std::int64_t k = 0; k <= n_selected; ++k) next[k + 1] += next[k];
  const std::int64_t size = next[n_selected + 1];
  SelectedTokens selected{size,
                          std::count(is_present.begin(), is_present.end(), 1),
                          Buffer<std::int64_t>(n_selected + 2),
                          Buffer<std::int32_t>(size),
                          Buffer<double>(size * cells.n_sums),
                          Buffer<std::int64_t>(size)};
  std::copy_n(next.begin(), n_selected + 2, selected.start.get());
  for_cells([&](std::int64_t c, std::int64_t i, std::int64_t k, bool again) {
    const std::int64_t at = again ? next[k] - 1 : next[k]++;
    selected.owner[at] = static_cast<std::int32_t>(c);
    selected.rows[at] = k == n_selected ? 1 : cells.rows[i];
    for (std::int64_t f = 0; f < cells.n_sums; ++f) {
      double& sum = selected.sums[f * size + at];
      sum = (again ? sum : 0.0) + channel(cells, f, i);
    }
  });
  return selected;
}

}  // namespace naively::counts
