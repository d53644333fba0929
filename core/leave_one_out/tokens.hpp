// Rows of tokens scored as if they had not been counted.
//
//   multinomial   score_c = Σ_k x_k log(N_kc + α_k) − L log(N_c + A)                     (1)
//   complement    score_c = −Σ_k x_k log(N_k − N_kc + α_k) + L log(N − N_c + A)          (2)
//   coins         score_c = Σ_k x_k (log(N_kc + α_k) − log(D_c − N_kc + α_k))            (3)
//
// Row i, w times x_k, leaves N_ky of its class y, and with it N_k, N_y and N. A token whose last row leaves is no
// evidence (if it fades), and takes its α out of A (if the distribution shrinks). A class without a token takes the
// counts of all classes. α may also be 0, or differ between the classes: α_kc and A_c in (1). In (2) with α_k = 0, a
// token that only one class has excludes all others. Complement's weights may be normed: each score is then divided by
// the sum of the logarithms of (2) over all tokens.
//
// Coins are the words that a row has, of D_c rows; the caller adds what it has not. Its own class has D_y − w, and
// the second logarithm is then that of D_y − w − N_ky + α_k, N_ky with the row: so what the caller adds is the same for
// all rows of a class and weight. It is taken as 0 below α_k/2, which only a token that the row has can be.
//
// What a row leaves behind does not depend on α: it is read once, and scored under as many α as one likes.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace naively::cells {

// Row i has the tokens index[indptr[i], indptr[i + 1]), count times each, and leaves as `rows` rows of a cell for
// each of `times` (or 1).
struct LeavingRows {
  std::int64_t n;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* count;
  const std::int64_t* times;  // null: all 1
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
};

enum class Model { multinomial, complement, normed_complement };

// Cells of token k are [start[k], start[k + 1]), their classes ascending; its pseudo-count is scale · alpha_of(k, c).
struct TokenCells {
  std::int64_t n_tokens, n_classes;
  const std::int64_t* start;
  const std::int32_t* owner;
  const double* sum;
  const std::int64_t* rows;
  const double* alpha;  // (token,), or (token, class) if alpha_by_class
  const bool *known, *fades;
  bool shrinks, alpha_by_class;

  double alpha_of(std::int64_t k, std::int64_t c) const { return alpha[alpha_by_class ? k * n_classes + c : k]; }
};

// An entry that was never counted: what its row would leave behind; row −1 if there is none.
struct NotCounted {
  std::int64_t row = -1, token = -1, rows = 0;
  double sum = 0;
};

// A token that is still evidence for its row.
struct LeftEntry {
  std::uint32_t at;  // where what is said of the token lies, and of how many classes
  std::int32_t size, token;
  bool once;               // 1 of N_ky has left
  double x, left, pooled;  // N_ky and N_k without the row; x is 0 for a token that is no evidence any more
};

struct LeftRow {
  std::int64_t size = 0, emptied = 0;        // entries, cells of its class that are gone
  double removed = 0, lost = 0, length = 0;  // of N_y; of A, by `scale`; L
  double weight = 0;
  std::int32_t label = 0;
};

class Whole;

struct LeftRows {
  std::vector<LeftRow> rows;
  std::vector<LeftEntry> entries;
  std::vector<std::int64_t> start;  // of each row's entries
  NotCounted bad;                   // the first entry that was not counted: the rest is then of no use
  std::shared_ptr<Whole> whole;     // what the cells say, smoothed anew for each score
};

LeftRows read_left(const LeavingRows& rows, const TokenCells& cells);

// Adds to out (row, class), read by `read_left` with the same cells.
void score_left(const LeftRows& rows, const TokenCells& cells, double scale, Model model, double* out, int n_jobs);

// The same of coins, D_c tossed of each.
void score_left_coins(const LeftRows& rows, const TokenCells& cells, double scale, const double* tossed, double* out,
                      int n_jobs);

// Both, some rows at a time; of several rows that were not counted, tells of the first, and out is then of no use.
NotCounted leave_out(const LeavingRows& rows, const TokenCells& cells, Model model, double* out, int n_jobs);

}  // namespace naively::cells
