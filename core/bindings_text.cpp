#include "bindings.hpp"

void bind_text(nanobind::module_& m) { (void)m; }
