// The Python module of the core. Only the files of this folder know Python; the rest of core/ is plain C++20.
#include <nanobind/nanobind.h>

namespace naively::bindings {

// Each is in the file of its name.
void bind_counts(nanobind::module_& m);
void bind_histogram(nanobind::module_& m);
void bind_leave_one_out(nanobind::module_& m);
void bind_moments(nanobind::module_& m);
void bind_support(nanobind::module_& m);
void bind_posterior(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_together(nanobind::module_& m);
void bind_vocabulary(nanobind::module_& m);

}  // namespace naively::bindings

NB_MODULE(_core, m) {
  using namespace naively::bindings;
  m.doc() = "The compiled core of naively: count and score.";
  // Objects in module-level tables of test frameworks outlive the interpreter; they are not leaks of the core.
  nanobind::set_leak_warnings(false);
  bind_counts(m);
  bind_vocabulary(m);
  bind_text(m);
  bind_moments(m);
  bind_histogram(m);
  bind_leave_one_out(m);
  bind_posterior(m);
  bind_support(m);
  bind_together(m);
}
