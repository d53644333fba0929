// Each part of the core has a file here, with one function that defines its part of the module.
#pragma once
#include <nanobind/nanobind.h>

namespace naively::bindings {

void bind_counts(nanobind::module_& m);
void bind_histogram(nanobind::module_& m);
void bind_leave_one_out(nanobind::module_& m);
void bind_moments(nanobind::module_& m);
void bind_packing(nanobind::module_& m);
void bind_posterior(nanobind::module_& m);
void bind_row_hash(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_vocabulary(nanobind::module_& m);

}  // namespace naively::bindings
