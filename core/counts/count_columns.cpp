// Counting a matrix that lies by columns: one token at a time, in a scratch line with a cell per class.
#include <algorithm>

#include "counts/cell_sums.hpp"
#include "counts/count.hpp"
#include "support/threads.hpp"

namespace naively::cells {
namespace {

// Columns [from, to). A column is never cut, so the cut has no influence on the sums.
struct Chunk {
  std::int64_t from, to;
  std::vector<Hit> missing;
  std::int64_t negative = -1, fractional = -1;
};

std::vector<Chunk> cut_columns(const Lines& columns) {
  constexpr std::int64_t ENTRIES = 1 << 18, COLUMNS = 4096;
  std::vector<Chunk> chunks;
  std::int64_t entries = 0;
  for (std::int64_t j = 0; j < columns.n_lines; ++j) {
    if (chunks.empty() || entries > ENTRIES || j - chunks.back().from == COLUMNS) {
      chunks.push_back({j, j, {}});
      entries = 0;
    }
    entries += columns.size(j);
    chunks.back().to = j + 1;
  }
  return chunks;
}

// Counts the columns of one chunk with one kind of cell.
template <class Cell>
class ColumnCount {
 public:
  ColumnCount(const Lines& columns, const Labels& labels, Draft& draft)
      : columns_(columns), labels_(labels), draft_(draft), reader_(columns, true), cells_(labels.n_classes) {}

  // False: the values do not fit this kind of cell; then nothing has happened.
  bool count(std::int64_t j, Odd& odd) {
    const Line line = reader_.read(j);
    for (std::int64_t k = 0; k < line.size; k += PIECE) {
      const std::int64_t n = std::min(PIECE, line.size - k);
      gather(line, k, n);
      const double* x = columns_.values.read(line.first + k * line.step, line.step, n, x_);
      if (!add_entries(cells_.data(), class_, x, weight_, labels_.weight != nullptr, n, odd)) {
        std::fill(cells_.begin(), cells_.end(), Cell{});
        return false;
      }
    }
    collect_column(line, j);
    return true;
  }

 private:
  void gather(const Line& line, std::int64_t k, std::int64_t n) {
    for (std::int64_t m = 0; m < n; ++m) class_[m] = labels_.label[line.index[k + m]];
    if (labels_.weight != nullptr)
      for (std::int64_t m = 0; m < n; ++m) weight_[m] = labels_.weight[line.index[k + m]];
  }

  void collect_column(const Line& line, std::int64_t j) {
    if (line.size >= labels_.n_classes) {
      for (std::int64_t c = 0; c < labels_.n_classes; ++c) collect(cells_[c], draft_, j, c);
    } else {
      for (std::int64_t k = 0; k < line.size; ++k) {
        const std::int32_t c = labels_.label[line.index[k]];
        collect(cells_[c], draft_, j, c);
      }
    }
  }

  const Lines& columns_;
  const Labels& labels_;
  Draft& draft_;
  LineReader reader_;
  std::vector<Cell> cells_;
  std::int32_t class_[PIECE];
  double x_[PIECE], weight_[PIECE] = {1};
};

void note(std::int64_t j, Odd& odd, Chunk& chunk) {
  for (const auto& m : odd.missing) chunk.missing.push_back({m.slot, static_cast<std::int32_t>(j), m.weight});
  odd.missing.clear();
  if (chunk.negative < 0 && odd.negative != NOWHERE) chunk.negative = j;
  if (chunk.fractional < 0 && odd.fractional != NOWHERE) chunk.fractional = j;
}

template <class Cell>
void count_chunk(const Lines& columns, const Labels& labels, Draft& draft, Chunk& chunk) {
  ColumnCount<Packed> packed(columns, labels, draft);
  ColumnCount<Cell> other(columns, labels, draft);
  Odd odd;
  bool whole = labels.weight == nullptr;  // until a value is met that Packed cannot hold
  for (std::int64_t j = chunk.from; j < chunk.to; ++j) {
    const bool fits = whole && columns.size(j) <= Packed::MOST_ROWS;
    if (fits && packed.count(j, odd)) continue;
    whole = whole && !fits;
    other.count(j, odd);
    note(j, odd, chunk);
  }
}

// A table token × class, as it was counted, turned into class × token.
Cells class_major(const Cells& tokens, std::int64_t n_classes) {
  TokenMajor turned = by_token({tokens.n_classes, tokens.n_sums, tokens.size, tokens.indptr.get(), tokens.index.get(),
                                tokens.sums.get(), tokens.rows.get()},
                               n_classes);
  Cells cells{n_classes,
              tokens.n_sums,
              tokens.size,
              std::move(turned.indptr),
              std::move(turned.classes),
              Buffer<double>(tokens.n_sums * tokens.size),
              Buffer<std::int64_t>(tokens.size)};
  for (std::int64_t i = 0; i < cells.size; ++i) cells.rows[i] = tokens.rows[turned.order[i]];
  for (std::int64_t f = 0; f < cells.n_sums; ++f)
    for (std::int64_t i = 0; i < cells.size; ++i)
      cells.sums[f * cells.size + i] = tokens.sums[f * cells.size + turned.order[i]];
  return cells;
}

}  // namespace

Counted count_columns(const Lines& columns, const Labels& labels, int n_jobs) {
  check_labels(labels);
  std::vector<std::int64_t> start(columns.n_lines + 1, 0);
  for (std::int64_t j = 0; j < columns.n_lines; ++j)
    start[j + 1] = start[j] + std::min(columns.size(j), labels.n_classes);
  Draft draft(std::move(start), 2);
  std::vector<Chunk> chunks = cut_columns(columns);
  support::parallel_for(chunks.size(), n_jobs, [&](std::int64_t i) {
    if (labels.weight != nullptr) {
      count_chunk<Weighted>(columns, labels, draft, chunks[i]);
    } else {
      count_chunk<Plain>(columns, labels, draft, chunks[i]);
    }
  });
  Counted result;
  std::vector<Hit> hits;
  for (const Chunk& chunk : chunks) {
    hits.insert(hits.end(), chunk.missing.begin(), chunk.missing.end());
    if (result.negative < 0) result.negative = chunk.negative;
    if (result.fractional < 0) result.fractional = chunk.fractional;
  }
  result.cells = class_major(std::move(draft).finish(), labels.n_classes);
  result.missing = missing_cells(hits, labels.n_classes);
  return result;
}

}  // namespace naively::cells
