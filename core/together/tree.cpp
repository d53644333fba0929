// Find the paths of keys in a tree, and score them.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

#include "support/compiler.hpp"
#include "support/threads.hpp"
#include "together/together.hpp"

namespace naively::together {
namespace {

constexpr std::int64_t kChunkRows = 4096;  // that meet one table after the other, each of which stays in the cache
constexpr std::int64_t kBatchRows = 64;    // whose entries and evidence are loaded at once
constexpr double kLeastShare = 1e-100;     // of a class without rows: its evidence is that of the limit

// The number of columns of a path: the bytes before the first zero. The key is not 0.
int length_of(std::int64_t key) { return kMaxColumns - std::countr_zero(static_cast<std::uint64_t>(key)) / 8; }

// The first `length` columns of a path.
std::int64_t beginning(std::int64_t path, int length) {
  return path & static_cast<std::int64_t>(~std::uint64_t{0} << (8 * (kMaxColumns - length)));
}

// Where the search for a path begins in an index of 2^(64 − shift) entries. Fibonacci hashing: the columns of a path
// are the upper bytes, which reach the upper bits of the product only.
std::size_t entry_of(std::int64_t path, int shift) {
  return static_cast<std::uint64_t>(path) * 0x9E3779B97F4A7C15u >> shift;
}

int shift_of(std::size_t n_entries) { return 64 - std::countr_zero(n_entries); }

// The nodes of one table.
struct TableIndex {
  const IndexEntry* entries;
  std::int64_t path_mask;
  std::size_t mask;
  int shift;

  TableIndex(const Tree& tree, std::int64_t table)
      : entries(tree.index + tree.offsets[table]),
        path_mask(tree.masks[table]),
        mask(tree.offsets[table + 1] - tree.offsets[table] - 1),
        shift(shift_of(mask + 1)) {}

  // Begins to load the entry of a key.
  void prefetch(std::int64_t key) const { support::prefetch(entries + entry_of(key & path_mask, shift)); }

  // Returns the node of a path that is not 0, or −1.
  std::int32_t node_of(std::int64_t path) const {
    std::size_t at = entry_of(path, shift);
    while (entries[at].path != path) {
      if (entries[at].path == 0) return -1;
      at = (at + 1) & mask;
    }
    return static_cast<std::int32_t>(entries[at].node);
  }

  // Returns the last node of a path that has rows, or −1, and how many columns of the path it has. All beginnings of a
  // path that has rows have rows.
  std::int32_t last_node(std::int64_t key, int& length) const {
    length = 0;
    const std::int64_t path = key == kNoPath ? 0 : key & path_mask;
    if (path == 0) return -1;
    int end = length_of(path);
    std::int32_t last = node_of(path);
    if (last >= 0) length = end;
    while (length + 1 < end) {
      const int middle = (length + end) / 2;
      const std::int32_t node = node_of(beginning(path, middle));
      if (node >= 0)
        length = middle, last = node;
      else
        end = middle;
    }
    return last;
  }
};

// How many columns the path of a cell shares with that of the cell before it.
int shared_columns(const PathCells& cells, std::int64_t i) {
  if (i == 0 || cells.table[i] != cells.table[i - 1]) return 0;
  const auto differ = static_cast<std::uint64_t>(cells.path[i] ^ cells.path[i - 1]);
  return std::min(std::countl_zero(differ) / 8, length_of(cells.path[i]));
}

// Adds the evidence of n keys to out (row, class). What the next step reads begins to load in each step.
void score_batch(const TableIndex& index, const std::int64_t* keys, std::int64_t n, const double* evidence,
                 std::int64_t n_classes, double* out) {
  const double* terms[kBatchRows];
  int length;
  for (std::int64_t i = 0; i < n; ++i) index.prefetch(keys[i]);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t node = index.last_node(keys[i], length);
    terms[i] = node < 0 ? nullptr : evidence + node * n_classes;
    if (node < 0) continue;
    for (std::int64_t c = 0; c < n_classes; c += 8) support::prefetch(terms[i] + c);  // a cache line
    support::prefetch(terms[i] + n_classes - 1);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (terms[i] == nullptr) continue;
    for (std::int64_t c = 0; c < n_classes; ++c) out[i * n_classes + c] += terms[i][c];
  }
}

template <class F>
void each_chunk(std::int64_t n_rows, int n_threads, F&& f) {
  support::parallel_for((n_rows + kChunkRows - 1) / kChunkRows, n_threads,
                        [&](std::int64_t chunk) { f(chunk * kChunkRows, std::min(n_rows, (chunk + 1) * kChunkRows)); });
}

}  // namespace

Nodes make_nodes(const PathCells& cells, std::int64_t n_classes) {
  Nodes nodes;
  for (std::int64_t i = 0; i < cells.n; ++i)
    for (int t = shared_columns(cells, i); t < length_of(cells.path[i]); ++t) ++nodes.ends[t];
  std::partial_sum(nodes.ends.begin(), nodes.ends.end(), nodes.ends.begin());
  const std::int64_t n = nodes.ends.back();
  nodes.path.resize(n), nodes.table.resize(n), nodes.parent.resize(n), nodes.counts.resize(n * n_classes);
  std::int64_t next[kMaxColumns] = {}, of_path[kMaxColumns];
  std::copy_n(nodes.ends.begin(), kMaxColumns - 1, next + 1);
  for (std::int64_t i = 0; i < cells.n; ++i) {
    const int shared = shared_columns(cells, i), length = length_of(cells.path[i]);
    for (int t = shared; t < length; ++t) {
      const std::int64_t node = of_path[t] = next[t]++;
      nodes.path[node] = beginning(cells.path[i], t + 1);
      nodes.table[node] = cells.table[i];
      nodes.parent[node] = t == 0 ? -1 : static_cast<std::int32_t>(of_path[t - 1]);
    }
    for (int t = 0; t < length; ++t) nodes.counts[of_path[t] * n_classes + cells.label[i]] += cells.weight[i];
  }
  return nodes;
}

std::int64_t index_size(std::int64_t n_nodes) { return std::bit_ceil(static_cast<std::uint64_t>(2 * n_nodes + 2)); }

void index_nodes(const Nodes& nodes, const std::int64_t* offsets, IndexEntry* index) {
  for (std::size_t node = 0; node < nodes.path.size(); ++node) {
    IndexEntry* const entries = index + offsets[nodes.table[node]];
    const std::size_t mask = offsets[nodes.table[node] + 1] - offsets[nodes.table[node]] - 1;
    std::size_t at = entry_of(nodes.path[node], shift_of(mask + 1));
    while (entries[at].path != 0) at = (at + 1) & mask;
    entries[at] = {nodes.path[node], static_cast<std::int64_t>(node)};
  }
}

void find_nodes(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, std::int32_t* nodes, int n_threads) {
  each_chunk(n_rows, n_threads, [&](std::int64_t from, std::int64_t end) {
    int length;
    for (std::int64_t m = 0; m < tree.n_tables; ++m) {
      const TableIndex index(tree, m);
      for (std::int64_t i = from; i < end; ++i) nodes[m * n_rows + i] = index.last_node(keys[m * n_rows + i], length);
    }
  });
}

void score_tables(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, const double* evidence,
                  std::int64_t n_classes, double* out, int n_threads) {
  each_chunk(n_rows, n_threads, [&](std::int64_t from, std::int64_t end) {
    for (std::int64_t m = 0; m < tree.n_tables; ++m)
      for (std::int64_t start = from; start < end; start += kBatchRows)
        score_batch(TableIndex(tree, m), keys + m * n_rows + start, std::min(kBatchRows, end - start), evidence,
                    n_classes, out + start * n_classes);
  });
}

std::int64_t leave_out_of_tables(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, const double* counts,
                                 const double* total, std::int64_t n_classes, const LeavingRows& leaving, double* out,
                                 int n_threads) {
  std::atomic<std::int64_t> not_counted{n_rows};
  each_chunk(n_rows, n_threads, [&](std::int64_t from, std::int64_t end) {
    std::vector<double> share(n_classes), first(n_classes);
    for (std::int64_t m = 0; m < tree.n_tables; ++m) {
      const TableIndex index(tree, m);
      for (std::int64_t i = from; i < end; ++i) {
        const std::int64_t key = keys[m * n_rows + i], label = leaving.label[i];
        const double weight = leaving.weight[i];
        double* const term = out + (m * n_rows + i) * n_classes;
        std::fill_n(term, n_classes, 0.0);
        const std::int64_t path = key == kNoPath ? 0 : key & tree.masks[m];
        if (path == 0) continue;
        int length;
        std::int32_t node = index.last_node(key, length);
        std::int32_t nodes[kMaxColumns];
        for (int t = length; t-- > 0; node = tree.parents[node]) nodes[t] = node;
        bool is_counted = length == length_of(path);
        double sum = 0;
        for (std::int64_t c = 0; c < n_classes; ++c) sum += total[c];
        for (std::int64_t c = 0; c < n_classes; ++c)
          share[c] = std::max((total[c] - (c == label ? weight : 0)) / (sum - weight), kLeastShare);
        for (int t = 0; t < length; ++t) {
          const double* const count = counts + nodes[t] * n_classes;
          double n_node = 0;
          for (std::int64_t c = 0; c < n_classes; ++c) n_node += count[c];
          const double slack = 1e-9 * (n_node + weight);
          is_counted &= count[label] >= weight - slack;
          const double scale = 1 / (std::max(n_node - weight, 0.0) + 1);
          for (std::int64_t c = 0; c < n_classes; ++c)
            share[c] = (std::max(count[c] - (c == label ? weight : 0), 0.0) + share[c]) * scale;
          if (t == 0) first = share;
        }
        for (std::int64_t c = 0; c < n_classes; ++c) term[c] = std::log(share[c] / first[c]);
        if (is_counted) continue;
        for (std::int64_t known = not_counted; i < known && !not_counted.compare_exchange_weak(known, i);) continue;
      }
    }
  });
  return not_counted == n_rows ? -1 : not_counted.load();
}

}  // namespace naively::together
