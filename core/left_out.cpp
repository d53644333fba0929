#include "left_out.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "threads.hpp"

namespace naively::cells {
namespace {

constexpr std::int64_t kChunk = 128;  // rows

double log_of(double x) { return x > 0 ? std::log(x) : -INFINITY; }
double log_whole(double x) { return x > 0 ? std::log(x) : 0.0; }

// All that is asked of a token, in one line of the cache: its cells [first, last), N_k, its rows, α_k and log α_k.
struct alignas(64) Token {
  std::int64_t first, last;
  double sum;
  std::int64_t rows;
  double alpha, log_alpha;
  bool known, fades;
};

// What the cells say before any row leaves.
struct Whole {
  std::vector<Token> token;
  std::vector<double> value, total;   // log(1 + N_kc/α_k) of each cell, N_c
  std::vector<std::int64_t> n_cells;  // tokens of class c
  double sum = 0, alpha = 0;
  bool lends = false;  // whether some class has no token

  Whole(const TokenCells& cells, bool complement)
      : token(cells.n_tokens), value(complement ? 0 : cells.start[cells.n_tokens]), total(cells.n_classes),
        n_cells(cells.n_classes) {
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      const bool known = cells.known[k];
      if (known || !cells.shrinks) alpha += cells.alpha[k];
      const double log_alpha = known ? std::log(cells.alpha[k]) : 0.0;
      token[k] = {cells.start[k], cells.start[k + 1], 0, 0, cells.alpha[k], log_alpha, known, cells.fades[k]};
      for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
        token[k].sum += cells.sum[j];
        token[k].rows += cells.rows[j];
        total[cells.owner[j]] += cells.sum[j];
        ++n_cells[cells.owner[j]];
        if (!complement && known) value[j] = std::log1p(cells.sum[j] / cells.alpha[k]);
      }
    }
    for (std::int64_t c = 0; c < cells.n_classes; ++c) sum += total[c], lends |= n_cells[c] == 0;
  }
};

struct Entry {
  const Token* token;
  double x, left, pooled;  // N_ky and N_k without the row
};

class Scorer {
 public:
  Scorer(const LeavingRows& rows, const TokenCells& cells, const Whole& whole)
      : rows_(rows), cells_(cells), whole_(whole), part_(cells.n_classes) {}

  // Looks up the row's cells; false if one was never counted.
  bool read(std::int64_t i, NotCounted& bad) {
    kept_.clear();
    removed_ = lost_ = length_ = 0;
    emptied_ = 0;
    label_ = rows_.label[i];
    prefetch(rows_.indptr[i], rows_.indptr[i + 1]);
    for (std::int64_t e = rows_.indptr[i]; e < rows_.indptr[i + 1]; ++e) {
      const std::int64_t k = rows_.index[e];
      if (!inside(k) || !whole_.token[k].known) continue;
      const Token& token = whole_.token[k];
      const std::int32_t *first = cells_.owner + token.first, *last = cells_.owner + token.last;
      const std::int32_t* found = std::lower_bound(first, last, label_);
      const bool there = found != last && *found == label_;
      const std::int64_t cell = found - cells_.owner, own_rows = there ? cells_.rows[cell] : 0;
      const double own = there ? cells_.sum[cell] : 0.0, taken = rows_.weight[i] * rows_.count[e];
      const std::int64_t leaving = rows_.rows[i] * (rows_.times ? rows_.times[e] : 1), left_rows = own_rows - leaving;
      if (left_rows < 0 || own - taken < -1e-9 * (1.0 + taken)) {
        bad = {i, k, left_rows, own - taken};
        return false;
      }
      const double left = left_rows > 0 ? std::max(own - taken, 0.0) : 0.0;
      removed_ += own - left;
      emptied_ += there && left_rows == 0;
      if (token.fades && token.rows - leaving <= 0) {
        if (cells_.shrinks) lost_ += token.alpha;
        continue;
      }
      const bool alone = token.rows == own_rows;  // no other class has it: nothing of it may be left
      kept_.push_back({&token, rows_.count[e], left, alone ? left : token.sum - own + left});
      length_ += rows_.count[e];
    }
    return true;
  }

  // Equation (1).
  void multinomial(double* out) {
    const bool empty = whole_.n_cells[label_] - emptied_ <= 0, pool = empty || whole_.lends;
    std::fill(part_.begin(), part_.end(), 0.0);
    double common = 0, own = 0, pooled = 0;
    for (const Entry& entry : kept_) {
      const auto& [first, last, sum, rows, alpha, log_alpha, known, fades] = *entry.token;
      common += entry.x * log_alpha;
      own += entry.x * log_of(entry.left + alpha);
      if (pool) pooled += entry.x * log_of(entry.pooled + alpha);
      for (std::int64_t j = first; j < last; ++j)
        part_[cells_.owner[j]] += entry.x * whole_.value[j];
    }
    const double alpha = whole_.alpha - lost_;
    if (pool) pooled -= length_ * log_whole(whole_.sum - removed_ + alpha);
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      if (c == label_)
        out[c] += empty ? pooled : own - length_ * log_whole(whole_.total[c] - removed_ + alpha);
      else if (whole_.n_cells[c] == 0)
        out[c] += pooled;
      else
        out[c] += common + part_[c] - length_ * log_whole(whole_.total[c] + alpha);
    }
  }

  // Equation (2).
  void complement(double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double common = 0;
    for (const Entry& entry : kept_) {
      const double whole = entry.pooled + entry.token->alpha, log_all = std::log(whole);
      common -= entry.x * log_all;
      for (std::int64_t j = entry.token->first; j < entry.token->last; ++j) {
        const double mine = cells_.owner[j] == label_ ? entry.left : cells_.sum[j];
        part_[cells_.owner[j]] += entry.x * (log_all - std::log(whole - mine));
      }
    }
    const double rest = whole_.sum + whole_.alpha - lost_;
    for (std::int64_t c = 0; c < cells_.n_classes; ++c)
      out[c] += common + part_[c] + length_ * log_whole(rest - whole_.total[c] - (c == label_ ? 0.0 : removed_));
  }

 private:
  bool inside(std::int64_t k) const { return k >= 0 && k < cells_.n_tokens; }

  // The tokens of a row lie anywhere: ask for all of them, then for their cells, before the first is needed.
  void prefetch(std::int64_t from, std::int64_t to) const {
    for (std::int64_t e = from; e < to; ++e)
      if (inside(rows_.index[e])) __builtin_prefetch(&whole_.token[rows_.index[e]]);
    for (std::int64_t e = from; e < to; ++e) {
      if (!inside(rows_.index[e])) continue;
      const std::int64_t first = whole_.token[rows_.index[e]].first;
      __builtin_prefetch(cells_.owner + first);
      __builtin_prefetch(cells_.sum + first);
      __builtin_prefetch(cells_.rows + first);
      if (!whole_.value.empty()) __builtin_prefetch(whole_.value.data() + first);
    }
  }

  const LeavingRows& rows_;
  const TokenCells& cells_;
  const Whole& whole_;
  std::vector<double> part_;
  std::vector<Entry> kept_;
  double removed_ = 0, lost_ = 0, length_ = 0;
  std::int64_t emptied_ = 0;
  std::int32_t label_ = 0;
};

}  // namespace

NotCounted leave_out(const LeavingRows& rows, const TokenCells& cells, bool complement, double* out, int n_jobs) {
  const Whole whole(cells, complement);
  NotCounted first;
  std::mutex guard;
  parallel_for((rows.n + kChunk - 1) / kChunk, n_jobs, [&](std::ptrdiff_t chunk) {
    Scorer scorer(rows, cells, whole);
    for (std::int64_t i = chunk * kChunk; i < std::min<std::int64_t>((chunk + 1) * kChunk, rows.n); ++i) {
      NotCounted bad;
      if (!scorer.read(i, bad)) {
        std::lock_guard lock(guard);
        if (first.row < 0 || bad.row < first.row) first = bad;
        return;
      }
      double* line = out + i * cells.n_classes;
      complement ? scorer.complement(line) : scorer.multinomial(line);
    }
  });
  return first;
}

}  // namespace naively::cells
