// Tables of columns.
#include "together/together.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "support/memory.hpp"

namespace naively::bindings {
namespace {

using namespace together;

// Columns (table, 8), cuts (table, 8, 5), codes of categories, and their offsets.
using PlanArrays = std::tuple<In<std::int32_t, 2>, In<double, 3>, In<std::uint8_t, 1>, Ints>;
// Offsets, entries of the index (path, node), masks and parents.
using TreeArrays = std::tuple<Ints, In<std::int64_t, 2>, Ints, In<std::int32_t, 1>>;
using Keys = In<std::int64_t, 2>;

void py_pack_keys(const std::vector<Numbers<2>>& pieces, const PlanArrays& arrays, const Out<std::int64_t, 2>& out,
                  int n_threads) {
  const auto& [columns, cuts, codes, code_offsets] = arrays;
  const std::int64_t n_tables = size_of(columns), n_rows = size_of(out, 1);
  std::vector<support::Matrix> matrices;
  std::int64_t n_columns = 0;
  for (const Numbers<2>& piece : pieces) {
    checked(piece, "a piece", {n_rows, -1});
    matrices.push_back(matrix_of(piece));
    n_columns += matrices.back().p;
  }
  checked(columns, "columns", {n_tables, kMaxColumns});
  for (std::int64_t slot = 0; slot < n_tables * kMaxColumns; ++slot)
    require(columns.data()[slot] >= -1 && columns.data()[slot] < n_columns, "a table has a column that is not there");
  checked(cuts, "cuts", {n_tables, kMaxColumns, kCuts});
  checked_offsets(code_offsets, "code_offsets", n_columns, size_of(codes));
  checked(out, "out", {n_tables, n_rows});
  const Plan plan{n_tables, n_columns, columns.data(), cuts.data(), codes.data(), code_offsets.data()};
  without_gil([&] { pack_keys(matrices, plan, n_rows, out.data(), n_threads); });
}

// Offsets and entries of the index; of each node its parent, table and counts; the ends of the nodes of each length.
using NewTree = std::tuple<New<std::int64_t, 1>, New<std::int64_t, 2>, New<std::int32_t, 1>, New<std::int64_t, 1>,
                           New<double, 2>, std::vector<std::int64_t>>;

NewTree py_make_tree(const Ints& paths, const Ints& tables, const LabelArray& label, const Floats& weight,
                     std::int64_t n_tables, std::int64_t n_classes) {
  const std::int64_t n_cells = size_of(paths);
  const PathCells cells{n_cells, paths.data(), checked(tables, "tables", {n_cells}), checked(label, "label", {n_cells}),
                        checked(weight, "weight", {n_cells})};
  support::check_labels(cells.label, n_cells, n_classes);
  for (std::int64_t i = 0; i < n_cells; ++i) {
    require(tables(i) >= 0 && tables(i) < n_tables, "a path has a table that is not there");
    require(paths(i) >> 56 > 0, "a path has no first column");
  }
  Nodes nodes = without_gil([&] { return make_nodes(cells, n_classes); });
  const auto n_nodes = static_cast<std::int64_t>(nodes.path.size());
  std::vector<std::int64_t> sizes(n_tables, 0);
  for (const std::int64_t table : nodes.table) ++sizes[table];
  support::Buffer<std::int64_t> offsets(n_tables + 1);
  offsets[0] = 0;
  for (std::int64_t m = 0; m < n_tables; ++m) offsets[m + 1] = offsets[m] + index_size(sizes[m]);
  const std::int64_t n = offsets[n_tables];
  support::Buffer<std::int64_t> index(2 * n);
  static_assert(sizeof(IndexEntry) == 2 * sizeof(std::int64_t));
  std::fill_n(index.get(), 2 * n, 0);
  without_gil([&] { index_nodes(nodes, offsets.get(), reinterpret_cast<IndexEntry*>(index.get())); });
  return {to_numpy(std::move(offsets), n_tables + 1),
          to_numpy(std::move(index), n, 2),
          to_numpy(std::move(nodes.parent), n_nodes),
          to_numpy(std::move(nodes.table), n_nodes),
          to_numpy(std::move(nodes.counts), n_nodes, n_classes),
          {nodes.ends.begin(), nodes.ends.end()}};
}

// Nodes and parents are not checked, which would take longer than to score a row: `TableTree` makes them.
Tree tree_of(const TreeArrays& arrays, const Keys& keys) {
  const auto& [offsets, index, masks, parents] = arrays;
  const std::int64_t n_tables = size_of(masks);
  checked(index, "index", {-1, 2});
  checked(keys, "keys", {n_tables, -1});
  const std::int64_t* const starts = checked_offsets(offsets, "offsets", n_tables, size_of(index));
  const auto* const entries = reinterpret_cast<const IndexEntry*>(index.data());
  return {n_tables, size_of(parents), starts, masks.data(), entries, parents.data()};
}

void py_find_nodes(const TreeArrays& arrays, const Keys& keys, const Out<std::int32_t, 2>& out, int n_threads) {
  const Tree tree = tree_of(arrays, keys);
  checked(out, "out", {tree.n_tables, size_of(keys, 1)});
  without_gil([&] { find_nodes(tree, keys.data(), size_of(keys, 1), out.data(), n_threads); });
}

void py_score_tables(const TreeArrays& arrays, const Keys& keys, const Table& evidence, const OutTable& out,
                     int n_threads) {
  const Tree tree = tree_of(arrays, keys);
  const std::int64_t n_rows = size_of(keys, 1), n_classes = size_of(out, 1);
  checked(evidence, "evidence", {tree.n_nodes, n_classes});
  checked(out, "out", {n_rows, n_classes});
  without_gil([&] { score_tables(tree, keys.data(), n_rows, evidence.data(), n_classes, out.data(), n_threads); });
}

std::int64_t py_leave_out_of_tables(const TreeArrays& arrays, const Keys& keys, const Table& counts,
                                    const Floats& total, const LabelArray& label, const Floats& weight,
                                    const Out<double, 3>& out, int n_threads) {
  const Tree tree = tree_of(arrays, keys);
  const std::int64_t n_rows = size_of(keys, 1), n_classes = size_of(total);
  checked(counts, "counts", {tree.n_nodes, n_classes});
  checked(out, "out", {tree.n_tables, n_rows, n_classes});
  const LeavingRows leaving{checked(label, "label", {n_rows}), checked(weight, "weight", {n_rows})};
  support::check_labels(leaving.label, n_rows, n_classes);
  return without_gil([&] {
    return leave_out_of_tables(tree, keys.data(), n_rows, counts.data(), total.data(), n_classes, leaving, out.data(),
                               n_threads);
  });
}

}  // namespace

void bind_together(nb::module_& m) {
  m.def("pack_keys", py_pack_keys, "pieces"_a, "plan"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("make_tree", py_make_tree, "paths"_a, "tables"_a, "label"_a, "weight"_a, "n_tables"_a, "n_classes"_a);
  m.def("find_nodes", py_find_nodes, "tree"_a, "keys"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("score_tables", py_score_tables, "tree"_a, "keys"_a, "evidence"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("leave_out_of_tables", py_leave_out_of_tables, "tree"_a, "keys"_a, "counts"_a, "total"_a, "label"_a, "weight"_a,
        "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace naively::bindings
