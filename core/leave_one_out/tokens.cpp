#include "leave_one_out/tokens.hpp"

#include <algorithm>
#include <mutex>

#include "leave_one_out/row_scores.hpp"
#include "support/threads.hpp"

namespace naively::cells {
namespace {

constexpr std::int64_t kChunk = 128;  // rows

LeavingRow leaving(const LeavingRows& rows, std::int64_t i) {
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

// Calls work(first, last) for some rows at a time.
template <class Work>
void for_rows(const LeftRows& left, int n_jobs, Work&& work) {
  const auto n = static_cast<std::int64_t>(left.rows.size());
  support::parallel_for((n + kChunk - 1) / kChunk, n_jobs, [&](std::ptrdiff_t chunk) {
    work(chunk * kChunk, std::min<std::int64_t>((chunk + 1) * kChunk, n));
  });
}

void keep_first(NotCounted& first, const NotCounted& bad) {
  if (first.row < 0 || bad.row < first.row) first = bad;
}

}  // namespace

LeftRows read_left(const LeavingRows& rows, const TokenCells& cells) {
  LeftRows left;
  left.whole = std::make_shared<Whole>(cells, Model::multinomial);
  const Reader reader(cells, *left.whole);
  const ClassCells by_class(cells);
  OwnCells own(cells, by_class);
  left.rows.resize(rows.n);
  left.start.resize(rows.n);
  left.entries.reserve(rows.indptr[rows.n]);
  for (const std::int64_t i : by_label(rows.label, rows.n, cells.n_classes)) {
    left.start[i] = static_cast<std::int64_t>(left.entries.size());
    NotCounted bad;
    if (!reader.read(leaving(rows, i), own, left.rows[i], left.entries, bad)) keep_first(left.bad, bad);
  }
  return left;
}

void score_left(const LeftRows& left, const TokenCells& cells, double scale, Model model, double* out, int n_jobs) {
  Whole& whole = *left.whole;
  const std::lock_guard lock(whole.in_use);
  whole.smooth(cells, scale, model);
  for_rows(left, n_jobs, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer(cells, whole, scale, model);
    for (std::int64_t i = first; i < last; ++i)
      scorer.score(left.rows[i], left.entries.data() + left.start[i], out + i * cells.n_classes);
  });
}

void score_left_coins(const LeftRows& left, const TokenCells& cells, double scale, const double* tossed, double* out,
                      int n_jobs) {
  Whole& whole = *left.whole;
  const std::lock_guard lock(whole.in_use);
  whole.smooth(cells, scale, Model::multinomial, tossed);
  for_rows(left, n_jobs, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer(cells, whole, scale, Model::multinomial);
    for (std::int64_t i = first; i < last; ++i)
      scorer.coins(left.rows[i], left.entries.data() + left.start[i], tossed, out + i * cells.n_classes);
  });
}

NotCounted leave_out(const LeavingRows& rows, const TokenCells& cells, Model model, double* out, int n_jobs) {
  Whole whole(cells, model);
  whole.smooth(cells, 1.0, model);
  const Reader reader(cells, whole);
  const std::vector<std::int64_t> order = by_label(rows.label, rows.n, cells.n_classes);
  OwnTables tables(cells);
  NotCounted first;
  std::mutex guard;
  support::parallel_for((rows.n + kChunk - 1) / kChunk, n_jobs, [&](std::ptrdiff_t chunk) {
    Scorer scorer(cells, whole, 1.0, model);
    OwnTables::Taken own(tables);
    std::vector<LeftEntry> entries;
    for (std::int64_t at = chunk * kChunk; at < std::min<std::int64_t>((chunk + 1) * kChunk, rows.n); ++at) {
      const std::int64_t i = order[at];
      LeftRow row;
      NotCounted bad;
      entries.clear();
      if (!reader.read(leaving(rows, i), *own, row, entries, bad)) {
        const std::lock_guard lock(guard);
        keep_first(first, bad);
        continue;
      }
      scorer.score(row, entries.data(), out + i * cells.n_classes);
    }
  });
  return first;
}

}  // namespace naively::cells
