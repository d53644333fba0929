#include "leave_one_out/texts.hpp"

#include "leave_one_out/row_scores.hpp"
#include "text/token_rows.hpp"

namespace naively::text {
namespace {

// Asks for what is known of a token as soon as its number is known: until the document is through there is much to do.
class LeavingCollector final : public Resolver {
 public:
  LeavingCollector(const Words* words, const Options& options, const cells::Whole& whole, const cells::OwnCells& own)
      : Resolver(words, options, SIZE_MAX), whole_(whole), own_(own) {}
  void known(const std::uint32_t* ids, std::size_t n) final {
    for (std::size_t i = 0; i < n; ++i) whole_.prefetch_place(ids[i]);
    const std::size_t before = distinct.items().size();
    distinct.add(ids, n);
    for (const auto [id, times] : distinct.items().subspan(before))
      if (const auto place = whole_.place(id); place.known()) whole_.prefetch_head(place), own_.prefetch(id);
  }
  Distinct distinct;

 private:
  const cells::Whole& whole_;
  const cells::OwnCells& own_;
};

}  // namespace

cells::NotCounted leave_text_out(const LeavingDocuments& leaving, const Vocabulary* vocabulary, const Options& options,
                                 const cells::TokenCells& cells, cells::Model model, double* out, int n_jobs,
                                 const Poll& poll) {
  cells::Whole whole(cells, model);
  whole.smooth(cells, 1.0, model);
  const cells::Reader reader(cells, whole);
  const Documents& documents = leaving.documents;
  const std::vector<std::int64_t> order =
      cells::by_label(leaving.label, static_cast<std::int64_t>(documents.size()), cells.n_classes);
  cells::OwnTables tables(cells);
  const Chunks chunks = make_chunks(documents, order.data());
  cells::NotCounted first;
  std::mutex guard;
  for_chunks(chunks, vocabulary, n_jobs, poll, [&](std::size_t chunk) {
    cells::Scorer scorer(cells, whole, 1.0, model);
    cells::OwnTables::Taken own(tables);
    LeavingCollector collector(vocabulary ? &vocabulary->words : nullptr, options, whole, *own);
    std::vector<std::int32_t> index;
    std::vector<double> count;
    std::vector<cells::LeftEntry> entries;
    for (std::size_t at = chunks.first[chunk]; at < chunks.first[chunk + 1]; ++at) {
      const auto i = static_cast<std::size_t>(order[at]);
      if (documents.missing(i)) continue;
      collector.distinct.begin();
      collector.read(documents, i);
      const auto items = collector.distinct.items();
      index.resize(items.size()), count.resize(items.size()), entries.clear();
      for (std::size_t k = 0; k < items.size(); ++k)
        index[k] = static_cast<std::int32_t>(items[k].id), count[k] = leaving.once ? 1.0 : items[k].n;
      cells::LeftRow row;
      cells::NotCounted bad;
      if (!reader.read({static_cast<std::int64_t>(i), static_cast<std::int64_t>(index.size()), index.data(),
                        count.data(), nullptr, leaving.label[i], leaving.weight[i], leaving.rows[i]},
                       *own, row, entries, bad)) {
        const std::lock_guard lock(guard);
        if (first.row < 0 || bad.row < first.row) first = bad;
        continue;
      }
      scorer.score(row, entries.data(), out + static_cast<std::int64_t>(i) * cells.n_classes);
    }
  });
  return first;
}

}  // namespace naively::text
