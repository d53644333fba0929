// LargeArray: an array in huge pages if the system has them. Every small page costs a fault, and random reads of a
// large table miss the translation cache as well as the data caches. Buffer: an array that can shrink in place and be
// given away.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace naively::support {

// What new memory holds.
enum class Fill { kZeros, kAnything };

inline constexpr std::size_t kCacheLine = 64;

// A range of memory on the edge of a cache line, or null. `mapped` is its size if it was mapped, else 0.
struct Memory {
  void* start = nullptr;
  std::size_t mapped = 0;
};
Memory allocate(std::size_t bytes, Fill fill);
void release(Memory memory);

// n elements on the edge of a cache line, of a type for which all bits zero are a value.
template <class T>
class LargeArray {
 public:
  LargeArray() = default;
  explicit LargeArray(std::size_t n, Fill fill = Fill::kZeros) {
    if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    memory_ = allocate(n * sizeof(T), fill);
    if (!memory_.start) throw std::bad_alloc();
    size_ = n;
  }
  LargeArray(LargeArray&& other) noexcept { swap(other); }
  LargeArray& operator=(LargeArray&& other) noexcept {
    LargeArray old(std::move(other));
    swap(old);
    return *this;
  }
  ~LargeArray() {
    if (memory_.start) release(memory_);
  }

  T* data() const { return static_cast<T*>(memory_.start); }
  T& operator[](std::size_t i) const { return data()[i]; }
  std::size_t size() const { return size_; }

 private:
  void swap(LargeArray& other) noexcept { std::swap(memory_, other.memory_), std::swap(size_, other.size_); }

  Memory memory_;
  std::size_t size_ = 0;
};

// An uninitialised array. Memory that was never written to is not resident.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t size = 0) : memory_(reallocate(nullptr, size)) {}
  T* get() { return memory_.get(); }
  const T* get() const { return memory_.get(); }
  T& operator[](std::int64_t i) { return memory_.get()[i]; }
  const T& operator[](std::int64_t i) const { return memory_.get()[i]; }
  void resize(std::int64_t size) { memory_.reset(reallocate(memory_.release(), size)); }
  T* data() { return memory_.get(); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  static T* reallocate(T* old, std::int64_t size) {
    void* p = std::realloc(old, (size > 0 ? size : 1) * sizeof(T));
    if (p == nullptr) {
      std::free(old);
      throw std::bad_alloc();
    }
    return static_cast<T*>(p);
  }
  std::unique_ptr<T, Free> memory_;
};

}  // namespace naively::support
