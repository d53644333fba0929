#include "support/memory.hpp"

#include <cstring>

#include "support/compiler.hpp"

#if defined(NAIVELY_HUGE_PAGES)
#include <sys/mman.h>
#endif

namespace naively::support {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

#if defined(NAIVELY_HUGE_PAGES)
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Maps zeros on the edge of a huge page, and unmaps what lies beyond it on either side.
Memory map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  char* const start = static_cast<char*>(memory);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(memory) % kHugePage) % kHugePage;
  if (before) munmap(start, before);
  munmap(start + before + bytes, kHugePage - before);
#if defined(MADV_HUGEPAGE)
  madvise(start + before, bytes, MADV_HUGEPAGE);  // a kernel without huge pages refuses, which does no harm
#endif
  return {start + before, bytes};
}
#endif

}  // namespace

// Zeros are written even where the memory is fresh: a page that is read first is lent by the system and replaced
// at the first write, for which it interrupts all threads of the process.
Memory allocate(std::size_t bytes, Fill fill) {
#if defined(NAIVELY_HUGE_PAGES)
  if (bytes >= kHugePage) return map(round_up(bytes, kHugePage));
#endif
  const std::size_t size = round_up(bytes + 1, kCacheLine);
  void* const start = ::operator new(size, std::align_val_t{kCacheLine}, std::nothrow);
  if (start && fill == Fill::kZeros) std::memset(start, 0, size);
  return {start, 0};
}

void release(Memory memory) {
#if defined(NAIVELY_HUGE_PAGES)
  if (memory.mapped) {
    munmap(memory.start, memory.mapped);
    return;
  }
#endif
  ::operator delete(memory.start, std::align_val_t{kCacheLine});
}

}  // namespace naively::support
