// Log weights of tokens: the tables of cells.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "counts/cells.hpp"
#include "support/threads.hpp"

namespace naively::counts {
namespace {

// log(1 + x), looked up for small integers, which most counts are.
class Log1p {
 public:
  double operator()(double x) const {
    if (x >= 0 && x < kTableSize) {
      const auto n = static_cast<std::size_t>(x);
      if (static_cast<double>(n) == x) return table()[n];
    }
    return std::log1p(x);
  }

 private:
  static constexpr std::size_t kTableSize = 4096;
  static const std::array<double, kTableSize>& table() {
    static const auto once = [] {
      std::array<double, kTableSize> logs;
      for (std::size_t n = 0; n < kTableSize; ++n) logs[n] = std::log1p(static_cast<double>(n));
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

// The cells of a range of tokens, strip by strip, so that the output stays in the cache while all classes add to it.
// Each class continues where it stopped in the strip before.
class TokenRange {
 public:
  TokenRange(const CellsView& cells, std::size_t n_tokens, std::size_t from, std::size_t to)
      : cells_(cells), n_tokens_(n_tokens), from_(from), to_(to), left_(cells.n_classes) {
    for (std::size_t c = 0; c < left_.size(); ++c) {
      const std::int64_t start = cells.indptr[c], end = cells.indptr[c + 1];
      left_[c].first = from > 0 ? first_cell(start, end, from) : start;
      left_[c].second = to < n_tokens ? first_cell(start, end, to) : end;
    }
  }

  // Calls work(from, to) for strips of `size` tokens.
  template <class Work>
  void for_strips(std::size_t size, Work&& work) {
    for (std::size_t from = from_; from < to_; from += size) work(from, std::min(from + size, to_));
    for (std::size_t c = 0; c < left_.size(); ++c)
      if (const auto [i, end] = left_[c]; i < end) refuse(c, checked(cells_.index[i], n_tokens_));
  }

  // Calls act(class, token, N) for the cells of a strip, class by class. `advance`: the strip is not read again.
  template <class Act>
  void for_cells(std::size_t from, std::size_t to, bool advance, Act&& act) {
    for (std::size_t c = 0; c < left_.size(); ++c) {
      auto [i, end] = left_[c];
      for (std::size_t k; i < end && (k = checked(cells_.index[i], n_tokens_)) < to; ++i) {
        if (k < from) refuse(c, k);
        act(c, k, cells_.sums[i]);
      }
      if (advance) left_[c].first = i;
    }
  }

  std::size_t size() const {
    std::int64_t n = 0;
    for (const auto& [i, end] : left_) n += end - i;
    return static_cast<std::size_t>(n);
  }

 private:
  // Returns the first cell of a class that is not before the token.
  std::int64_t first_cell(std::int64_t start, std::int64_t end, std::size_t token) const {
    const auto before = [](std::int32_t k, std::size_t t) { return k < static_cast<std::int64_t>(t); };
    return std::lower_bound(cells_.index + start, cells_.index + end, token, before) - cells_.index;
  }
  [[noreturn]] static void refuse(std::size_t c, std::size_t k) {
    throw std::invalid_argument("class " + std::to_string(c) + " has the token " + std::to_string(k) + " out of order");
  }

  const CellsView& cells_;
  std::size_t n_tokens_, from_, to_;
  std::vector<std::pair<std::int64_t, std::int64_t>> left_;
};

constexpr std::size_t kStripValues = std::size_t{1} << 15;  // that fit a core's cache together with the cells

// Tokens of a strip, of a table with n_values values.
std::size_t strip_size(std::size_t n_tokens, std::size_t n_values) {
  return std::max<std::size_t>(n_tokens / (n_values / kStripValues + 1), 1);
}

// Threads that are worth n_values values.
std::size_t threads_for(std::size_t n_values, int n_threads) {
  return std::clamp<std::size_t>(n_values / kStripValues, 1, static_cast<std::size_t>(std::max(n_threads, 1)));
}

// Cuts the tokens into n parts for n threads.
std::vector<TokenRange> equal_parts(const CellsView& cells, std::size_t n_tokens, std::size_t n) {
  std::vector<TokenRange> parts;
  for (std::size_t p = 0; p < n; ++p) parts.emplace_back(cells, n_tokens, p * n_tokens / n, (p + 1) * n_tokens / n);
  return parts;
}

// Cuts the tokens into n parts with about equally many cells, by a sample of these: the first tokens have most.
std::vector<TokenRange> parts_by_cells(const CellsView& cells, std::size_t n_tokens, std::size_t n) {
  constexpr std::size_t kSample = 1024;
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; n > 1 && i < kSample; ++i)
    sample.push_back(checked(cells.index[i * static_cast<std::size_t>(cells.size) / kSample], n_tokens));
  std::sort(sample.begin(), sample.end());
  std::vector<TokenRange> parts;
  for (std::size_t p = 0, from = 0; p < n; ++p) {
    const std::size_t to = p + 1 < n ? sample[(p + 1) * kSample / n] : n_tokens;
    parts.emplace_back(cells, n_tokens, from, to);
    from = to;
  }
  return parts;
}

}  // namespace

LargeArray<double> token_log_table(const CellsView& cells, const double* base, std::size_t n_tokens, double alpha,
                                   int n_threads) {
  const auto n_classes = static_cast<std::size_t>(cells.n_classes), n_values = n_tokens * n_classes;
  std::vector<TokenRange> parts = equal_parts(cells, n_tokens, threads_for(n_values, n_threads));
  LargeArray<double> table(n_values, support::Fill::kAnything);
  const Log1p log1p;
  support::parallel_for(static_cast<std::ptrdiff_t>(parts.size()), n_threads, [&](std::ptrdiff_t p) {
    TokenRange& part = parts[static_cast<std::size_t>(p)];
    part.for_strips(strip_size(n_tokens, n_values), [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) std::fill_n(&table[k * n_classes], n_classes, base[k]);
      part.for_cells(from, to, true,
                     [&](std::size_t c, std::size_t k, double n) { table[k * n_classes + c] += log1p(n / alpha); });
    });
  });
  return table;
}

TokenLogs token_logs(const CellsView& cells, std::size_t n_tokens, double alpha, int n_threads) {
  const auto n_cells = static_cast<std::size_t>(cells.size);
  std::vector<TokenRange> parts = parts_by_cells(cells, n_tokens, threads_for(n_cells, n_threads));
  std::vector<std::size_t> first{0};  // value of each part
  for (const TokenRange& part : parts) first.push_back(first.back() + part.size());
  TokenLogs logs{LargeArray<std::int64_t>(n_tokens + 1, support::Fill::kAnything),
                 LargeArray<std::int32_t>(first.back(), support::Fill::kAnything),
                 LargeArray<double>(first.back(), support::Fill::kAnything)};
  const Log1p log1p;
  support::parallel_for(static_cast<std::ptrdiff_t>(parts.size()), n_threads, [&](std::ptrdiff_t p) {
    TokenRange& part = parts[static_cast<std::size_t>(p)];
    std::size_t at = first[static_cast<std::size_t>(p)];
    std::vector<std::size_t> next;  // for each token of the strip: its number of values, then where the next one goes
    part.for_strips(strip_size(n_tokens, n_cells), [&](std::size_t from, std::size_t to) {
      next.assign(to - from, 0);
      part.for_cells(from, to, false, [&](std::size_t, std::size_t k, double) { ++next[k - from]; });
      for (std::size_t k = from; k < to; ++k) {
        logs.start[k] = static_cast<std::int64_t>(at);
        at += std::exchange(next[k - from], at);
      }
      part.for_cells(from, to, true, [&](std::size_t c, std::size_t k, double n) {
        const std::size_t to_fill = next[k - from]++;
        logs.owner[to_fill] = static_cast<std::int32_t>(c);
        logs.value[to_fill] = log1p(n / alpha);
      });
    });
  });
  logs.start[n_tokens] = static_cast<std::int64_t>(first.back());
  return logs;
}

}  // namespace naively::counts
