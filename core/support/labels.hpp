// The classes of rows, as numbers from 0 on.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace naively::support {

struct Labels {
  const std::int32_t* label;
  const double* weight;  // null: all 1
  std::int64_t n, n_classes;
};

// Throws std::invalid_argument if a label is outside [0, n_classes).
inline void check_labels(const std::int32_t* label, std::int64_t n, std::int64_t n_classes,
                         std::int64_t first_row = 0) {
  std::uint32_t largest = 0;  // as an unsigned number a negative label is large
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<std::uint32_t>(label[i]));
  if (n == 0 || static_cast<std::int64_t>(largest) < std::min<std::int64_t>(n_classes, 1LL << 31)) return;
  const auto wrong = std::find_if(label, label + n, [&](std::int32_t c) { return c < 0 || c >= n_classes; });
  throw std::invalid_argument("label of row " + std::to_string(first_row + (wrong - label)) + " is " +
                              std::to_string(*wrong) + "; labels must lie in [0, " + std::to_string(n_classes) + ")");
}
inline void check_labels(const Labels& labels) { check_labels(labels.label, labels.n, labels.n_classes); }

}  // namespace naively::support
