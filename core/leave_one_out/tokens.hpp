// Score rows of tokens as if they had not been counted.
//
//   multinomial   score_c = Σ_k x_k log(N_kc + α_k) − L log(N_c + A)                     (1)
//   complement    score_c = −Σ_k x_k log(N_k − N_kc + α_k) + L log(N − N_c + A)          (2)
//   Bernoulli     score_c = Σ_k x_k (log(N_kc + α_k) − log(D_c − N_kc + α_k))            (3)
//
// Row i, w times x_k, is removed from N_ky of its class y, and thereby from N_k, N_y and N. A token that loses its last
// row is not evidence (if it vanishes), and its α leaves A (if alpha_vanishes). A class without tokens gets the counts
// of all classes. α may be 0, or differ between the classes: α_kc and A_c in (1). In (2) with α_k = 0, a token that
// only one class has excludes all others. The weights of a complement may be normed: each score is then divided by the
// sum of the logarithms of (2) over all tokens.
//
// (3) is about the words that a row has, of D_c rows; the caller adds the words that it does not have. The class of the
// row has D_y − w rows, and the second logarithm is then that of D_y − w − N_ky + α_k, N_ky with the row: so what the
// caller adds is the same for all rows of a class and weight. It is taken as 0 below α_k/2, which only a token of the
// row can be.
//
// What a row leaves behind does not depend on α: it is read once, and scored with any number of α.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "text/text.hpp"

namespace naively::leave_one_out {

// Row i has the tokens index[indptr[i], indptr[i + 1]), `count` times each. It was `rows` rows of each of its cells,
// times `times`.
struct TokenRows {
  std::int64_t n;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* count;
  const std::int64_t* times;  // null: all 1
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
};

enum class Model { kMultinomial, kComplement, kNormedComplement };

// The cells of token k are [start[k], start[k + 1]), their classes ascending; its pseudo-count is scale · alpha_of(k,
// c).
struct TokenCells {
  std::int64_t n_tokens, n_classes;
  const std::int64_t* start;
  const std::int32_t* owner;
  const double* sum;
  const std::int64_t* rows;
  const double* alpha;  // (token,), or (token, class) if alpha_by_class
  const bool *known, *vanishes;
  bool alpha_vanishes, alpha_by_class;

  double alpha_of(std::int64_t k, std::int64_t c) const { return alpha[alpha_by_class ? k * n_classes + c : k]; }
};

// An entry that was never counted, and the rows and sum that its row would leave behind. row is −1 if there is none.
struct UncountedEntry {
  std::int64_t row = -1, token = -1, rows = 0;
  double sum = 0;
};

// A token of a row, with its counts without the row.
struct RowToken {
  std::uint32_t at;  // where the scores of the token are, and for how many classes
  std::int32_t size, token;
  bool once;                    // exactly 1 leaves N_ky
  double x, own_sum, all_sums;  // N_ky and N_k without the row; x is 0 if the token is not evidence any more
};

struct RowSummary {
  std::int64_t size = 0, n_emptied = 0;  // tokens; cells of the class that are empty without the row
  double removed = 0, lost_alpha = 0;    // from N_y; from A, in units of `scale`
  double length = 0, weight = 0;         // L
  std::int32_t label = 0;
};

class TokenScores;

struct ReadRows {
  std::vector<RowSummary> rows;
  std::vector<RowToken> tokens;
  std::vector<std::int64_t> start;  // of the tokens of each row
  UncountedEntry uncounted;         // the first; the rest is then of no use
  std::shared_ptr<TokenScores> scores;
};

ReadRows read_rows(const TokenRows& rows, const TokenCells& cells);

// Adds to out (row, class) the scores of rows that `read_rows` read with the same cells.
void score_rows(const ReadRows& rows, const TokenCells& cells, double scale, Model model, double* out, int n_threads);

// Adds (3); n_rows are the D_c.
void score_bernoulli(const ReadRows& rows, const TokenCells& cells, double scale, const double* n_rows, double* out,
                     int n_threads);

// Reads and scores. Returns the first of the entries that were never counted; out is then of no use.
UncountedEntry leave_tokens_out(const TokenRows& rows, const TokenCells& cells, Model model, double* out,
                                int n_threads);

// Document i was counted in class label[i] with a weight, and as `rows` rows. Missing documents are not scored.
struct CountedDocuments {
  const text::Documents& documents;
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
  bool once;  // each token counts once
};

// Adds to out (document, class), and L to length (document,) if it is not null. Returns the first of the entries that
// were never counted; out is then of no use.
UncountedEntry leave_texts_out(const CountedDocuments& counted, const text::Vocabulary* vocabulary,
                               const text::Options& options, const TokenCells& cells, Model model, double* out,
                               double* length, int n_threads, const text::Poll& poll);

}  // namespace naively::leave_one_out
