#include "leave_one_out/texts.hpp"

#include "leave_one_out/row_scores.hpp"
#include "text/text.hpp"

namespace naively::leave_one_out {
namespace {

// Collects the distinct tokens of a document, and prefetches the counts of a token as soon as its number is known.
class PrefetchingCollector final : public text::TokenResolver {
 public:
  PrefetchingCollector(const text::Words* words, const text::Options& options, const TokenScores& scores,
                       const OwnClassCells& own_class)
      : TokenResolver(words, options, SIZE_MAX), scores_(scores), own_class_(own_class) {}
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

UncountedEntry leave_texts_out(const CountedDocuments& counted, const text::Vocabulary* vocabulary,
                               const text::Options& options, const TokenCells& cells, Model model, double* out,
                               int n_threads, const text::Poll& poll) {
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
    PrefetchingCollector collector(vocabulary ? &vocabulary->words : nullptr, options, scores, *own_class);
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
      } else {
        const std::lock_guard lock(guard);
        keep_first(first, uncounted);
      }
    }
  });
  return first;
}

}  // namespace naively::leave_one_out
