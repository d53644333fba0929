// The scores of tokens before any row is left out; see tokens.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "leave_one_out/log_table.hpp"
#include "support/compiler.hpp"
#include "support/memory.hpp"

namespace naively::leave_one_out {

// N_k, its rows (more than any row removes, if the token does not vanish), α_k, and log α_k (log(N_k − 1 + α_k) for a
// complement).
struct TokenHead {
  double sum;
  std::int64_t rows;
  double alpha, base;
};

struct ClassValue {
  double value;
  std::int32_t owner;
};

// The value of a cell is log(1 + N_kc/α_k). For a complement it is log(N_k − 1 + α_k) − log(N_k − 1 − N_kc + α_k),
// which holds for a token that leaves another class once. For Bernoulli it is log(1 + N_kc/α_k) + log(D_c + α_k) −
// log(D_c − N_kc + α_k).
//
// The tokens of a row are anywhere in memory, and every cache line costs more than the work with it. So all about a
// token is in one place: a head, then its values, listed if few classes have it, else class by class (at most four for
// every cell).
class TokenScores {
 public:
  LogTable logs;
  std::vector<double> total;          // N_c
  std::vector<std::int64_t> n_cells;  // tokens of class c
  double sum = 0, alpha = 0;          // N, A
  std::vector<double> alphas;         // A_c, if `direct`
  std::vector<double> log_others;     // Σ_k log(N_k − N_kc + α_k), of a normed complement
  bool has_empty_class = false;
  const bool direct;  // the equations are evaluated as they are written: an α is 0 or differs between classes
  std::mutex in_use;  // by one smoothing at a time

  TokenScores(const TokenCells& cells, Model model)
      : total(cells.n_classes),
        n_cells(cells.n_classes),
        direct(model == Model::kNormedComplement || cells.alpha_by_class || !is_smooth(cells)),
        n_classes_(cells.n_classes),
        place_(static_cast<std::size_t>(cells.n_tokens)) {
    memory_ = support::LargeArray<Unit>(assign_places(cells));
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
        total[cells.owner[j]] += cells.sum[j];
        ++n_cells[cells.owner[j]];
      }
      if (cells.known[k]) fill(cells, k);
    }
    for (std::int64_t c = 0; c < cells.n_classes; ++c) sum += total[c], has_empty_class |= n_cells[c] == 0;
  }

  // Computes all that depends on α, of the same cells. `n_rows` are the D_c of Bernoulli, else null.
  void smooth(const TokenCells& cells, double scale, Model model, const double* n_rows = nullptr) {
    if (direct) return smooth_direct(cells, scale, model);
    logs = LogTable(cells, scale);
    alpha = 0;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      const double token_alpha = scale * cells.alpha[k];
      if (cells.known[k] || !cells.alpha_vanishes) alpha += token_alpha;
      if (cells.known[k]) smooth_token(cells, k, token_alpha, model == Model::kComplement, n_rows);
    }
  }

  // Where a record is, in units of memory, and its number of listed values, or one of the two constants below.
  struct Place {
    std::uint32_t at;
    std::int32_t size;
    bool is_known() const { return size != kUnknown; }
    bool is_dense() const { return size == kDense; }
  };
  Place place(std::int64_t k) const {
    return k >= 0 && static_cast<std::size_t>(k) < place_.size() ? place_[k] : Place{0, kUnknown};
  }

  TokenHead& head(Place of) const { return *reinterpret_cast<TokenHead*>(&memory_[of.at]); }
  ClassValue* listed(Place of) const { return reinterpret_cast<ClassValue*>(&memory_[of.at + kHeadUnits]); }
  double* values(Place of) const { return reinterpret_cast<double*>(&memory_[of.at + kHeadUnits]); }

  void prefetch_place(std::int64_t k) const {
    if (static_cast<std::size_t>(k) < place_.size()) support::prefetch(&place_[k]);
  }
  void prefetch_head(Place of) const { support::prefetch(&memory_[of.at]); }
  void prefetch_values(Place of) const {
    const auto* at = reinterpret_cast<const char*>(&memory_[of.at]);
    const std::int64_t bytes = 32 + (of.is_dense() ? 8 * n_classes_ : 16 * std::int64_t{of.size});
    for (std::int64_t b = 0; b < std::min<std::int64_t>(bytes, 512); b += 64) support::prefetch(at + b);
  }

 private:
  static constexpr std::int32_t kUnknown = -2, kDense = -1;
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  static constexpr std::size_t kHeadUnits = sizeof(TokenHead) / sizeof(Unit);
  static constexpr std::size_t kLineUnits = support::kCacheLine / sizeof(Unit);
  static_assert(kHeadUnits == 2 && sizeof(ClassValue) == sizeof(Unit));

  // Returns whether every known token has an α above 0.
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
      for (std::int64_t c = 0; c < cells.n_classes && (cells.known[k] || !cells.alpha_vanishes); ++c)
        alphas[c] += scale * cells.alpha_of(k, c);
      if (model != Model::kNormedComplement) continue;
      const std::int64_t first = cells.start[k], last = cells.start[k + 1];
      std::fill(others.begin(), others.end(),
                std::accumulate(cells.sum + first, cells.sum + last, scale * cells.alpha[k]));
      for (std::int64_t j = first; j < last; ++j) others[cells.owner[j]] -= cells.sum[j];
      for (std::int64_t c = 0; c < cells.n_classes; ++c) log_others[c] += std::log(others[c]);
    }
  }

  // Returns the units of memory that all records need.
  std::size_t assign_places(const TokenCells& cells) {
    const std::size_t dense_units = (static_cast<std::size_t>(n_classes_) + 1) / 2;
    std::size_t used = 0;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      const std::int64_t n = cells.start[k + 1] - cells.start[k];
      const bool dense = 4 * n >= n_classes_ && (n > 1 || cells.rows[cells.start[k]] > 1);
      if (cells.known[k] && dense) used = (used + kLineUnits - 1) / kLineUnits * kLineUnits;
      place_[k] = {static_cast<std::uint32_t>(used), !cells.known[k] ? kUnknown
                                                     : dense         ? kDense
                                                                     : static_cast<std::int32_t>(n)};
      if (cells.known[k]) used += kHeadUnits + (dense ? dense_units : static_cast<std::size_t>(n));
    }
    if (used > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    return used;
  }

  void fill(const TokenCells& cells, std::int64_t k) {
    TokenHead& token = head(place_[k]) = {};
    for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
      token.sum += cells.sum[j], token.rows += cells.rows[j];
      if (!place_[k].is_dense()) listed(place_[k])[j - cells.start[k]].owner = cells.owner[j];
    }
    if (!cells.vanishes[k]) token.rows = std::numeric_limits<std::int64_t>::max();
  }

  void smooth_token(const TokenCells& cells, std::int64_t k, double token_alpha, bool complement,
                    const double* n_rows) {
    const Place to = place_[k];
    TokenHead& token = head(to);
    token.alpha = token_alpha;
    token.base = complement ? logs.plus(token.sum - 1, token_alpha) : logs.plus(0, token_alpha);
    for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
      double value =
          complement ? value_of_others(token, token.sum - 1 - cells.sum[j]) : logs.one_plus(cells.sum[j], token_alpha);
      if (n_rows) value += value_of_absence(n_rows[cells.owner[j]], cells.sum[j], token_alpha);
      (to.is_dense() ? values(to)[cells.owner[j]] : listed(to)[j - cells.start[k]].value) = value;
    }
  }

  // The sum of several tokens may exceed the rows; its value is not used.
  static double value_of_absence(double n_rows, double n, double alpha) {
    return n <= n_rows ? std::log((n_rows + alpha) / (n_rows - n + alpha)) : 0.0;
  }

  // n below 0: no row of another class has the token.
  double value_of_others(const TokenHead& token, double n) const {
    return n + token.alpha > 0 ? token.base - logs.plus(n, token.alpha) : 0.0;
  }

  const std::int64_t n_classes_;
  std::vector<Place> place_;
  support::LargeArray<Unit> memory_;
};

}  // namespace naively::leave_one_out
