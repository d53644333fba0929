// Large zeroed memory straight from the system, given back to it at once; in big pages where there are any, because
// every small page costs a fault, and random reads of a large table miss the translation cache as well as the others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace naively {

// n zeroed Ts on a cache line's edge, for types that zeros are a value of.
template <class T>
class ZeroedPages {
 public:
  ZeroedPages() = default;
  explicit ZeroedPages(std::size_t n) {
    if (n > (SIZE_MAX - 2 * kHuge) / sizeof(T)) throw std::bad_alloc();
    bytes_ = n * sizeof(T) + kLine;
    void* memory = take(bytes_);
    if (!memory) throw std::bad_alloc();
    memory_ = memory;
    first_ = reinterpret_cast<T*>(round_up(reinterpret_cast<std::uintptr_t>(memory), bytes_ < kHuge ? kLine : kHuge));
  }
  ZeroedPages(ZeroedPages&& other) noexcept { swap(other); }
  ZeroedPages& operator=(ZeroedPages&& other) noexcept {
    ZeroedPages old(std::move(other));
    swap(old);
    return *this;
  }
  ~ZeroedPages() {
    if (memory_) give_back(memory_, bytes_);
  }

  T* data() const { return first_; }
  T& operator[](std::size_t i) const { return first_[i]; }

 private:
  static constexpr std::uintptr_t kLine = 64, kHuge = std::uintptr_t{2} << 20;
  static std::uintptr_t round_up(std::uintptr_t at, std::uintptr_t edge) { return (at + edge - 1) / edge * edge; }

  void swap(ZeroedPages& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(first_, other.first_), std::swap(bytes_, other.bytes_);
  }

#if defined(__linux__) && defined(MADV_HUGEPAGE)
  static void* take(std::size_t& bytes) {
    if (bytes < kHuge) return std::calloc(bytes, 1);
    bytes += kHuge;  // to start on the edge of a big page
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    madvise(memory, bytes, MADV_HUGEPAGE);  // refused by a kernel without big pages, which does no harm
    return memory;
  }
  static void give_back(void* memory, std::size_t bytes) {
    if (bytes < kHuge)
      std::free(memory);
    else
      munmap(memory, bytes);
  }
#else
  static void* take(std::size_t& bytes) {
    if (bytes >= kHuge) bytes += kHuge;
    return std::calloc(bytes, 1);
  }
  static void give_back(void* memory, std::size_t) { std::free(memory); }
#endif

  void* memory_ = nullptr;
  T* first_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace naively
