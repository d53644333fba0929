// Python's door to columns with gaps: lengths are checked here.
#include "bindings/arrow.hpp"

#include "bindings/module.hpp"
#include "counts/codes.hpp"

namespace nb = nanobind;

namespace naively::cells {
namespace {

template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void py_fill_numbers(const Values& values, const std::optional<Bits>& valid, std::int64_t first,
                     const Out<double>& out) {
  const Gapped column = gapped_of(values, valid, first, out.size(), false);
  nb::gil_scoped_release release;
  fill_numbers(column.values, column.gaps, static_cast<std::int64_t>(out.size()), out.data());
}

void py_fill_codes(const Values& codes, const std::optional<Bits>& valid, std::int64_t first,
                   const Out<std::int32_t>& out) {
  const Gapped column = gapped_of(codes, valid, first, out.size(), true);
  nb::gil_scoped_release release;
  fill_codes(column.values, column.gaps, static_cast<std::int64_t>(out.size()), out.data());
}

void py_count(const std::vector<GivenColumn>& columns, const In<std::int64_t>& sizes, const In<std::int32_t>& label,
              std::int64_t n_classes, const Out<std::int64_t>& out, int n_jobs) {
  const auto found = gapped_of(columns, label.size(), true);
  if (sizes.size() != columns.size()) throw std::invalid_argument("columns and sizes differ in number");
  if (n_classes < 0 || n_classes >= (std::int64_t{1} << 31))
    throw std::invalid_argument("n_classes lies outside 0 .. 2^31");
  std::int64_t values = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    if (sizes.data()[j] < 0 || sizes.data()[j] >= (std::int64_t{1} << 31))
      throw std::invalid_argument("a size lies outside 0 .. 2^31");
    values += sizes.data()[j];
  }
  if (static_cast<std::int64_t>(out.size()) != n_classes * values)
    throw std::invalid_argument("out has one place for each class and value");
  nb::gil_scoped_release release;
  count_gapped_codes(found, sizes.data(), {label.data(), nullptr, static_cast<std::int64_t>(label.size()), n_classes},
                     out.data(), n_jobs);
}

}  // namespace
}  // namespace naively::cells

void bind_gaps(nb::module_& m) {
  using namespace naively::cells;
  using namespace nb::literals;
  m.def("fill_numbers", py_fill_numbers, "values"_a, "valid"_a.none(), "first"_a, "out"_a.noconvert());
  m.def("fill_codes", py_fill_codes, "codes"_a, "valid"_a.none(), "first"_a, "out"_a.noconvert());
  m.def("count_gapped_codes", py_count, "columns"_a, "sizes"_a, "label"_a, "n_classes"_a, "out"_a.noconvert(),
        "n_jobs"_a);
}
