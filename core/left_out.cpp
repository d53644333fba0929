#include "left_out.hpp"

#include <algorithm>
#include <mutex>

#include "left_out_rows.hpp"
#include "threads.hpp"

namespace naively::cells {
namespace {

constexpr std::int64_t kChunk = 128;  // rows

LeavingRow leaving(const LeavingRows& rows, std::int64_t i) {
  const std::int64_t first = rows.indptr[i];
  return {i, rows.indptr[i + 1] - first, rows.index + first, rows.count + first, rows.times ? rows.times + first : nullptr,
          rows.label[i], rows.weight[i], rows.rows[i]};
}

// Calls work(first, last) for some rows at a time.
template <class Work>
void for_rows(const LeftRows& left, int n_jobs, Work&& work) {
  const auto n = static_cast<std::int64_t>(left.rows.size());
  parallel_for((n + kChunk - 1) / kChunk, n_jobs,
               [&](std::ptrdiff_t chunk) { work(chunk * kChunk, std::min<std::int64_t>((chunk + 1) * kChunk, n)); });
}

}  // namespace

LeftRows read_left(const LeavingRows& rows, const TokenCells& cells) {
  LeftRows left;
  left.whole = std::make_shared<Whole>(cells);
  const Reader reader(cells, *left.whole);
  left.rows.resize(rows.n);
  left.start.resize(rows.n);
  left.entries.reserve(rows.indptr[rows.n]);
  for (std::int64_t i = 0; i < rows.n; ++i) {
    left.start[i] = static_cast<std::int64_t>(left.entries.size());
    if (!reader.read(leaving(rows, i), left.rows[i], left.entries, left.bad)) break;
  }
  return left;
}

void score_left(const LeftRows& left, const TokenCells& cells, double scale, bool complement, double* out, int n_jobs) {
  Whole& whole = *left.whole;
  const std::lock_guard lock(whole.in_use);
  whole.smooth(cells, scale, complement);
  for_rows(left, n_jobs, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer(cells, whole, scale);
    for (std::int64_t i = first; i < last; ++i)
      scorer.score(left.rows[i], left.entries.data() + left.start[i], complement, out + i * cells.n_classes);
  });
}

void score_left_coins(const LeftRows& left, const TokenCells& cells, double scale, const double* tossed, double* out,
                      int n_jobs) {
  Whole& whole = *left.whole;
  const std::lock_guard lock(whole.in_use);
  whole.smooth(cells, scale, false, tossed);
  for_rows(left, n_jobs, [&](std::int64_t first, std::int64_t last) {
    Scorer scorer(cells, whole, scale);
    for (std::int64_t i = first; i < last; ++i)
      scorer.coins(left.rows[i], left.entries.data() + left.start[i], tossed, out + i * cells.n_classes);
  });
}

NotCounted leave_out(const LeavingRows& rows, const TokenCells& cells, bool complement, double* out, int n_jobs) {
  Whole whole(cells);
  whole.smooth(cells, 1.0, complement);
  const Reader reader(cells, whole);
  NotCounted first;
  std::mutex guard;
  parallel_for((rows.n + kChunk - 1) / kChunk, n_jobs, [&](std::ptrdiff_t chunk) {
    Scorer scorer(cells, whole, 1.0);
    std::vector<LeftEntry> entries;
    for (std::int64_t i = chunk * kChunk; i < std::min<std::int64_t>((chunk + 1) * kChunk, rows.n); ++i) {
      LeftRow row;
      NotCounted bad;
      entries.clear();
      if (!reader.read(leaving(rows, i), row, entries, bad)) {
        std::lock_guard lock(guard);
        if (first.row < 0 || bad.row < first.row) first = bad;
        return;
      }
      scorer.score(row, entries.data(), complement, out + i * cells.n_classes);
    }
  });
  return first;
}

}  // namespace naively::cells
