// A two-dimensional table of float64 or float32 with any strides, read in place.
#pragma once
#include <cstddef>

namespace naively::support {

struct FloatTable {
  const void* data;
  std::ptrdiff_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;  // in elements
  bool single;                               // float32
};

// Calls f(pointer to element (0, 0)) with the element type of the table.
template <class F>
void with_elements(const FloatTable& table, F&& f) {
  if (table.single)
    f(static_cast<const float*>(table.data));
  else
    f(static_cast<const double*>(table.data));
}

}  // namespace naively::support
