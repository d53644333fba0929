// Large memory in big pages where there are any, because every small page costs a fault, and random reads of a large
// table miss the translation cache as well as the others. Some of what is freed is kept for those who ask next: to a
// virtual machine, memory that it has not touched for a few seconds can cost more than all that is done with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace naively {

// What is found in memory that was asked for.
enum class Found { zeros, anything };

// So many bytes at least from the first cache line's edge on; null if there are none. `mapped` is how many come from
// the system in big pages, 0 if they are malloc's.
struct Memory {
  void* start = nullptr;
  std::size_t mapped = 0;
};
inline constexpr std::size_t kLine = 64;
Memory take_memory(std::size_t bytes, Found found);
void give_back_memory(Memory memory);

// n Ts on a cache line's edge, for types that zeros are a value of.
template <class T>
class ZeroedPages {
 public:
  ZeroedPages() = default;
  explicit ZeroedPages(std::size_t n, Found found = Found::zeros) {
    if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    memory_ = take_memory(n * sizeof(T), found);
    if (!memory_.start) throw std::bad_alloc();
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.start);
    first_ = reinterpret_cast<T*>((at + kLine - 1) / kLine * kLine);
  }
  ZeroedPages(ZeroedPages&& other) noexcept { swap(other); }
  ZeroedPages& operator=(ZeroedPages&& other) noexcept {
    ZeroedPages old(std::move(other));
    swap(old);
    return *this;
  }
  ~ZeroedPages() {
    if (memory_.start) give_back_memory(memory_);
  }

  T* data() const { return first_; }
  T& operator[](std::size_t i) const { return first_[i]; }

 private:
  void swap(ZeroedPages& other) noexcept { std::swap(memory_, other.memory_), std::swap(first_, other.first_); }

  Memory memory_;
  T* first_ = nullptr;
};

}  // namespace naively
