// Logarithms of counts, mostly looked up; see left_out.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "leave_one_out/tokens.hpp"

namespace naively::cells {

inline double log_of(double x) { return x > 0 ? std::log(x) : -INFINITY; }
inline double log_whole(double x) { return x > 0 ? std::log(x) : 0.0; }

// log(n + α) and log(1 + n/α). Counts are mostly small whole numbers, and α mostly one for all tokens: then they are
// looked up.
class Logs {
 public:
  Logs() = default;
  Logs(const TokenCells& cells, double scale) {
    bool first = true;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      if (!cells.known[k] || !cells.fades[k]) continue;
      if (first)
        alpha_ = scale * cells.alpha[k];
      else if (scale * cells.alpha[k] != alpha_)
        return;
      first = false;
    }
    if (!(alpha_ > 0)) return;
    const std::int64_t size = std::min<std::int64_t>(cells.start[cells.n_tokens], kSmall);
    plus_.resize(size), one_plus_.resize(size);
    for (std::int64_t n = 0; n < size; ++n) {
      plus_[n] = std::log(static_cast<double>(n) + alpha_);
      one_plus_[n] = std::log1p(static_cast<double>(n) / alpha_);
    }
  }

  double plus(double n, double alpha) const {
    const double* found = look(plus_, n, alpha);
    return found ? *found : log_of(n + alpha);
  }
  double one_plus(double n, double alpha) const {
    const double* found = look(one_plus_, n, alpha);
    return found ? *found : std::log1p(n / alpha);
  }

 private:
  static constexpr std::int64_t kSmall = 4096;

  const double* look(const std::vector<double>& table, double n, double alpha) const {
    if (alpha != alpha_ || !(n >= 0 && n < static_cast<double>(table.size()))) return nullptr;
    const int whole = static_cast<int>(n);
    return whole == n ? &table[whole] : nullptr;
  }

  double alpha_ = NAN;
  std::vector<double> plus_, one_plus_;
};

}  // namespace naively::cells
