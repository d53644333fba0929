// What cells of tokens say before any row leaves; see left_out.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "leave_one_out/log_table.hpp"
#include "support/memory.hpp"

namespace naively::cells {

// N_k, its rows (of a token that does not fade: more than can leave), α_k, and log α_k (or log(N_k − 1 + α_k), of a
// complement).
struct Head {
  double sum;
  std::int64_t rows;
  double alpha, base;
};

struct Listed {
  double value;
  std::int32_t owner;
};

// The value of a cell is log(1 + N_kc/α_k); of a complement it is log(N_k − 1 + α_k) − log(N_k − 1 − N_kc + α_k),
// right for a token that leaves another class once; of coins, log(1 + N_kc/α_k) + log(D_c + α_k) − log(D_c − N_kc +
// α_k).
//
// Tokens of a row lie anywhere, and every line of memory that is asked for costs more than what is done with it: so all
// that is said of a token lies together, as a head and then its values, listed if few classes have it, else
// class by class (at most four for every cell).
class Whole {
 public:
  Logs logs;
  std::vector<double> total;          // N_c
  std::vector<std::int64_t> n_cells;  // tokens of class c
  double sum = 0, alpha = 0;
  std::vector<double> alphas;      // A_c, if `direct`
  std::vector<double> log_others;  // Σ_k log(N_k − N_kc + α_k), of a normed complement
  bool lends = false;              // whether some class has no token
  const bool direct;               // the equations are taken as they stand: an α is 0, or one differs between classes
  std::mutex in_use;               // by one smoothing at a time

  Whole(const TokenCells& cells, Model model)
      : total(cells.n_classes),
        n_cells(cells.n_classes),
        direct(model == Model::normed_complement || cells.alpha_by_class || !is_smooth(cells)),
        n_classes_(cells.n_classes),
        place_(static_cast<std::size_t>(cells.n_tokens)) {
    memory_ = support::LargeArray<Unit>(lay_out(cells));
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
        total[cells.owner[j]] += cells.sum[j];
        ++n_cells[cells.owner[j]];
      }
      if (cells.known[k]) fill(cells, k);
    }
    for (std::int64_t c = 0; c < cells.n_classes; ++c) sum += total[c], lends |= n_cells[c] == 0;
  }

  // All that depends on α, of the same cells. `tossed` are the D_c of coins, else null.
  void smooth(const TokenCells& cells, double scale, Model model, const double* tossed = nullptr) {
    if (direct) return smooth_direct(cells, scale, model);
    const bool complement = model == Model::complement;
    logs = Logs(cells, scale);
    alpha = 0;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      const double of_token = scale * cells.alpha[k];
      if (cells.known[k] || !cells.shrinks) alpha += of_token;
      if (cells.known[k]) smooth(cells, k, of_token, complement, tossed);
    }
  }

  // Where a record lies, in units of memory, and how many values are listed, or one of the two below.
  struct Place {
    std::uint32_t at;
    std::int32_t size;
    bool known() const { return size != kUnknown; }
    bool spread() const { return size == kSpread; }
  };
  Place place(std::int64_t k) const {
    return k >= 0 && static_cast<std::size_t>(k) < place_.size() ? place_[k] : Place{0, kUnknown};
  }

  Head& head(Place of) const { return *reinterpret_cast<Head*>(&memory_[of.at]); }
  Listed* listed(Place of) const { return reinterpret_cast<Listed*>(&memory_[of.at + kHead]); }
  double* values(Place of) const { return reinterpret_cast<double*>(&memory_[of.at + kHead]); }

  void prefetch_place(std::int64_t k) const {
    if (static_cast<std::size_t>(k) < place_.size()) __builtin_prefetch(&place_[k]);
  }
  void prefetch_head(Place of) const { __builtin_prefetch(&memory_[of.at]); }
  void prefetch_values(Place of) const {
    const auto* at = reinterpret_cast<const char*>(&memory_[of.at]);
    const std::int64_t bytes = 32 + (of.spread() ? 8 * n_classes_ : 16 * std::int64_t{of.size});
    for (std::int64_t b = 0; b < std::min<std::int64_t>(bytes, 512); b += 64) __builtin_prefetch(at + b);
  }

 private:
  static constexpr std::int32_t kUnknown = -2, kSpread = -1;
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  static constexpr std::size_t kHead = sizeof(Head) / sizeof(Unit), kLineUnits = support::kCacheLine / sizeof(Unit);
  static_assert(kHead == 2 && sizeof(Listed) == sizeof(Unit));

  static bool is_smooth(const TokenCells& cells) {
    for (std::int64_t k = 0; k < cells.n_tokens; ++k)
      if (cells.known[k] && !(cells.alpha[k] > 0)) return false;
    return true;
  }

  void smooth_direct(const TokenCells& cells, double scale, Model model) {
    alphas.assign(cells.n_classes, 0.0);
    log_others.assign(cells.n_classes, 0.0);
    std::vector<double> others(cells.n_classes);
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      for (std::int64_t c = 0; c < cells.n_classes && (cells.known[k] || !cells.shrinks); ++c)
        alphas[c] += scale * cells.alpha_of(k, c);
      if (model != Model::normed_complement) continue;
      const std::int64_t first = cells.start[k], last = cells.start[k + 1];
      std::fill(others.begin(), others.end(),
                std::accumulate(cells.sum + first, cells.sum + last, scale * cells.alpha[k]));
      for (std::int64_t j = first; j < last; ++j) others[cells.owner[j]] -= cells.sum[j];
      for (std::int64_t c = 0; c < cells.n_classes; ++c) log_others[c] += std::log(others[c]);
    }
  }

  std::size_t lay_out(const TokenCells& cells) {
    const std::size_t wide = (static_cast<std::size_t>(n_classes_) + 1) / 2;
    std::size_t used = 0;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      const std::int64_t n = cells.start[k + 1] - cells.start[k];
      const bool many = 4 * n >= n_classes_ && (n > 1 || cells.rows[cells.start[k]] > 1);
      if (cells.known[k] && many) used = (used + kLineUnits - 1) / kLineUnits * kLineUnits;
      place_[k] = {static_cast<std::uint32_t>(used), !cells.known[k] ? kUnknown
                                                     : many          ? kSpread
                                                                     : static_cast<std::int32_t>(n)};
      if (cells.known[k]) used += kHead + (many ? wide : static_cast<std::size_t>(n));
    }
    if (used > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    return used;
  }

  void fill(const TokenCells& cells, std::int64_t k) {
    Head of{};
    for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
      of.sum += cells.sum[j], of.rows += cells.rows[j];
      if (!place_[k].spread()) listed(place_[k])[j - cells.start[k]].owner = cells.owner[j];
    }
    if (!cells.fades[k]) of.rows = std::numeric_limits<std::int64_t>::max();
    head(place_[k]) = of;
  }

  void smooth(const TokenCells& cells, std::int64_t k, double of_token, bool complement, const double* tossed) {
    const Place to = place_[k];
    Head& of = head(to);
    of.alpha = of_token;
    of.base = complement ? logs.plus(of.sum - 1, of_token) : logs.plus(0, of_token);
    for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
      double value = complement ? of_others(of, of.sum - 1 - cells.sum[j]) : logs.one_plus(cells.sum[j], of_token);
      if (tossed) value += of_tails(tossed[cells.owner[j]], cells.sum[j], of_token);
      (to.spread() ? values(to)[cells.owner[j]] : listed(to)[j - cells.start[k]].value) = value;
    }
  }

  // A sum of tokens is no coin, and is not asked for.
  static double of_tails(double tossed, double n, double alpha) {
    return n <= tossed ? std::log((tossed + alpha) / (tossed - n + alpha)) : 0.0;
  }

  // Below 0: the token cannot have left another class.
  double of_others(const Head& of, double n) const { return n + of.alpha > 0 ? of.base - logs.plus(n, of.alpha) : 0.0; }

  const std::int64_t n_classes_;
  std::vector<Place> place_;
  support::LargeArray<Unit> memory_;
};

}  // namespace naively::cells
