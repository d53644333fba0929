#include "bindings.hpp"

void bind_moments(nanobind::module_& m) { (void)m; }
