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

// A column of a table in the rows of a tile: numbers with the cuts of the table, or, without cuts, codes.
struct TileColumn {
  const double* values;
  const double* cuts;
};

// Packs the keys of a tile. `goes_on` has all bits as long as a path goes on; after its end, bytes are 0.
template <bool fused>
NAIVELY_INLINE void pack_tile_body(const TileColumn* columns, int n_columns, std::int64_t* keys) {
  const int shift = n_columns > 0 ? 8 * (kMaxColumns - n_columns) : 0;
  for (std::int64_t i = 0; i < kTileRows; i += kLanes) {
    Mask key{}, goes_on = Mask{} - 1;
    for (int t = 0; t < n_columns; ++t) {
      const Lanes value = load(columns[t].values + i);
      Mask code;
      if (const double* const cuts = columns[t].cuts) {
        code = Mask{} + 1;
        for (int k = 0; k < kCuts; ++k) code -= support::broadcast(cuts[k]) < value;  // a true comparison is −1
        goes_on &= value == value;
      } else {
        code = support::bits_as<Mask>(value);
        goes_on &= code != Mask{};
      }
      key = (key << 8) | (code & goes_on);
    }
    key = support::choose(key == Mask{}, Mask{} + kNoPath, key << shift);
    std::memcpy(keys + i, &key, sizeof key);
  }
}

NAIVELY_DISPATCH(void, pack_tile, pack_tile_body, (const TileColumn* columns, int n_columns, std::int64_t* keys),
                 (columns, n_columns, keys))

// Replaces values of a category by their codes, as the bits of a number; 0 is a missing value.
void look_up(double* values, std::int64_t n, const std::uint8_t* codes, std::int64_t n_codes) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    const bool is_listed = value >= 0 && value < static_cast<double>(n_codes);
    values[i] = std::bit_cast<double>(is_listed ? std::int64_t{codes[static_cast<std::int64_t>(value)]} : 0);
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
      TileColumn columns[kMaxColumns];
      int n_columns = 0;
      for (std::int64_t slot = m * kMaxColumns; n_columns < kMaxColumns; ++n_columns, ++slot) {
        const std::int64_t j = plan.columns[slot];
        if (j < 0) break;
        const bool is_number = plan.code_offsets[j + 1] == plan.code_offsets[j];
        columns[n_columns] = {values.data() + j * kTileRows, is_number ? plan.cuts + slot * kCuts : nullptr};
      }
      pack_tile(columns, n_columns, key);
      std::copy_n(key, rows, keys + m * n_rows + from);
    }
  });
}

}  // namespace naively::together
