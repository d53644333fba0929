// Tables of columns: each table reads up to eight columns, a byte each, as one 64-bit key.
//
// Byte t of the key, the most significant first, is the code of the table's column t, from 1 to 126: of a number
// 1 + how many of the table's cuts are below it, of a category what is listed. It is 0 if that column or one before it
// is missing: the path ends. The first byte keeps the key the bits of a positive, finite float64, so that a histogram
// counts it like any number. A path without a column is the bits of a NaN, a missing value.
//
// The keys of a table form a tree: a node is a beginning of a path. With the weight n_tc of class c and N_t of all
// classes in the node of the first t columns,
//
//   s_0 = class shares,    s_t = (n_t + s_{t−1}) / (N_t + 1),    t = 1 … T, where the path ends                    (1)
//   e = log s_T − log s_1                                                                                          (2)
//
// A node without rows adds nothing: s_t = s_{t−1}.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "support/inputs.hpp"

namespace naively::together {

using support::Matrix;

constexpr int kMaxColumns = 8;  // of a table
constexpr int kCuts = 5;        // of a number in a table; unused ones are +infinity
constexpr std::int64_t kNoPath = 0x7FF8000000000000;

struct Plan {
  std::int64_t n_tables, n_columns;
  const std::int32_t* columns;       // (table, kMaxColumns): positions among all columns, −1 after the last
  const double* cuts;                // (table, kMaxColumns, kCuts)
  const std::uint8_t* codes;         // of the values of categories, column after column
  const std::int64_t* code_offsets;  // of column j: [j], [j + 1]; an empty range is a column of numbers
};

// Writes the keys of all rows, (table, row). The columns of the plan are those of the pieces, one after the other.
void pack_keys(const std::vector<Matrix>& pieces, const Plan& plan, std::int64_t n_rows, std::int64_t* keys,
               int n_threads);

// An entry of an index: a path and its node; an empty one has the path 0.
struct IndexEntry {
  std::int64_t path, node;
};

// The nodes of each table by their paths, [offsets[m], offsets[m + 1]): open addressing in a power of two of entries,
// of which more than half are empty. Paths of rows are cut by `masks` to the whole bytes of the level of their table.
// The parent of a node of one column is −1.
struct Tree {
  std::int64_t n_tables, n_nodes;
  const std::int64_t *offsets, *masks;
  const IndexEntry* index;
  const std::int32_t* parents;
};

// Counted cells by table, then path, which is not 0.
struct PathCells {
  std::int64_t n;
  const std::int64_t *path, *table;
  const std::int32_t* label;
  const double* weight;
};

// All beginnings of the paths of cells: those of one column first, then those of two, each by table and path. `ends[t]`
// is the end of those of t + 1 columns. `counts` is (node, class).
struct Nodes {
  std::vector<std::int64_t> path, table;
  std::vector<std::int32_t> parent;
  std::vector<double> counts;
  std::array<std::int64_t, kMaxColumns> ends{};
};

Nodes make_nodes(const PathCells& cells, std::int64_t n_classes);

// The number of entries in the index of a table of this many nodes.
std::int64_t index_size(std::int64_t n_nodes);

// Enters the path of each node into an index of empty entries.
void index_nodes(const Nodes& nodes, const std::int64_t* offsets, IndexEntry* index);

// Writes the last node of each path that has rows, (table, row); −1 if none has.
void find_nodes(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, std::int32_t* nodes, int n_threads);

// Adds the evidence (node, class) of the nodes of each row to out (row, class).
void score_tables(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, const double* evidence,
                  std::int64_t n_classes, double* out, int n_threads);

// Rows that leave the counts: the class of each, and the weight with which it was counted.
struct LeavingRows {
  const std::int32_t* label;
  const double* weight;
};

// Writes (2) of counted rows without themselves, (table, row, class). `counts` are (node, class), `total` is the weight
// of each class. Returns the first row that was not counted, or −1.
std::int64_t leave_out_of_tables(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, const double* counts,
                                 const double* total, std::int64_t n_classes, const LeavingRows& leaving, double* out,
                                 int n_threads);

}  // namespace naively::together
