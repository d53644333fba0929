// One function per part of the core; each lives in bindings_<part>.cpp and is called once, at import.
#pragma once
#include <nanobind/nanobind.h>

void bind_moments(nanobind::module_& m);
void bind_cells(nanobind::module_& m);
void bind_tally(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_histogram(nanobind::module_& m);
void bind_hashes(nanobind::module_& m);
void bind_left_out(nanobind::module_& m);
void bind_log_loss(nanobind::module_& m);
void bind_packing(nanobind::module_& m);
