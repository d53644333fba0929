// Scores of rows as if they had not been counted.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "bindings/arrays.hpp"
#include "bindings/strings.hpp"
#include "leave_one_out/gaussian.hpp"
#include "leave_one_out/token_scores.hpp"
#include "leave_one_out/tokens.hpp"
#include "leave_one_out/values.hpp"

namespace naively::bindings {
namespace {

using namespace leave_one_out;

// The class, weight and number of rows with which each row was counted.
using Leaving = std::tuple<LabelArray, Floats, Ints>;
// The first row that was never counted, its token or column, and the rows and sum that would remain.
using Uncounted = std::optional<std::tuple<std::int64_t, std::int64_t, std::int64_t, double>>;

void check_leaving(const Leaving& leaving, std::int64_t n, std::int64_t n_classes) {
  const auto& [label, weight, rows] = leaving;
  support::check_labels(checked(label, "label", {n}), n, n_classes);
  checked(weight, "weight", {n});
  checked(rows, "rows", {n});
}

// indptr, index, count, and how many rows of a cell each entry was.
using RowEntries = std::tuple<Ints, In<std::int32_t, 1>, Floats, std::optional<Ints>>;

leave_one_out::TokenRows token_rows(const RowEntries& entries, const Leaving& leaving, std::int64_t n_classes) {
  const auto& [indptr, index, count, times] = entries;
  const auto& [label, weight, rows] = leaving;
  const std::int64_t n = size_of(label), size = size_of(index);
  check_leaving(leaving, n, n_classes);
  return {n,
          checked_offsets(indptr, "indptr", n, size),
          index.data(),
          checked(count, "count", {size}),
          checked(times, "times", {size}),
          label.data(),
          weight.data(),
          rows.data()};
}

// Start, owner, sums and rows of the cells; alpha, (token,) or (token, class); which tokens are known, and which of
// them vanish with their last row; whether their alpha does.
using Alpha = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Flags = In<bool, 1>;
using CellsOfTokens = std::tuple<Ints, In<std::int32_t, 1>, Floats, Ints, Alpha, Flags, Flags, bool>;

TokenCells token_cells(const CellsOfTokens& cells, std::int64_t n_classes) {
  const auto& [start, owner, sums, rows, alpha, known, vanishes, alpha_vanishes] = cells;
  const std::int64_t n_tokens = size_of(known), size = size_of(owner);
  require(alpha.ndim() == 1 || alpha.ndim() == 2, "alpha must be (token,) or (token, class)");
  const bool by_class = alpha.ndim() == 2;
  by_class ? checked(alpha, "alpha", {n_tokens, n_classes}) : checked(alpha, "alpha", {n_tokens});
  for (std::int64_t j = 0; j < size; ++j)
    require(owner(j) >= 0 && owner(j) < n_classes, "the class of a cell is not a class");
  return {n_tokens,
          n_classes,
          checked_offsets(start, "start", n_tokens, size),
          owner.data(),
          checked(sums, "sums", {size}),
          checked(rows, "rows of the cells", {size}),
          alpha.data(),
          known.data(),
          checked(vanishes, "vanishes", {n_tokens}),
          alpha_vanishes,
          by_class};
}

Model model_of(const std::string& name, const TokenCells& cells) {
  if (name == "multinomial") return Model::kMultinomial;
  require(!cells.alpha_by_class, "complement has one alpha for all classes");
  if (name == "complement") return Model::kComplement;
  require(name == "normed complement", "the model is not multinomial, complement or normed complement");
  return Model::kNormedComplement;
}

Uncounted to_python(const UncountedEntry& entry) {
  if (entry.row < 0) return std::nullopt;
  return std::tuple(entry.row, entry.token, entry.rows, entry.sum);
}

Uncounted py_leave_tokens_out(const RowEntries& entries, const Leaving& leaving, const CellsOfTokens& counted,
                              const std::string& model, const OutTable& out, int n_threads) {
  const leave_one_out::TokenRows rows = token_rows(entries, leaving, size_of(out, 1));
  const TokenCells cells = token_cells(counted, size_of(out, 1));
  checked(out, "out", {rows.n, -1});
  const Model which = model_of(model, cells);
  return to_python(without_gil([&] { return leave_tokens_out(rows, cells, which, out.data(), n_threads); }));
}

Uncounted py_leave_texts_out(const PythonDocuments& documents, const text::Vocabulary* vocabulary,
                             const text::Options& options, bool once, const Leaving& leaving,
                             const CellsOfTokens& counted, const std::string& model, const OutTable& out,
                             const Length& length, int n_threads) {
  const auto n = static_cast<std::int64_t>(documents.items.size());
  const TokenCells cells = token_cells(counted, size_of(out, 1));
  check_leaving(leaving, n, size_of(out, 1));
  check_numbering(vocabulary, options);
  checked(out, "out", {n, -1});
  const Model which = model_of(model, cells);
  const auto& [label, weight, rows] = leaving;
  const CountedDocuments texts{documents.items, label.data(), weight.data(), rows.data(), once};
  double* const lengths = checked(length, "length", {n});
  return to_python(without_gil([&] {
    return leave_texts_out(texts, vocabulary, options, cells, which, out.data(), lengths, n_threads, check_signals);
  }));
}

// Rows as they were read, with the arrays of the cells.
struct PythonRows {
  CellsOfTokens counted;
  TokenCells cells;
  ReadRows read;
};

std::tuple<std::unique_ptr<PythonRows>, Uncounted> py_read_rows(const RowEntries& entries, const Leaving& leaving,
                                                                const CellsOfTokens& counted, std::int64_t n_classes) {
  const leave_one_out::TokenRows rows = token_rows(entries, leaving, n_classes);
  auto result = std::make_unique<PythonRows>(PythonRows{counted, token_cells(counted, n_classes), {}});
  result->read = without_gil([&] { return read_rows(rows, result->cells); });
  const Uncounted uncounted = to_python(result->read.uncounted);
  return {std::move(result), uncounted};
}

void check_out(const PythonRows& rows, const OutTable& out) {
  require(rows.read.uncounted.row < 0, "a row was never counted");
  checked(out, "out", {static_cast<std::int64_t>(rows.read.rows.size()), rows.cells.n_classes});
}

void py_score_rows(const PythonRows& rows, double scale, const std::string& model, const OutTable& out, int n_threads) {
  check_out(rows, out);
  const Model which = model_of(model, rows.cells);
  require(which != Model::kNormedComplement, "rows that were read cannot be scored by a normed complement");
  without_gil([&] { score_rows(rows.read, rows.cells, scale, which, out.data(), n_threads); });
}

void py_score_bernoulli(const PythonRows& rows, double scale, const Floats& n_rows, const OutTable& out,
                        int n_threads) {
  check_out(rows, out);
  checked(n_rows, "n_rows", {rows.cells.n_classes});
  require(!rows.read.scores->direct, "Bernoulli needs one alpha above 0 for each token");
  without_gil([&] { score_bernoulli(rows.read, rows.cells, scale, n_rows.data(), out.data(), n_threads); });
}

// Weight, rows and alpha, (value, class); total_alpha, (column, class); start of each column; rows_until_unknown.
using CellsOfValues = std::tuple<Table, In<std::int64_t, 2>, Table, Table, Ints, Ints>;

// Scores (row, column, class), of which those of a row and column are neighbours.
using Scores = nb::ndarray<double, nb::ndim<3>, nb::device::cpu>;

ScoreTable score_table(const Scores& out) {
  require(out.size() == 0 || size_of(out, 2) == 1 || out.stride(2) == 1,
          "the classes of out are not neighbours in memory");
  return {out.data(), out.stride(0), out.stride(1)};
}

Uncounted py_leave_values_out(const CellsOfValues& counted, const In<std::int64_t, 2>& value, const Leaving& leaving,
                              const Scores& out, int n_threads) {
  const auto& [weight, rows, alpha, total_alpha, start, rows_until_unknown] = counted;
  const std::int64_t n = size_of(out), n_columns = size_of(out, 1), n_classes = size_of(out, 2);
  const std::int64_t n_values = size_of(weight);
  for (std::int64_t j = 0; j < size_of(start); ++j)
    require(start(j) >= (j ? start(j - 1) : 0) && start(j) <= n_values, "start does not divide the values");
  check_leaving(leaving, n, n_classes);
  const ValueCells cells{n_values,
                         n_columns,
                         n_classes,
                         checked(weight, "weight of the values", {n_values, n_classes}),
                         checked(rows, "rows of the values", {n_values, n_classes}),
                         checked(alpha, "alpha", {n_values, n_classes}),
                         checked(total_alpha, "total_alpha", {n_columns, n_classes}),
                         checked(start, "start", {n_columns}),
                         checked(rows_until_unknown, "rows_until_unknown", {n_values})};
  checked(value, "value", {n, n_columns});
  for (std::size_t at = 0; at < value.size(); ++at) require(value.data()[at] < n_values, "there is no such value");
  const auto& [label, row_weight, n_rows] = leaving;
  const ValueRows to_score{n, value.data(), label.data(), row_weight.data(), n_rows.data()};
  const UncountedValue uncounted =
      without_gil([&] { return leave_values_out(to_score, cells, score_table(out), n_threads); });
  if (uncounted.row < 0) return std::nullopt;
  return std::tuple(uncounted.row, uncounted.column, uncounted.rows, uncounted.weight);
}

// Weight, rows, mean and squares: (class, column), and (column,) of all classes together.
using ClassMoments = std::tuple<Table, In<std::int64_t, 2>, Table, Table>;
using PooledMoments = std::tuple<Floats, Ints, Floats, Floats>;
using Settings = std::tuple<double, double, double, bool>;  // ddof, floor, pooled_rows, pool_zero_variance

New<std::int64_t, 1> py_leave_gaussian_out(const Table& value, const Leaving& leaving, const ClassMoments& classes,
                                           const PooledMoments& pooled, const Settings& settings, const Scores& out,
                                           int n_threads) {
  const std::int64_t n = size_of(out), p = size_of(out, 1), n_classes = size_of(out, 2);
  check_leaving(leaving, n, n_classes);
  const auto& [label, row_weight, n_rows] = leaving;
  const NumberRows rows{n, p, checked(value, "value", {n, p}), label.data(), row_weight.data(), n_rows.data()};
  const auto& [weight, class_rows, mean, squares] = classes;
  const MomentTable of_classes{checked(weight, "weight of the classes", {n_classes, p}),
                               checked(class_rows, "rows of the classes", {n_classes, p}),
                               checked(mean, "mean of the classes", {n_classes, p}),
                               checked(squares, "squares of the classes", {n_classes, p})};
  const auto& [all_weight, all_rows, all_mean, all_squares] = pooled;
  const MomentTable of_all{checked(all_weight, "pooled weight", {p}), checked(all_rows, "pooled rows", {p}),
                           checked(all_mean, "pooled mean", {p}), checked(all_squares, "pooled squares", {p})};
  const auto& [ddof, floor, pooled_rows, pool_zero_variance] = settings;
  const GaussianSettings how{ddof, floor, pooled_rows, pool_zero_variance};
  std::vector<std::int64_t> positions = without_gil(
      [&] { return leave_gaussian_out(rows, n_classes, of_classes, of_all, how, score_table(out), n_threads); });
  const auto size = static_cast<std::int64_t>(positions.size());
  return to_numpy(std::move(positions), size);
}

}  // namespace

void bind_leave_one_out(nb::module_& m) {
  m.def("leave_tokens_out", py_leave_tokens_out, "entries"_a, "leaving"_a, "cells"_a, "model"_a, "out"_a.noconvert(),
        "n_threads"_a);
  m.def("leave_texts_out", py_leave_texts_out, "documents"_a, "vocabulary"_a.none(), "options"_a, "once"_a, "leaving"_a,
        "cells"_a, "model"_a, "out"_a.noconvert(), "length"_a.noconvert().none(), "n_threads"_a);
  m.def("leave_values_out", py_leave_values_out, "cells"_a, "value"_a, "leaving"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("leave_gaussian_out", py_leave_gaussian_out, "value"_a, "leaving"_a, "classes"_a, "pooled"_a, "settings"_a,
        "out"_a.noconvert(), "n_threads"_a);
  nb::class_<PythonRows>(m, "LeftOutRows")
      .def("score", py_score_rows, "scale"_a, "model"_a, "out"_a.noconvert(), "n_threads"_a)
      .def("score_bernoulli", py_score_bernoulli, "scale"_a, "n_rows"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("read_rows", py_read_rows, "entries"_a, "leaving"_a, "cells"_a, "n_classes"_a);
}

}  // namespace naively::bindings
