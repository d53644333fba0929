#include "counts/count.hpp"

#include <algorithm>

#include "counts/cell_sums.hpp"

namespace naively::cells {

void check_labels(const Labels& labels) {
  std::uint32_t most = 0;  // as an unsigned number a negative label is large
  for (std::int64_t i = 0; i < labels.n; ++i) most = std::max(most, static_cast<std::uint32_t>(labels.label[i]));
  if (labels.n == 0 || static_cast<std::int64_t>(most) < std::min<std::int64_t>(labels.n_classes, 1LL << 31)) return;
  for (std::int64_t i = 0; i < labels.n; ++i)
    if (labels.label[i] < 0 || labels.label[i] >= labels.n_classes)
      throw std::invalid_argument("label of row " + std::to_string(i) + " is " + std::to_string(labels.label[i]) +
                                  "; labels must lie in [0, " + std::to_string(labels.n_classes) + ")");
}

Cells missing_cells(std::vector<Hit>& hits, std::int64_t n_classes) {
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& a, const Hit& b) { return a.c != b.c ? a.c < b.c : a.token < b.token; });
  std::vector<std::int64_t> start(n_classes + 1, 0);
  for (const Hit& hit : hits) ++start[hit.c + 1];
  for (std::int64_t c = 0; c < n_classes; ++c) start[c + 1] += start[c];
  Draft draft(std::move(start), 1);
  for (std::size_t i = 0; i < hits.size();) {
    const Hit& first = hits[i];
    Sum weight{};
    std::int64_t rows = 0;
    for (; i < hits.size() && hits[i].c == first.c && hits[i].token == first.token; ++i, ++rows)
      weight.add(hits[i].weight);
    const double sum = weight.value();
    draft.append(first.c, first.token, &sum, rows);
  }
  return std::move(draft).finish();
}

Counted count_dense(const Matrix& x, const Labels& labels, int n_jobs) {
  return x.by_columns() ? count_columns(columns_of(x), labels, n_jobs) : count_rows(rows_of(x), labels, n_jobs);
}

}  // namespace naively::cells
