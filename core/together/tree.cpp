// Find the paths of keys in a tree, and score them.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "support/threads.hpp"
#include "together/together.hpp"

namespace naively::together {
namespace {

constexpr std::int64_t kChunkRows = 1024;
constexpr double kLeastShare = 1e-100;  // of a class without rows: its evidence is that of the limit

// The number of columns of a path: the bytes before the first zero. The key is not 0.
int length_of(std::int64_t key) { return kMaxColumns - std::countr_zero(static_cast<std::uint64_t>(key)) / 8; }

// The number of columns that two paths have in common.
int common_length(std::int64_t a, std::int64_t b) {
  return std::min(std::countl_zero(static_cast<std::uint64_t>(a ^ b)) / 8, std::min(length_of(a), length_of(b)));
}

// Returns the last node of a path that has rows, or −1, and how many columns of the path it has.
std::int32_t last_node(const Tree& tree, std::int64_t table, std::int64_t key, int& length) {
  length = 0;
  if (key == kNoPath) return -1;
  const std::int64_t path = key & tree.masks[table];
  if (path == 0) return -1;
  const std::int64_t *first = tree.keys + tree.offsets[table], *last = tree.keys + tree.offsets[table + 1];
  // The keys that begin as this path does are next to its place in the order.
  const std::int64_t *const next = std::lower_bound(first, last, path), *nearest = nullptr;
  for (const std::int64_t* k : {next, next - 1}) {
    if (k < first || k >= last) continue;
    const int common = common_length(path, *k);
    if (common > length) length = common, nearest = k;
  }
  if (nearest == nullptr) return -1;
  std::int32_t node = tree.nodes[nearest - tree.keys];
  for (int t = length_of(*nearest); t > length; --t) node = tree.parents[node];
  return node;
}

template <class F>
void each_chunk(std::int64_t n_rows, int n_threads, F&& f) {
  support::parallel_for((n_rows + kChunkRows - 1) / kChunkRows, n_threads,
                        [&](std::int64_t chunk) { f(chunk * kChunkRows, std::min(n_rows, (chunk + 1) * kChunkRows)); });
}

}  // namespace

void find_nodes(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, std::int32_t* nodes, int n_threads) {
  each_chunk(n_rows, n_threads, [&](std::int64_t from, std::int64_t end) {
    int length;
    for (std::int64_t m = 0; m < tree.n_tables; ++m)
      for (std::int64_t i = from; i < end; ++i)
        nodes[m * n_rows + i] = last_node(tree, m, keys[m * n_rows + i], length);
  });
}

void score_tables(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, const double* evidence,
                  std::int64_t n_classes, double* out, int n_threads) {
  each_chunk(n_rows, n_threads, [&](std::int64_t from, std::int64_t end) {
    int length;
    for (std::int64_t m = 0; m < tree.n_tables; ++m)
      for (std::int64_t i = from; i < end; ++i) {
        const std::int32_t node = last_node(tree, m, keys[m * n_rows + i], length);
        if (node < 0) continue;
        const double* const term = evidence + node * n_classes;
        for (std::int64_t c = 0; c < n_classes; ++c) out[i * n_classes + c] += term[c];
      }
  });
}

std::int64_t leave_out_of_tables(const Tree& tree, const std::int64_t* keys, std::int64_t n_rows, const double* counts,
                                 const double* total, std::int64_t n_classes, const LeavingRows& leaving, double* out,
                                 int n_threads) {
  std::atomic<std::int64_t> not_counted{n_rows};
  each_chunk(n_rows, n_threads, [&](std::int64_t from, std::int64_t end) {
    std::vector<double> share(n_classes), first(n_classes);
    for (std::int64_t m = 0; m < tree.n_tables; ++m)
      for (std::int64_t i = from; i < end; ++i) {
        const std::int64_t key = keys[m * n_rows + i], label = leaving.label[i];
        const double weight = leaving.weight[i];
        double* const term = out + (m * n_rows + i) * n_classes;
        std::fill_n(term, n_classes, 0.0);
        const std::int64_t path = key == kNoPath ? 0 : key & tree.masks[m];
        if (path == 0) continue;
        int length;
        std::int32_t node = last_node(tree, m, key, length);
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
          n_node = std::max(n_node - weight, 0.0);
          for (std::int64_t c = 0; c < n_classes; ++c)
            share[c] = (std::max(count[c] - (c == label ? weight : 0), 0.0) + share[c]) / (n_node + 1);
          if (t == 0) first = share;
        }
        for (std::int64_t c = 0; c < n_classes; ++c) term[c] = std::log(share[c] / first[c]);
        if (is_counted) continue;
        for (std::int64_t known = not_counted; i < known && !not_counted.compare_exchange_weak(known, i);) continue;
      }
  });
  return not_counted == n_rows ? -1 : not_counted.load();
}

}  // namespace naively::together
