// The Python face of the core. Only the bindings*.cpp files know Python; the rest of core/ is plain C++20.
#include "bindings/module.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of naively: count and score.";
  bind_moments(m);
  bind_cells(m);
  bind_tally(m);
  bind_text(m);
  bind_histogram(m);
  bind_hashes(m);
  bind_left_out(m);
  bind_log_loss(m);
  bind_packing(m);
}
