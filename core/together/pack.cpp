// Pack the codes of columns into keys.
#include <algorithm>
#include <bit>
#include <cstring>
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

// Keys are packed column by column, from the last to the first. A code becomes the highest byte of a key and moves the
// others down; a missing value clears the key, because the path ends there.
constexpr int kHighest = 8 * (kMaxColumns - 1);  // the bits below the highest byte

NAIVELY_INLINE Mask load_keys(const std::int64_t* p) {
  Mask keys;
  std::memcpy(&keys, p, sizeof keys);
  return keys;
}

// Puts the codes of numbers before the keys of a tile.
template <bool fused>
NAIVELY_INLINE void put_numbers_body(const double* values, const double* cuts, std::int64_t* keys) {
  Lanes cut[kCuts];
  for (int k = 0; k < kCuts; ++k) cut[k] = support::broadcast(cuts[k]);
  for (std::int64_t i = 0; i < kTileRows; i += kLanes) {
    const Lanes value = load(values + i);
    const Mask is_present = value == value;
    Mask minus_code = is_present;  // a true comparison is −1
    for (int k = 0; k < kCuts; ++k) minus_code += cut[k] < value;
    const Mask key = ((load_keys(keys + i) >> 8) - (minus_code << kHighest)) & is_present;
    std::memcpy(keys + i, &key, sizeof key);
  }
}

NAIVELY_DISPATCH(void, put_numbers, put_numbers_body, (const double* values, const double* cuts, std::int64_t* keys),
                 (values, cuts, keys))

// Puts the codes of categories before the keys of a tile; they are the highest bytes of `codes`.
template <bool fused>
NAIVELY_INLINE void put_codes_body(const double* codes, std::int64_t* keys) {
  for (std::int64_t i = 0; i < kTileRows; i += kLanes) {
    const Mask code = support::bits_as<Mask>(load(codes + i));
    const Mask key = ((load_keys(keys + i) >> 8) | code) & (code != Mask{});
    std::memcpy(keys + i, &key, sizeof key);
  }
}

NAIVELY_DISPATCH(void, put_codes, put_codes_body, (const double* codes, std::int64_t* keys), (codes, keys))

// Replaces values of a category by the bits of their codes, in the highest byte; 0 is a missing value.
void look_up(double* values, std::int64_t n, const std::uint8_t* codes, std::int64_t n_codes) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    const bool is_listed = value >= 0 && value < static_cast<double>(n_codes);
    const std::int64_t code = is_listed ? codes[static_cast<std::int64_t>(value)] : 0;
    values[i] = std::bit_cast<double>(code << kHighest);
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
    std::int64_t key[kTileRows];
    for (std::int64_t m = 0; m < plan.n_tables; ++m) {
      std::fill_n(key, kTileRows, 0);
      for (std::int64_t slot = (m + 1) * kMaxColumns; slot-- > m * kMaxColumns;) {
        const std::int64_t j = plan.columns[slot];
        if (j < 0) continue;
        const double* const of_column = values.data() + j * kTileRows;
        if (plan.code_offsets[j + 1] == plan.code_offsets[j])
          put_numbers(of_column, plan.cuts + slot * kCuts, key);
        else
          put_codes(of_column, key);
      }
      std::int64_t* const to = keys + m * n_rows + from;
      for (std::int64_t i = 0; i < rows; ++i) to[i] = key[i] == 0 ? kNoPath : key[i];
    }
  });
}

}  // namespace naively::together
