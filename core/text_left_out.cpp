#include "text_left_out.hpp"

#include "left_out_rows.hpp"
#include "text_rows.hpp"

namespace naively::text {

cells::NotCounted leave_text_out(const LeavingDocuments& leaving, const Vocabulary* vocabulary, const Options& options,
                                 const cells::TokenCells& cells, bool complement, double* out, int n_jobs,
                                 const Poll& poll) {
  cells::Whole whole(cells);
  whole.smooth(cells, 1.0, complement);
  const cells::Reader reader(cells, whole);
  const Documents& documents = leaving.documents;
  const Chunks chunks = make_chunks(documents);
  cells::NotCounted first;
  std::mutex guard;
  for_chunks(chunks, vocabulary, n_jobs, poll, [&](std::size_t chunk) {
    RowCollector collector(vocabulary ? &vocabulary->words : nullptr, options);
    cells::Scorer scorer(cells, whole, 1.0);
    std::vector<std::int32_t> index;
    std::vector<double> count;
    std::vector<cells::LeftEntry> entries;
    for (std::size_t i = chunks.first[chunk]; i < chunks.first[chunk + 1]; ++i) {
      if (documents.missing(i)) continue;
      collector.distinct.begin();
      collector.read(documents, i);
      index.clear(), count.clear(), entries.clear();
      for (const auto [id, n] : collector.distinct.items())
        index.push_back(static_cast<std::int32_t>(id)), count.push_back(leaving.once ? 1.0 : n);
      cells::LeftRow row;
      cells::NotCounted bad;
      if (!reader.read({static_cast<std::int64_t>(i), static_cast<std::int64_t>(index.size()), index.data(), count.data(),
                        nullptr, leaving.label[i], leaving.weight[i], leaving.rows[i]},
                       row, entries, bad)) {
        std::lock_guard lock(guard);
        if (first.row < 0 || bad.row < first.row) first = bad;
        return;
      }
      scorer.score(row, entries.data(), complement, out + static_cast<std::int64_t>(i) * cells.n_classes);
    }
  });
  return first;
}

}  // namespace naively::text
