#include "token_logs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "threads.hpp"

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

// Where a class's cells start and end.
std::pair<std::int64_t, std::int64_t> range_of(const CountCells& cells, std::size_t c) {
  const std::int64_t from = cells.indptr[c], to = cells.indptr[c + 1];
  if (from < 0 || to < from || static_cast<std::size_t>(to) > cells.n_cells)
    throw std::invalid_argument("indptr falls, or passes the end, at class " + std::to_string(c));
  return {from, to};
}

// Calls act(class, token, N) cell by cell, class by class.
template <class Act>
void for_cells(const CountCells& cells, Act&& act) {
  for (std::size_t c = 0; c < cells.n_classes; ++c) {
    const auto [from, to] = range_of(cells, c);
    for (std::int64_t i = from; i < to; ++i) act(c, checked(cells.index[i], cells.n_tokens), cells.count[i]);
  }
}

// Of tokens, for threads to take; values that a core's cache holds beside the cells.
constexpr std::size_t kParts = 16, kStrip = std::size_t{1} << 15;

// The rows of the tokens from..to of the table, in strips that stay in the cache while all classes add to them: each class goes on
// where it was in the strip before. Cells that do not ascend are refused.
void add_logs(const CountCells& cells, std::size_t from, std::size_t to, const double* base, double alpha, double* table) {
  const std::size_t n_classes = cells.n_classes, strip = std::max<std::size_t>(kStrip / std::max<std::size_t>(n_classes, 1), 1);
  const auto place_of = [&](std::size_t c, std::size_t token) -> std::int64_t {  // of a class's first cell that is not before
    const auto before = [](std::int32_t k, std::size_t t) { return k < static_cast<std::int64_t>(t); };
    return std::lower_bound(cells.index + cells.indptr[c], cells.index + cells.indptr[c + 1], token, before) - cells.index;
  };
  const auto refuse = [](std::size_t c, std::size_t k) {
    throw std::invalid_argument("class " + std::to_string(c) + " has the token " + std::to_string(k) + " out of order");
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> left(n_classes);
  for (std::size_t c = 0; c < n_classes; ++c) {
    left[c].first = from > 0 ? place_of(c, from) : cells.indptr[c];
    left[c].second = to < cells.n_tokens ? place_of(c, to) : cells.indptr[c + 1];
  }
  const Log1p log1p;
  for (std::size_t start = from; start < to; start += strip) {
    const std::size_t end = std::min(start + strip, to);
    for (std::size_t k = start; k < end; ++k) std::fill_n(table + k * n_classes, n_classes, base[k]);
    for (std::size_t c = 0; c < n_classes; ++c)
      for (auto& [i, last] = left[c]; i < last; ++i) {
        const std::size_t k = checked(cells.index[i], cells.n_tokens);
        if (k >= end) break;
        if (k < start) refuse(c, k);
        table[k * n_classes + c] += log1p(cells.count[i] / alpha);
      }
  }
  for (std::size_t c = 0; c < n_classes; ++c)
    if (const auto [i, last] = left[c]; i < last) refuse(c, checked(cells.index[i], cells.n_tokens));
}

}  // namespace

ZeroedPages<double> token_log_table(const CountCells& cells, const double* base, double alpha, int n_jobs) {
  ZeroedPages<double> table(cells.n_tokens * cells.n_classes, Found::anything);
  for (std::size_t c = 0; c < cells.n_classes; ++c) range_of(cells, c);
  const std::size_t n_parts = n_jobs > 1 ? std::clamp<std::size_t>(cells.n_tokens * cells.n_classes / kStrip / 4, 1, kParts) : 1;
  parallel_for(static_cast<std::ptrdiff_t>(n_parts), n_jobs, [&](std::ptrdiff_t part) {
    const auto p = static_cast<std::size_t>(part);
    add_logs(cells, p * cells.n_tokens / n_parts, (p + 1) * cells.n_tokens / n_parts, base, alpha, table.data());
  });
  return table;
}

TokenLogs token_logs(const CountCells& cells, double alpha) {
  TokenLogs made{ZeroedPages<std::int64_t>(cells.n_tokens + 2), {}, {}};
  std::int64_t* const start = made.start.data();
  std::int64_t n = 0;
  for_cells(cells, [&](std::size_t, std::size_t k, double) { ++start[k + 2], ++n; });
  for (std::size_t k = 0; k < cells.n_tokens; ++k) start[k + 2] += start[k + 1];
  made.owner = ZeroedPages<std::int32_t>(static_cast<std::size_t>(n), Found::anything);
  made.value = ZeroedPages<double>(static_cast<std::size_t>(n), Found::anything);
  const Log1p log1p;
  for_cells(cells, [&](std::size_t c, std::size_t k, double count) {
    const auto at = static_cast<std::size_t>(start[k + 1]++);  // where k starts moves to where it ends, k + 1's start
    made.owner[at] = static_cast<std::int32_t>(c);
    made.value[at] = log1p(count / alpha);
  });
  return made;
}

void mark_tokens(const std::int32_t* index, std::size_t n, std::uint8_t* seen, std::size_t n_tokens) {
  for (std::size_t i = 0; i < n; ++i) seen[checked(index[i], n_tokens)] = 1;
}

}  // namespace naively::text
