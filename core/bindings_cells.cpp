#include "bindings.hpp"

void bind_cells(nanobind::module_& m) { (void)m; }
