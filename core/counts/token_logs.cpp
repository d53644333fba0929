#include "counts/token_logs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/threads.hpp"

namespace naively::text {
namespace {

// log(1 + x). Of small whole numbers, which counts mostly are, it is looked up.
class Log1p {
 public:
  double operator()(double x) const {
    if (x >= 0 && x < kKnown) {
      const auto whole = static_cast<std::size_t>(x);
      if (static_cast<double>(whole) == x) return known()[whole];
    }
    return std::log1p(x);
  }

 private:
  static constexpr std::size_t kKnown = 4096;
  static const std::array<double, kKnown>& known() {
    static const auto once = [] {
      std::array<double, kKnown> logs;
      for (std::size_t n = 0; n < kKnown; ++n) logs[n] = std::log1p(static_cast<double>(n));
      return logs;
    }();
    return once;
  }
};

std::size_t checked(std::int32_t token, std::size_t n_tokens) {
  if (static_cast<std::size_t>(token) < n_tokens) return static_cast<std::size_t>(token);  // a negative one is larger
  throw std::invalid_argument("a cell has the token " + std::to_string(token) + ": tokens must be from 0 to " +
                              std::to_string(n_tokens) + " - 1");
}

// The cells of some tokens, strip by strip, so that what is written stays in the cache while all classes add to it:
// each class goes on where it was in the strip before.
class Stretch {
 public:
  Stretch(const CountCells& cells, std::size_t from, std::size_t to)
      : cells_(cells), from_(from), to_(to), left_(cells.n_classes) {
    for (std::size_t c = 0; c < cells.n_classes; ++c) {
      const std::int64_t start = cells.indptr[c], end = cells.indptr[c + 1];
      if (start < 0 || end < start || static_cast<std::size_t>(end) > cells.n_cells)
        throw std::invalid_argument("indptr falls, or passes the end, at class " + std::to_string(c));
      left_[c].first = from > 0 ? place_of(start, end, from) : start;
      left_[c].second = to < cells.n_tokens ? place_of(start, end, to) : end;
    }
  }

  // Calls work(from, to) for strips of so many tokens.
  template <class Work>
  void for_strips(std::size_t size, Work&& work) {
    for (std::size_t from = from_; from < to_; from += size) work(from, std::min(from + size, to_));
    for (std::size_t c = 0; c < left_.size(); ++c)
      if (const auto [i, end] = left_[c]; i < end) refuse(c, checked(cells_.index[i], cells_.n_tokens));
  }

  // Calls act(class, token, N) for the cells of a strip, class by class; and again if this is not the last time.
  template <class Act>
  void for_cells(std::size_t from, std::size_t to, bool last_time, Act&& act) {
    for (std::size_t c = 0; c < left_.size(); ++c) {
      auto [i, end] = left_[c];
      for (std::size_t k; i < end && (k = checked(cells_.index[i], cells_.n_tokens)) < to; ++i) {
        if (k < from) refuse(c, k);
        act(c, k, cells_.count[i]);
      }
      if (last_time) left_[c].first = i;
    }
  }

  std::size_t size() const {
    std::int64_t n = 0;
    for (const auto& [i, end] : left_) n += end - i;
    return static_cast<std::size_t>(n);
  }

 private:
  // Of the first cell that is not before the token.
  std::int64_t place_of(std::int64_t start, std::int64_t end, std::size_t token) const {
    const auto before = [](std::int32_t k, std::size_t t) { return k < static_cast<std::int64_t>(t); };
    return std::lower_bound(cells_.index + start, cells_.index + end, token, before) - cells_.index;
  }
  [[noreturn]] static void refuse(std::size_t c, std::size_t k) {
    throw std::invalid_argument("class " + std::to_string(c) + " has the token " + std::to_string(k) + " out of order");
  }

  const CountCells& cells_;
  std::size_t from_, to_;
  std::vector<std::pair<std::int64_t, std::int64_t>> left_;
};

constexpr std::size_t kStrip = std::size_t{1} << 15;  // values that a core's cache holds beside the cells

// Tokens to a strip with about so many values.
std::size_t strip_of(const CountCells& cells, std::size_t n_values) {
  return std::max<std::size_t>(cells.n_tokens / (n_values / kStrip + 1), 1);
}

// How many threads are worth so many values.
std::size_t threads_for(std::size_t n_values, int n_jobs) {
  return std::clamp<std::size_t>(n_values / kStrip, 1, static_cast<std::size_t>(std::max(n_jobs, 1)));
}

// A part of the tokens for each of n threads.
std::vector<Stretch> equal_parts(const CountCells& cells, std::size_t n) {
  std::vector<Stretch> parts;
  for (std::size_t p = 0; p < n; ++p) parts.emplace_back(cells, p * cells.n_tokens / n, (p + 1) * cells.n_tokens / n);
  return parts;
}

// The same with about as many cells in each, by a sample of them: the tokens that were met first have most.
std::vector<Stretch> parts_by_cells(const CountCells& cells, std::size_t n) {
  constexpr std::size_t kSample = 1024;
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; n > 1 && i < kSample; ++i)
    sample.push_back(checked(cells.index[i * cells.n_cells / kSample], cells.n_tokens));
  std::sort(sample.begin(), sample.end());
  std::vector<Stretch> parts;
  for (std::size_t p = 0, from = 0; p < n; ++p) {
    const std::size_t to = p + 1 < n ? sample[(p + 1) * kSample / n] : cells.n_tokens;
    parts.emplace_back(cells, from, to);
    from = to;
  }
  return parts;
}

}  // namespace

support::LargeArray<double> token_log_table(const CountCells& cells, const double* base, double alpha, int n_jobs) {
  const std::size_t n_classes = cells.n_classes, n_values = cells.n_tokens * n_classes;
  std::vector<Stretch> parts = equal_parts(cells, threads_for(n_values, n_jobs));
  support::LargeArray<double> table(n_values, support::Fill::kAnything);
  const Log1p log1p;
  support::parallel_for(static_cast<std::ptrdiff_t>(parts.size()), n_jobs, [&](std::ptrdiff_t p) {
    Stretch& part = parts[static_cast<std::size_t>(p)];
    part.for_strips(strip_of(cells, n_values), [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) std::fill_n(&table[k * n_classes], n_classes, base[k]);
      part.for_cells(from, to, true,
                     [&](std::size_t c, std::size_t k, double n) { table[k * n_classes + c] += log1p(n / alpha); });
    });
  });
  return table;
}

TokenLogs token_logs(const CountCells& cells, double alpha, int n_jobs) {
  std::vector<Stretch> parts = parts_by_cells(cells, threads_for(cells.n_cells, n_jobs));
  std::vector<std::size_t> first{0};  // of the parts, among the values
  for (const Stretch& part : parts) first.push_back(first.back() + part.size());
  TokenLogs made{support::LargeArray<std::int64_t>(cells.n_tokens + 1, support::Fill::kAnything),
                 support::LargeArray<std::int32_t>(first.back(), support::Fill::kAnything),
                 support::LargeArray<double>(first.back(), support::Fill::kAnything)};
  const Log1p log1p;
  support::parallel_for(static_cast<std::ptrdiff_t>(parts.size()), n_jobs, [&](std::ptrdiff_t p) {
    Stretch& part = parts[static_cast<std::size_t>(p)];
    std::size_t at = first[static_cast<std::size_t>(p)];
    std::vector<std::size_t> next;  // of the strip's tokens: how many values they have, then where the next one goes
    part.for_strips(strip_of(cells, cells.n_cells), [&](std::size_t from, std::size_t to) {
      next.assign(to - from, 0);
      part.for_cells(from, to, false, [&](std::size_t, std::size_t k, double) { ++next[k - from]; });
      for (std::size_t k = from; k < to; ++k) {
        made.start[k] = static_cast<std::int64_t>(at);
        at += std::exchange(next[k - from], at);
      }
      part.for_cells(from, to, true, [&](std::size_t c, std::size_t k, double n) {
        const std::size_t place = next[k - from]++;
        made.owner[place] = static_cast<std::int32_t>(c);
        made.value[place] = log1p(n / alpha);
      });
    });
  });
  made.start[cells.n_tokens] = static_cast<std::int64_t>(first.back());
  return made;
}

}  // namespace naively::text
