#include "leave_one_out/tokens.hpp"

#include <algorithm>
#include <mutex>

#include "leave_one_out/row_scores.hpp"
#include "support/threads.hpp"

namespace naively::leave_one_out {
namespace {

constexpr std::int64_t kChunkRows = 128;

TokenRow row_of(const TokenRows& rows, std::int64_t i) {
  const std::int64_t first = rows.indptr[i];
  return {i,
          rows.indptr[i + 1] - first,
          rows.index + first,
          rows.count + first,
          rows.times ? rows.times + first : nullptr,
          rows.label[i],
          rows.weight[i],
          rows.rows[i]};
}

// Calls work(from, to) for chunks of n rows.
template <class Work>
void for_rows(std::int64_t n, int n_threads, Work&& work) {
  support::parallel_for((n + kChunkRows - 1) / kChunkRows, n_threads, [&](std::ptrdiff_t chunk) {
    work(chunk * kChunkRows, std::min<std::int64_t>((chunk + 1) * kChunkRows, n));
  });
}

// Smooths the scores and calls score(scorer, row, its tokens, its line of out) for each row.
template <class Score>
void score_all(const ReadRows& rows, const TokenCells& cells, double scale, Model model, const double* n_rows,
               double* out, int n_threads, Score&& score) {
  TokenScores& scores = *rows.scores;
  const std::lock_guard lock(scores.in_use);
  scores.smooth(cells, scale, model, n_rows);
  for_rows(static_cast<std::int64_t>(rows.rows.size()), n_threads, [&](std::int64_t from, std::int64_t to) {
    RowScorer scorer(cells, scores, scale, model);
    for (std::int64_t i = from; i < to; ++i)
      score(scorer, rows.rows[i], rows.tokens.data() + rows.start[i], out + i * cells.n_classes);
  });
}

}  // namespace

ReadRows read_rows(const TokenRows& rows, const TokenCells& cells) {
  ReadRows read;
  read.scores = std::make_shared<TokenScores>(cells, Model::kMultinomial);
  const RowReader reader(cells, *read.scores);
  const ClassCells by_class(cells);
  OwnClassCells own_class(cells, by_class);
  read.rows.resize(rows.n);
  read.start.resize(rows.n);
  read.tokens.reserve(rows.indptr[rows.n]);
  for (const std::int64_t i : rows_by_class(rows.label, rows.n, cells.n_classes)) {
    read.start[i] = static_cast<std::int64_t>(read.tokens.size());
    keep_first(read.uncounted, reader.read(row_of(rows, i), own_class, read.rows[i], read.tokens));
  }
  return read;
}

void score_rows(const ReadRows& rows, const TokenCells& cells, double scale, Model model, double* out, int n_threads) {
  score_all(rows, cells, scale, model, nullptr, out, n_threads,
            [](RowScorer& scorer, const RowSummary& row, const RowToken* tokens, double* line) {
              scorer.score(row, tokens, line);
            });
}

void score_bernoulli(const ReadRows& rows, const TokenCells& cells, double scale, const double* n_rows, double* out,
                     int n_threads) {
  score_all(rows, cells, scale, Model::kMultinomial, n_rows, out, n_threads,
            [&](RowScorer& scorer, const RowSummary& row, const RowToken* tokens, double* line) {
              scorer.score_bernoulli(row, tokens, n_rows, line);
            });
}

UncountedEntry leave_tokens_out(const TokenRows& rows, const TokenCells& cells, Model model, double* out,
                                int n_threads) {
  TokenScores scores(cells, model);
  scores.smooth(cells, 1.0, model);
  const RowReader reader(cells, scores);
  const std::vector<std::int64_t> order = rows_by_class(rows.label, rows.n, cells.n_classes);
  OwnClassPool pool(cells);
  UncountedEntry first;
  std::mutex guard;
  for_rows(rows.n, n_threads, [&](std::int64_t from, std::int64_t to) {
    RowScorer scorer(cells, scores, 1.0, model);
    OwnClassPool::Lease own_class(pool);
    std::vector<RowToken> tokens;
    for (std::int64_t at = from; at < to; ++at) {
      const std::int64_t i = order[at];
      RowSummary row;
      tokens.clear();
      const UncountedEntry uncounted = reader.read(row_of(rows, i), *own_class, row, tokens);
      if (uncounted.row < 0) {
        scorer.score(row, tokens.data(), out + i * cells.n_classes);
      } else {
        const std::lock_guard lock(guard);
        keep_first(first, uncounted);
      }
    }
  });
  return first;
}

}  // namespace naively::leave_one_out
