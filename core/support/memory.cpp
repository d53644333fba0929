#include "support/memory.hpp"

#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace naively::support {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

#if defined(__linux__) && defined(MADV_HUGEPAGE)
// Maps zeros on the edge of a huge page, and unmaps what lies beyond it on either side.
Memory map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  char* const start = static_cast<char*>(memory);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(memory) % kHugePage) % kHugePage;
  if (before) munmap(start, before);
  munmap(start + before + bytes, kHugePage - before);
  madvise(start + before, bytes, MADV_HUGEPAGE);  // a kernel without huge pages refuses, which does no harm
  return {start + before, bytes};
}
#endif

}  // namespace

// Zeros are written even where malloc's memory is fresh: a page that is read first is lent by the system and replaced
// at the first write, for which it interrupts all threads of the process.
Memory allocate(std::size_t bytes, Fill fill) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kHugePage) return map(round_up(bytes, kHugePage));
#endif
  const std::size_t size = round_up(bytes + 1, kCacheLine);
  void* const start = std::aligned_alloc(kCacheLine, size);
  if (start && fill == Fill::kZeros) std::memset(start, 0, size);
  return {start, 0};
}

void release(Memory memory) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (memory.mapped) {
    munmap(memory.start, memory.mapped);
    return;
  }
#endif
  std::free(memory.start);
}

}  // namespace naively::support
