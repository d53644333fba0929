// A table of cells on its way to Python.
#pragma once
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "counts/cells.hpp"

namespace naively::cells {

using CellArrays = std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<double, 2>, New<std::int64_t, 1>>;

inline CellArrays give(Cells cells) {
  const auto n = static_cast<std::size_t>(cells.size);
  return {give<std::int64_t, 1>(cells.indptr, {static_cast<std::size_t>(cells.n_classes + 1)}),
          give<std::int32_t, 1>(cells.index, {n}),
          give<double, 2>(cells.sums, {static_cast<std::size_t>(cells.n_sums), n}),
          give<std::int64_t, 1>(cells.rows, {n})};
}

}  // namespace naively::cells
