// Pack the codes of columns into keys.
#include <algorithm>
#include <vector>

#include "support/simd.hpp"
#include "support/threads.hpp"
#include "together/together.hpp"

namespace naively::together {
namespace {

using support::kLanes;
using support::Lanes;
using support::load;
using support::Mask;

constexpr std::int64_t kTileRows = 512;  // whose columns stay in the cache; a multiple of kLanes

NAIVELY_INLINE Mask load_keys(const std::int64_t* p) {
  Mask v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

NAIVELY_INLINE void store_keys(std::int64_t* p, const Mask& v) { std::memcpy(p, &v, sizeof v); }

// Adds the byte of a column to the keys of a tile. The lowest byte of a key is not zero as long as its path goes on:
// the key is shifted by each column, and by zero bytes after its end.
template <bool fused>
NAIVELY_INLINE void add_numbers_body(const double* x, const double* cuts, std::int64_t* keys, std::int64_t* goes_on) {
  for (std::int64_t i = 0; i < kTileRows; i += kLanes) {
    const Lanes value = load(x + i);
    Mask code = Mask{} + 1;
    for (int k = 0; k < kCuts; ++k) code -= support::broadcast(cuts[k]) < value;  // a true comparison is −1
    const Mask on = load_keys(goes_on + i) & (value == value);
    store_keys(goes_on + i, on);
    store_keys(keys + i, (load_keys(keys + i) << 8) | (code & on));
  }
}

NAIVELY_DISPATCH(void, add_numbers, add_numbers_body,
                 (const double* x, const double* cuts, std::int64_t* keys, std::int64_t* goes_on),
                 (x, cuts, keys, goes_on))

void add_categories(const double* code, std::int64_t* keys, std::int64_t* goes_on) {
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    const auto byte = static_cast<std::int64_t>(code[i]);
    goes_on[i] &= -static_cast<std::int64_t>(byte != 0);
    keys[i] = (keys[i] << 8) | (byte & goes_on[i]);
  }
}

// Replaces values of a category by their codes; 0 is a missing value.
void look_up(double* values, std::int64_t n, const std::uint8_t* codes, std::int64_t n_codes) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    values[i] = value >= 0 && value < static_cast<double>(n_codes) ? codes[static_cast<std::int64_t>(value)] : 0;
  }
}

}  // namespace

void pack_keys(const std::vector<Matrix>& pieces, const Plan& plan, std::int64_t n_rows, std::int64_t* keys,
               int n_threads) {
  support::parallel_for((n_rows + kTileRows - 1) / kTileRows, n_threads, [&](std::int64_t tile) {
    const std::int64_t from = tile * kTileRows, rows = std::min(kTileRows, n_rows - from);
    std::vector<double> values(plan.n_columns * kTileRows);
    std::int64_t column = 0;
    for (const Matrix& x : pieces)
      for (std::int64_t j = 0; j < x.p; ++j, ++column) {
        double* const to = values.data() + column * kTileRows;
        const double* read = x.values.read(from * x.row_step + j * x.column_step, x.row_step, rows, to);
        if (read != to) std::copy_n(read, rows, to);
        const std::int64_t first = plan.code_offsets[column], n_codes = plan.code_offsets[column + 1] - first;
        if (n_codes > 0) look_up(to, rows, plan.codes + first, n_codes);
      }
    std::int64_t key[kTileRows], goes_on[kTileRows];
    for (std::int64_t m = 0; m < plan.n_tables; ++m) {
      std::fill_n(key, kTileRows, 0);
      std::fill_n(goes_on, kTileRows, -1);
      int shift = 64;
      for (int t = 0; t < kMaxColumns; ++t, shift -= 8) {
        const std::int64_t slot = m * kMaxColumns + t, j = plan.columns[slot];
        if (j < 0) break;
        const double* const x = values.data() + j * kTileRows;
        if (plan.code_offsets[j + 1] > plan.code_offsets[j])
          add_categories(x, key, goes_on);
        else
          add_numbers(x, plan.cuts + slot * kCuts, key, goes_on);
      }
      std::int64_t* const to = keys + m * n_rows + from;
      for (std::int64_t i = 0; i < rows; ++i) to[i] = key[i] == 0 ? kNoPath : key[i] << shift;
    }
  });
}

}  // namespace naively::together
