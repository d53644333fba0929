// A two-dimensional table of float64 or float32 with any strides, read in place; and tiles, small float64 copies
// that fit the cache, from which the kernels work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

namespace naively::dense {

struct Table {
  const void* data;
  std::ptrdiff_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;  // in elements
  bool single;                               // float32
};

// Calls f(pointer to element (0, 0)) with the element type of the table.
template <class F>
void with_elements(const Table& table, F&& f) {
  if (table.single)
    f(static_cast<const float*>(table.data));
  else
    f(static_cast<const double*>(table.data));
}

constexpr std::ptrdiff_t lanes = 4;  // doubles to a vector register (AVX2; two registers of SSE2 or NEON)

inline std::ptrdiff_t padded(std::ptrdiff_t n) { return (n + lanes - 1) / lanes * lanes; }

// Zeroed memory aligned for vectors, of trivially destructible elements.
template <class T>
class Aligned {
 public:
  explicit Aligned(std::size_t n) : data_(static_cast<T*>(::operator new(n * sizeof(T), align()))), size_(n) {
    for (std::size_t i = 0; i < n; ++i) new (data_ + i) T{};
  }
  Aligned(Aligned&& other) noexcept : data_(other.data_), size_(other.size_) { other.data_ = nullptr; }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  ~Aligned() { ::operator delete(data_, align()); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t align() { return std::align_val_t{64}; }
  T* data_;
  std::size_t size_;
};

}  // namespace naively::dense
