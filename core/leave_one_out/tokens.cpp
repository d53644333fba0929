#include "leave_one_out/tokens.hpp"

#include <algorithm>
#include <mutex>

#include "leave_one_out/row_scores.hpp"
#include "support/threads.hpp"

namespace naively::leave_one_out {
namespace {

constexpr std::int64_t kTokenRows = 128;

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
  support::parallel_for((n + kTokenRows - 1) / kTokenRows, n_threads, [&](std::ptrdiff_t chunk) {
    work(chunk * kTokenRows, std::min<std::int64_t>((chunk + 1) * kTokenRows, n));
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

// Collects the distinct tokens of a document, and prefetches the counts of a token as soon as its number is known.
class PrefetchingCollector final : public text::TokenResolver {
 public:
  PrefetchingCollector(const text::Vocabulary* vocabulary, const text::Options& options, const TokenScores& scores,
                       const OwnClassCells& own_class)
      : TokenResolver(vocabulary, options, SIZE_MAX), scores_(scores), own_class_(own_class) {}
  void known(const std::uint32_t* ids, std::size_t n) final {
    for (std::size_t i = 0; i < n; ++i) scores_.prefetch_place(ids[i]);
    const std::size_t before = distinct.items().size();
    distinct.add(ids, n);
    for (const auto [id, times] : distinct.items().subspan(before))
      if (const auto place = scores_.place(id); place.is_known()) scores_.prefetch_head(place), own_class_.prefetch(id);
  }
  text::DistinctTokens distinct;

 private:
  const TokenScores& scores_;
  const OwnClassCells& own_class_;
};

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

UncountedEntry leave_texts_out(const CountedDocuments& counted, const text::Vocabulary* vocabulary,
                               const text::Options& options, const TokenCells& cells, Model model, double* out,
                               double* length, int n_threads, const text::Poll& poll) {
  TokenScores scores(cells, model);
  scores.smooth(cells, 1.0, model);
  const RowReader reader(cells, scores);
  const text::Documents& documents = counted.documents;
  const std::vector<std::int64_t> order =
      rows_by_class(counted.label, static_cast<std::int64_t>(documents.size()), cells.n_classes);
  OwnClassPool pool(cells);
  const text::Chunks chunks = text::make_chunks(documents, order.data());
  UncountedEntry first;
  std::mutex guard;
  text::for_chunks(chunks, vocabulary, n_threads, poll, [&](std::size_t chunk) {
    RowScorer scorer(cells, scores, 1.0, model);
    OwnClassPool::Lease own_class(pool);
    PrefetchingCollector collector(vocabulary, options, scores, *own_class);
    std::vector<std::int32_t> index;
    std::vector<double> count;
    std::vector<RowToken> tokens;
    for (std::size_t at = chunks.first[chunk]; at < chunks.first[chunk + 1]; ++at) {
      const auto i = static_cast<std::size_t>(order[at]);
      if (documents.missing(i)) continue;
      collector.distinct.begin();
      collector.read(documents, i);
      const auto items = collector.distinct.items();
      index.resize(items.size()), count.resize(items.size()), tokens.clear();
      for (std::size_t k = 0; k < items.size(); ++k)
        index[k] = static_cast<std::int32_t>(items[k].id), count[k] = counted.once ? 1.0 : items[k].n;
      const auto row = static_cast<std::int64_t>(i), n = static_cast<std::int64_t>(index.size());
      RowSummary summary;
      const UncountedEntry uncounted = reader.read(
          {row, n, index.data(), count.data(), nullptr, counted.label[i], counted.weight[i], counted.rows[i]},
          *own_class, summary, tokens);
      if (uncounted.row < 0) {
        scorer.score(summary, tokens.data(), out + row * cells.n_classes);
        if (length) length[row] += summary.length;
      } else {
        const std::lock_guard lock(guard);
        keep_first(first, uncounted);
      }
    }
  });
  return first;
}

}  // namespace naively::leave_one_out
