// Python's door to tables of cells: shapes and types are checked here, indices where they are read.
#include "bindings/cells.hpp"

#include "bindings/module.hpp"

namespace nb = nanobind;

namespace naively::cells {
namespace {

CellsView view(const In<std::int64_t, 1>& indptr, const In<std::int32_t, 1>& index, const In<double, 2>& sums,
               const In<std::int64_t, 1>& rows) {
  const auto size = static_cast<std::int64_t>(index.size()), n = static_cast<std::int64_t>(indptr.size()) - 1;
  require(n >= 0, "indptr of the cells is empty; it must have one entry more than there are classes");
  require_size(rows.size(), size, "rows of the cells");
  require_size(sums.shape(1), size, "a channel of sums of the cells");
  check_indptr(indptr.data(), n, size, "cells");
  return {n, static_cast<std::int64_t>(sums.shape(0)), size, indptr.data(), index.data(), sums.data(), rows.data()};
}

using CellsIn = std::tuple<In<std::int64_t, 1>, In<std::int32_t, 1>, In<double, 2>, In<std::int64_t, 1>>;
CellsView view(const CellsIn& cells) {
  return std::apply([](auto&... arrays) { return view(arrays...); }, cells);
}

CellArrays py_merge_cells(const CellsIn& a, const CellsIn& b, int sign) {
  const CellsView x = view(a), y = view(b);
  require(x.n_classes == y.n_classes && x.n_sums == y.n_sums,
          "cells of " + std::to_string(x.n_classes) + " classes and " + std::to_string(x.n_sums) +
              " sums cannot be added to cells of " + std::to_string(y.n_classes) + " and " + std::to_string(y.n_sums) +
              "; renumber_cells first");
  require(sign == 1 || sign == -1, "sign must be 1 or -1, not " + std::to_string(sign));
  return give([&] {
    nb::gil_scoped_release release;
    return merge_cells(x, y, sign);
  }());
}

CellArrays py_renumber_cells(const CellsIn& cells, const In<std::int32_t, 1>& class_map,
                             const In<std::int32_t, 1>& index_map, std::int64_t n_classes) {
  const CellsView x = view(cells);
  require_size(class_map.size(), x.n_classes, "class_map");
  require(n_classes >= 0 && n_classes < (std::int64_t{1} << 31), "n_classes must lie in [0, 2^31)");
  return give([&] {
    nb::gil_scoped_release release;
    return renumber_cells(x, class_map.data(), index_map.data(), index_map.size(), n_classes);
  }());
}

std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<std::int64_t, 1>> py_by_token(const CellsIn& cells,
                                                                                         std::int64_t n_tokens) {
  const CellsView x = view(cells);
  require(n_tokens >= 0, "n_tokens must not be negative");
  TokenMajor turned = [&] {
    nb::gil_scoped_release release;
    return by_token(x, n_tokens);
  }();
  const auto n = static_cast<std::size_t>(x.size);
  return {give<std::int64_t, 1>(turned.indptr, {static_cast<std::size_t>(n_tokens + 1)}),
          give<std::int32_t, 1>(turned.classes, {n}), give<std::int64_t, 1>(turned.order, {n})};
}

using SomeArrays =
    std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<double, 2>, New<std::int64_t, 1>, std::int64_t>;

SomeArrays py_some_tokens(const CellsIn& cells, const In<std::int32_t, 1>& place, std::int64_t n_places) {
  const CellsView x = view(cells);
  require(n_places >= 0, "n_places must not be negative");
  SomeTokens found = [&] {
    nb::gil_scoped_release release;
    return some_tokens(x, place.data(), static_cast<std::int64_t>(place.size()), n_places);
  }();
  const auto n = static_cast<std::size_t>(found.size);
  return {give<std::int64_t, 1>(found.start, {static_cast<std::size_t>(n_places + 2)}),
          give<std::int32_t, 1>(found.owner, {n}), give<double, 2>(found.sums, {static_cast<std::size_t>(x.n_sums), n}),
          give<std::int64_t, 1>(found.rows, {n}), found.n_seen};
}

}  // namespace
}  // namespace naively::cells

void bind_cells(nb::module_& m) {
  using namespace naively::cells;
  using namespace nb::literals;
  m.def("merge_cells", py_merge_cells, "a"_a, "b"_a, "sign"_a);
  m.def("renumber_cells", py_renumber_cells, "cells"_a, "class_map"_a, "index_map"_a, "n_classes"_a);
  m.def("by_token", py_by_token, "cells"_a, "n_tokens"_a);
  m.def("some_tokens", py_some_tokens, "cells"_a, "place"_a, "n_places"_a);
}
