// Cells: a sparse table class × token, class-major, tokens ascending within a class.
//
// Every cell has one or more sums of weights (channels) and a number of rows. It exists while its rows are not 0.
// Tables are allocated at an upper bound of their size and shrunk in place. Memory that was never written to is not
// resident, so the peak follows the cells that exist.
#pragma once
#include <cstdint>
#include <vector>

#include "support/memory.hpp"

namespace naively::counts {

using support::Buffer;
using support::LargeArray;

// Cells in memory of the caller. sums[f * size + i] is channel f of cell i.
struct CellsView {
  std::int64_t n_classes, n_sums, size;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* sums;
  const std::int64_t* rows;
};

struct Cells {
  std::int64_t n_classes = 0, n_sums = 0, size = 0;
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> index;
  Buffer<double> sums;
  Buffer<std::int64_t> rows;
};

// Builds cells class by class: class c has room from start[c] to start[c + 1], and its first used[c] cells are filled.
// Several threads may fill different classes.
class CellsBuilder {
 public:
  CellsBuilder(std::vector<std::int64_t> start, std::int64_t n_sums);

  // Appends a cell to class c; tokens must come in ascending order.
  void append(std::int64_t c, std::int32_t token, const double* sums, std::int64_t n_rows) {
    const std::int64_t at = start_[c] + used_[c]++;
    index_[at] = token;
    rows_[at] = n_rows;
    for (std::int64_t f = 0; f < n_sums_; ++f) sums_[f * room_ + at] = sums[f];
  }
  // Appends cells [from, to) of a table.
  void append(std::int64_t c, const CellsView& cells, std::int64_t from, std::int64_t to);
  // Moves the classes together and returns the table.
  Cells finish() &&;

 private:
  std::vector<std::int64_t> start_, used_;
  std::int64_t n_sums_, room_;
  Buffer<std::int32_t> index_;
  Buffer<double> sums_;
  Buffer<std::int64_t> rows_;
};

Cells merge_cells(const CellsView& a, const CellsView& b, int sign);

Cells renumber_cells(const CellsView& cells, const std::int32_t* class_map, const std::int32_t* index_map,
                     std::int64_t n_tokens, std::int64_t n_classes);

// The transpose: the cells of token k are order[indptr[k] .. indptr[k + 1]), of classes[…].
struct TokenMajor {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> classes;
  Buffer<std::int64_t> order;
};
TokenMajor by_token(const CellsView& cells, std::int64_t n_tokens);

// The cells of selected tokens, token by token. Behind them one cell for each class that has other tokens, with the
// sums of all these.
struct SelectedTokens {
  std::int64_t size, n_distinct;  // cells; distinct tokens of all cells
  Buffer<std::int64_t> start;
  Buffer<std::int32_t> owner;
  Buffer<double> sums;  // (channel, cell)
  Buffer<std::int64_t> rows;
};
// Token k becomes position[k] of 0 … n_selected − 1, or is one of the others if that is −1.
SelectedTokens select_tokens(const CellsView& cells, const std::int32_t* position, std::int64_t n_tokens,
                             std::int64_t n_selected);

// Log weights of tokens with one pseudo-count α: base_k + log(1 + N_kc/α), N the first channel and the last term zero
// without a cell (equation 4 of src/naively/families/multinomial.py). The tables are token-major, as scoring reads
// them, and made directly from the cells. The first is (token, class).
LargeArray<double> token_log_table(const CellsView& cells, const double* base, std::size_t n_tokens, double alpha,
                                   int n_threads);

// The last terms of the cells: token k's classes and values are [start[k], start[k + 1]).
struct TokenLogs {
  LargeArray<std::int64_t> start;
  LargeArray<std::int32_t> owner;
  LargeArray<double> value;
};
TokenLogs token_logs(const CellsView& cells, std::size_t n_tokens, double alpha, int n_threads);

}  // namespace naively::counts
