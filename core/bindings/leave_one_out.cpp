#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/strings.hpp"
#include "leave_one_out/texts.hpp"
#include "leave_one_out/tokens.hpp"
#include "leave_one_out/values.hpp"
#include "leave_one_out/whole_scores.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace naively::cells;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Alpha = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;  // (token,) or (token, class)

// Offsets that rise from 0 to the length of what they cut.
void check_offsets(const Vector<std::int64_t>& offsets, std::size_t n, std::size_t size, const char* what) {
  require(offsets.size() == n + 1 && offsets(0) == 0 && offsets(n) == static_cast<std::int64_t>(size), what);
  for (std::size_t i = 0; i < n; ++i) require(offsets(i) <= offsets(i + 1), what);
}

void check_labels(const Vector<std::int32_t>& label, const Vector<double>& weight, const Vector<std::int64_t>& rows,
                  std::size_t n_classes) {
  require(weight.size() == label.size() && rows.size() == label.size(), "label, weight and rows have unequal lengths");
  for (std::size_t i = 0; i < label.size(); ++i)
    require(label(i) >= 0 && static_cast<std::size_t>(label(i)) < n_classes, "a label is no class");
}

struct Rows {
  Vector<std::int64_t> indptr;
  Vector<std::int32_t> index;
  Vector<double> count;
  std::optional<Vector<std::int64_t>> times;
  Vector<std::int32_t> label;
  Vector<double> weight;
  Vector<std::int64_t> rows;

  LeavingRows checked(std::size_t n_classes) const {
    const std::size_t n = label.size();
    check_labels(label, weight, rows, n_classes);
    check_offsets(indptr, n, index.size(), "indptr does not cut the entries into rows");
    require(count.size() == index.size() && (!times || times->size() == index.size()),
            "index and count have unequal lengths");
    return {static_cast<std::int64_t>(n),    indptr.data(), index.data(),  count.data(),
            times ? times->data() : nullptr, label.data(),  weight.data(), rows.data()};
  }
};

struct Counted {
  Vector<std::int64_t> start;
  Vector<std::int32_t> owner;
  Vector<double> sum;
  Vector<std::int64_t> rows;
  Alpha alpha;
  Vector<bool> known, fades;
  bool shrinks;

  TokenCells checked(std::size_t n_classes) const {
    const std::size_t n_tokens = known.size();
    require(alpha.ndim() == 1 || (alpha.ndim() == 2 && alpha.shape(1) == n_classes),
            "alpha is neither (token,) nor (token, class)");
    require(alpha.shape(0) == n_tokens && fades.size() == n_tokens, "alpha, known and fades have unequal lengths");
    check_offsets(start, n_tokens, owner.size(), "start does not cut the cells into tokens");
    require(sum.size() == owner.size() && rows.size() == owner.size(), "the cells have unequal lengths");
    for (std::size_t j = 0; j < owner.size(); ++j)
      require(owner(j) >= 0 && static_cast<std::size_t>(owner(j)) < n_classes, "the class of a cell is no class");
    return {static_cast<std::int64_t>(n_tokens),
            static_cast<std::int64_t>(n_classes),
            start.data(),
            owner.data(),
            sum.data(),
            rows.data(),
            alpha.data(),
            known.data(),
            fades.data(),
            shrinks,
            alpha.ndim() == 2};
  }
};

Model model_of(bool complement, const TokenCells& cells) {
  require(!(complement && cells.alpha_by_class), "complement has one alpha for all classes");
  return complement ? Model::complement : Model::multinomial;
}

nb::object told(const NotCounted& bad) {
  if (bad.row < 0) return nb::none();
  return nb::make_tuple(bad.row, bad.token, bad.rows, bad.sum);
}

nb::object leave_tokens_out(Vector<std::int64_t> indptr, Vector<std::int32_t> index, Vector<double> count,
                            std::optional<Vector<std::int64_t>> times, Vector<std::int32_t> label,
                            Vector<double> weight, Vector<std::int64_t> rows, Vector<std::int64_t> start,
                            Vector<std::int32_t> owner, Vector<double> sum, Vector<std::int64_t> cell_rows, Alpha alpha,
                            Vector<bool> known, Vector<bool> fades, bool shrinks, bool complement, bool normed,
                            Scores out, int n_jobs) {
  const Rows given{indptr, index, count, times, label, weight, rows};
  const Counted counted{start, owner, sum, cell_rows, alpha, known, fades, shrinks};
  const LeavingRows leaving = given.checked(out.shape(1));
  const TokenCells cells = counted.checked(out.shape(1));
  require(out.shape(0) == label.size(), "label and out have unequal lengths");
  const Model plain = model_of(complement, cells), model = normed ? Model::normed_complement : plain;
  NotCounted bad;
  {
    nb::gil_scoped_release no_gil;
    bad = leave_out(leaving, cells, model, out.data(), n_jobs);
  }
  return told(bad);
}

nb::object leave_text_out(const PythonDocuments& documents, const naively::text::Vocabulary* vocabulary,
                          const naively::text::Options& options, bool once, Vector<std::int32_t> label,
                          Vector<double> weight, Vector<std::int64_t> rows, Vector<std::int64_t> start,
                          Vector<std::int32_t> owner, Vector<double> sum, Vector<std::int64_t> cell_rows, Alpha alpha,
                          Vector<bool> known, Vector<bool> fades, bool shrinks, bool complement, Scores out,
                          int n_jobs) {
  const Counted counted{start, owner, sum, cell_rows, alpha, known, fades, shrinks};
  const TokenCells cells = counted.checked(out.shape(1));
  check_labels(label, weight, rows, out.shape(1));
  require(!vocabulary != !options.hash_bits, "give either a vocabulary, or options with hash_bits, and not both");
  require(documents.items.size() == label.size() && out.shape(0) == label.size(),
          "documents, label and out have unequal lengths");
  NotCounted bad;
  {
    nb::gil_scoped_release no_gil;
    bad = naively::text::leave_text_out({documents.items, label.data(), weight.data(), rows.data(), once}, vocabulary,
                                        options, cells, model_of(complement, cells), out.data(), n_jobs,
                                        look_for_signals);
  }
  return told(bad);
}

// Rows as they were read, and the shape of the cells that they point into.
struct ReadRows {
  LeftRows left;
  std::size_t n_tokens, n_cells, n_classes;
};

nb::tuple read_left_rows(Vector<std::int64_t> indptr, Vector<std::int32_t> index, Vector<double> count,
                         Vector<std::int32_t> label, Vector<double> weight, Vector<std::int64_t> rows,
                         Vector<std::int64_t> start, Vector<std::int32_t> owner, Vector<double> sum,
                         Vector<std::int64_t> cell_rows, Alpha alpha, Vector<bool> known, Vector<bool> fades,
                         bool shrinks, std::size_t n_classes) {
  const Rows given{indptr, index, count, std::nullopt, label, weight, rows};
  const Counted counted{start, owner, sum, cell_rows, alpha, known, fades, shrinks};
  const LeavingRows leaving = given.checked(n_classes);
  const TokenCells cells = counted.checked(n_classes);
  auto read = std::make_unique<ReadRows>(ReadRows{{}, known.size(), owner.size(), n_classes});
  {
    nb::gil_scoped_release no_gil;
    read->left = read_left(leaving, cells);
  }
  const nb::object bad = told(read->left.bad);
  return nb::make_tuple(nb::cast(std::move(read)), bad);
}

// The cells that rows were read with, checked.
TokenCells same_cells(const ReadRows& read, const Counted& counted, const Scores& out) {
  require(read.left.bad.row < 0, "a row was not counted");
  require(
      counted.known.size() == read.n_tokens && counted.owner.size() == read.n_cells && out.shape(1) == read.n_classes,
      "the rows were read with other cells");
  require(out.shape(0) == read.left.rows.size(), "the rows and out have unequal lengths");
  return counted.checked(out.shape(1));
}

void score_left_rows(const ReadRows& read, Vector<std::int64_t> start, Vector<std::int32_t> owner, Vector<double> sum,
                     Vector<std::int64_t> cell_rows, Alpha alpha, Vector<bool> known, Vector<bool> fades, bool shrinks,
                     double scale, bool complement, std::optional<Vector<double>> tossed, Scores out, int n_jobs) {
  const Counted counted{start, owner, sum, cell_rows, alpha, known, fades, shrinks};
  const TokenCells cells = same_cells(read, counted, out);
  require(!tossed || tossed->size() == out.shape(1), "tossed has not one number for each class");
  require(!tossed || !read.left.whole->direct, "coins need one alpha above 0 for each token");
  nb::gil_scoped_release no_gil;
  if (tossed)
    score_left_coins(read.left, cells, scale, tossed->data(), out.data(), n_jobs);
  else
    score_left(read.left, cells, scale, model_of(complement, cells), out.data(), n_jobs);
}

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::object py_leave_values_out(Table<double> weight, Table<std::int64_t> cell_rows, Table<double> alpha,
                               Table<double> whole_alpha, Vector<std::int64_t> start, Vector<std::int64_t> lasting,
                               Table<std::int64_t> slot, Vector<std::int32_t> label, Vector<double> leaving,
                               Vector<std::int64_t> rows, Cube out, int n_jobs) {
  const std::size_t n_slots = weight.shape(0), n_columns = start.size(), n_classes = out.shape(2);
  for (const auto& [n, width] :
       {std::pair(weight.shape(0), weight.shape(1)), std::pair(cell_rows.shape(0), cell_rows.shape(1)),
        std::pair(alpha.shape(0), alpha.shape(1))})
    require(n == n_slots && width == n_classes, "weight, cell_rows, alpha and out have unequal shapes");
  require(whole_alpha.shape(0) == n_columns && whole_alpha.shape(1) == n_classes, "whole_alpha is not (column, class)");
  require(lasting.size() == n_slots, "lasting has not one number for each slot");
  for (std::size_t j = 0; j < n_columns; ++j)
    require(start(j) >= (j ? start(j - 1) : 0) && start(j) <= static_cast<std::int64_t>(n_slots),
            "start does not cut the slots");
  check_labels(label, leaving, rows, n_classes);
  require(slot.shape(0) == label.size() && slot.shape(1) == n_columns, "slot is not (row, column)");
  require(out.shape(0) == label.size() && out.shape(1) == n_columns, "out is not (row, column, class)");
  for (std::size_t at = 0; at < slot.size(); ++at)
    require(slot.data()[at] < static_cast<std::int64_t>(n_slots), "there is no such slot");
  ValueNotCounted bad;
  {
    nb::gil_scoped_release no_gil;
    bad = leave_values_out(
        {static_cast<std::int64_t>(label.size()), slot.data(), label.data(), leaving.data(), rows.data()},
        {static_cast<std::int64_t>(n_slots), static_cast<std::int64_t>(n_columns), static_cast<std::int64_t>(n_classes),
         weight.data(), cell_rows.data(), alpha.data(), whole_alpha.data(), start.data(), lasting.data()},
        out.data(), n_jobs);
  }
  if (bad.row < 0) return nb::none();
  return nb::make_tuple(bad.row, bad.column, bad.rows, bad.weight);
}

}  // namespace

// The arguments' types as text, for the stub: nanobind would print the whole of each array's type.
#define NAIVELY_ROWS "label: NDArray[numpy.int32], weight: NDArray[numpy.float64], rows: NDArray[numpy.int64], "
#define NAIVELY_CELLS                                                                                               \
  "start: NDArray[numpy.int64], owner: NDArray[numpy.int32], sum: NDArray[numpy.float64], cell_rows: "              \
  "NDArray[numpy.int64], alpha: NDArray[numpy.float64], known: NDArray[numpy.bool_], fades: NDArray[numpy.bool_], " \
  "shrinks: bool, "
#define NAIVELY_ENTRIES "indptr: NDArray[numpy.int64], index: NDArray[numpy.int32], count: NDArray[numpy.float64], "

void bind_left_out(nb::module_& m) {
  m.def("leave_values_out", py_leave_values_out, "weight"_a, "cell_rows"_a, "alpha"_a, "whole_alpha"_a, "start"_a,
        "lasting"_a, "slot"_a, "label"_a, "leaving"_a, "rows"_a, "out"_a.noconvert(), "n_jobs"_a,
        nb::sig("def leave_values_out(weight: NDArray[numpy.float64], cell_rows: NDArray[numpy.int64], alpha: "
                "NDArray[numpy.float64], whole_alpha: NDArray[numpy.float64], start: NDArray[numpy.int64], lasting: "
                "NDArray[numpy.int64], slot: NDArray[numpy.int64], label: NDArray[numpy.int32], leaving: "
                "NDArray[numpy.float64], rows: NDArray[numpy.int64], out: NDArray[numpy.float64], n_jobs: int) -> "
                "tuple[int, int, int, float] | None"));
  m.def(
      "leave_tokens_out", leave_tokens_out, "indptr"_a, "index"_a, "count"_a, "times"_a.none(), "label"_a, "weight"_a,
      "rows"_a, "start"_a, "owner"_a, "sum"_a, "cell_rows"_a, "alpha"_a, "known"_a, "fades"_a, "shrinks"_a,
      "complement"_a, "normed"_a, "out"_a.noconvert(), "n_jobs"_a,
      nb::sig("def leave_tokens_out(" NAIVELY_ENTRIES "times: NDArray[numpy.int64] | None, " NAIVELY_ROWS NAIVELY_CELLS
              "complement: bool, normed: bool, out: NDArray[numpy.float64], n_jobs: int) -> tuple[int, int, int, "
              "float] | None"));
  m.def("leave_text_out", leave_text_out, "documents"_a, "vocabulary"_a.none(), "options"_a, "once"_a, "label"_a,
        "weight"_a, "rows"_a, "start"_a, "owner"_a, "sum"_a, "cell_rows"_a, "alpha"_a, "known"_a, "fades"_a,
        "shrinks"_a, "complement"_a, "out"_a.noconvert(), "n_jobs"_a,
        nb::sig("def leave_text_out(documents: Documents, vocabulary: Vocabulary | None, options: TextOptions, once: "
                "bool, " NAIVELY_ROWS NAIVELY_CELLS
                "complement: bool, out: NDArray[numpy.float64], n_jobs: int) -> tuple[int, int, int, float] | None"));
  nb::class_<ReadRows>(m, "LeftRows");
  m.def("read_left_rows", read_left_rows, "indptr"_a, "index"_a, "count"_a, "label"_a, "weight"_a, "rows"_a, "start"_a,
        "owner"_a, "sum"_a, "cell_rows"_a, "alpha"_a, "known"_a, "fades"_a, "shrinks"_a, "n_classes"_a,
        nb::sig("def read_left_rows(" NAIVELY_ENTRIES NAIVELY_ROWS NAIVELY_CELLS
                "n_classes: int) -> tuple[LeftRows, tuple[int, int, int, float] | None]"));
  m.def("score_left_rows", score_left_rows, "read"_a, "start"_a, "owner"_a, "sum"_a, "cell_rows"_a, "alpha"_a,
        "known"_a, "fades"_a, "shrinks"_a, "scale"_a, "complement"_a, "tossed"_a.none(), "out"_a.noconvert(),
        "n_jobs"_a,
        nb::sig("def score_left_rows(read: LeftRows, " NAIVELY_CELLS "scale: float, complement: bool, tossed: "
                "NDArray[numpy.float64] | None, out: NDArray[numpy.float64], n_jobs: int) -> None"));
}
