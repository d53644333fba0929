// Count a matrix that is stored by columns: one token at a time, in a scratch line with a cell per class.
#include <algorithm>

#include "counts/cell_sums.hpp"
#include "counts/count.hpp"
#include "support/threads.hpp"

namespace naively::counts {
namespace {

// Columns [from, to). Columns are not cut, so the chunks do not influence the sums.
struct Chunk {
  std::int64_t from, to;
  std::vector<MissingEntry> missing;
  std::int64_t negative = -1, fractional = -1;
};

std::vector<Chunk> cut_columns(const MatrixLines& columns) {
  constexpr std::int64_t kMaxEntries = 1 << 18, kMaxColumns = 4096;
  std::vector<Chunk> chunks;
  std::int64_t entries = 0;
  for (std::int64_t j = 0; j < columns.n_lines; ++j) {
    if (chunks.empty() || entries > kMaxEntries || j - chunks.back().from == kMaxColumns) {
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
  ColumnCount(const MatrixLines& columns, const Labels& labels, CellsBuilder& builder)
      : columns_(columns), labels_(labels), builder_(builder), reader_(columns, true), cells_(labels.n_classes) {}

  // Returns false, and changes nothing, if the values do not fit this kind of cell.
  bool count(std::int64_t j, Irregular& irregular) {
    const Line line = reader_.read(j);
    for (std::int64_t k = 0; k < line.size; k += kPieceEntries) {
      const std::int64_t n = std::min(kPieceEntries, line.size - k);
      gather(line, k, n);
      const double* x = columns_.values.read(line.first + k * line.step, line.step, n, x_);
      if (!add_entries(cells_.data(), class_, x, weight_, labels_.weight != nullptr, n, irregular)) {
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
      for (std::int64_t c = 0; c < labels_.n_classes; ++c) collect(cells_[c], builder_, j, c);
    } else {
      for (std::int64_t k = 0; k < line.size; ++k) {
        const std::int32_t c = labels_.label[line.index[k]];
        collect(cells_[c], builder_, j, c);
      }
    }
  }

  const MatrixLines& columns_;
  const Labels& labels_;
  CellsBuilder& builder_;
  LineReader reader_;
  std::vector<Cell> cells_;
  std::int32_t class_[kPieceEntries];
  double x_[kPieceEntries], weight_[kPieceEntries] = {1};
};

void note(std::int64_t j, Irregular& irregular, Chunk& chunk) {
  for (const auto& m : irregular.missing) chunk.missing.push_back({m.slot, static_cast<std::int32_t>(j), m.weight});
  irregular.missing.clear();
  if (chunk.negative < 0 && irregular.negative != kNoSlot) chunk.negative = j;
  if (chunk.fractional < 0 && irregular.fractional != kNoSlot) chunk.fractional = j;
}

template <class Cell>
void count_chunk(const MatrixLines& columns, const Labels& labels, CellsBuilder& builder, Chunk& chunk) {
  ColumnCount<PackedCell> packed(columns, labels, builder);
  ColumnCount<Cell> other(columns, labels, builder);
  Irregular irregular;
  bool use_packed = labels.weight == nullptr;  // until a value does not fit a PackedCell
  for (std::int64_t j = chunk.from; j < chunk.to; ++j) {
    const bool may_fit = use_packed && columns.size(j) <= PackedCell::kMaxRows;
    if (may_fit && packed.count(j, irregular)) continue;
    use_packed = use_packed && !may_fit;
    other.count(j, irregular);
    note(j, irregular, chunk);
  }
}

// Turns a table token × class into one class × token.
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

CountedCells count_columns(const MatrixLines& columns, const Labels& labels, int n_threads) {
  support::check_labels(labels);
  std::vector<std::int64_t> start(columns.n_lines + 1, 0);
  for (std::int64_t j = 0; j < columns.n_lines; ++j)
    start[j + 1] = start[j] + std::min(columns.size(j), labels.n_classes);
  CellsBuilder builder(std::move(start), 2);
  std::vector<Chunk> chunks = cut_columns(columns);
  support::parallel_for(chunks.size(), n_threads, [&](std::int64_t i) {
    if (labels.weight != nullptr) {
      count_chunk<WeightedCell>(columns, labels, builder, chunks[i]);
    } else {
      count_chunk<PlainCell>(columns, labels, builder, chunks[i]);
    }
  });
  CountedCells result;
  std::vector<MissingEntry> entries;
  for (const Chunk& chunk : chunks) {
    entries.insert(entries.end(), chunk.missing.begin(), chunk.missing.end());
    if (result.negative < 0) result.negative = chunk.negative;
    if (result.fractional < 0) result.fractional = chunk.fractional;
  }
  result.cells = class_major(std::move(builder).finish(), labels.n_classes);
  result.missing = missing_cells(entries, labels.n_classes);
  return result;
}

}  // namespace naively::counts
