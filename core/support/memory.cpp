#include "support/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace naively {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

#if defined(__linux__) && defined(MADV_HUGEPAGE)
constexpr bool kMaps = true;

std::size_t rounded(std::size_t bytes) { return (bytes + kHuge - 1) / kHuge * kHuge; }

// On the edge of a big page: what is mapped beyond it, on either side, is unmapped again.
void* map_zeros(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(memory);
  const std::size_t before = (kHuge - reinterpret_cast<std::uintptr_t>(memory) % kHuge) % kHuge;
  if (before) munmap(start, before);
  munmap(start + before + bytes, kHuge - before);
  madvise(start + before, bytes, MADV_HUGEPAGE);  // refused by a kernel without big pages, which does no harm
  return start + before;
}
void unmap(void* memory, std::size_t bytes) { munmap(memory, bytes); }

// One big page in the place of another, with what is in it. If it fails, that place may belong to somebody else by now.
bool move_page(void* from, void* to) {
  return mremap(from, kHuge, kHuge, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}
#else
constexpr bool kMaps = false;
std::size_t rounded(std::size_t bytes) { return bytes; }
void* map_zeros(std::size_t) { return nullptr; }
void unmap(void*, std::size_t) {}
bool move_page(void*, void*) { return false; }
#endif

// Big pages that were freed, at most kMost bytes of them, as malloc keeps some as well. Who asks gets the front of the
// smallest range that is long enough, or else pages from all over, moved behind each other, and new ones only for what
// is still lacking: so the whole does not grow while sizes change from one piece of work to the next. Whoever finds the
// lock taken for long does without: a child that was forked meanwhile does not wait for ever.
class Kept {
 public:
  Memory take(std::size_t bytes) {
    const std::unique_lock lock = locked();
    if (!lock) return {};
    auto best = ranges_.end();
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range)
      if (range->second >= bytes && (best == ranges_.end() || range->second < best->second)) best = range;
    if (best == ranges_.end()) return gather(bytes);
    const auto [start, size] = *best;
    ranges_.erase(best);
    if (size > bytes) ranges_.emplace(start + bytes, size - bytes);
    total_ -= bytes;
    return {start, bytes};
  }

  bool keep(Memory memory) {
    if (memory.mapped > kMost / 4) return false;
    const std::unique_lock lock = locked();
    if (!lock) return false;
    drop(kMost - memory.mapped);
    const auto range = ranges_.emplace(static_cast<char*>(memory.start), memory.mapped).first;
    total_ += memory.mapped;
    join_next(range);
    if (range != ranges_.begin()) join_next(std::prev(range));
    return true;
  }

  static Kept& all() {
    static Kept* const once = new Kept;  // never destroyed: arrays may outlive all that is static
    return *once;
  }

 private:
  std::unique_lock<std::mutex> locked() {
    std::unique_lock lock(guard_, std::try_to_lock);
    for (int turn = 0; !lock && turn < 1000; ++turn) {
      std::this_thread::yield();
      if (lock.try_lock()) break;
    }
    return lock;
  }

  // One range with the next, where that starts at its end.
  void join_next(std::map<char*, std::size_t>::iterator range) {
    const auto next = std::next(range);
    if (next == ranges_.end() || range->first + range->second != next->first) return;
    range->second += next->second;
    ranges_.erase(next);
  }

  // The last page leaves the ranges.
  char* pop() {
    const auto last = std::prev(ranges_.end());
    char* const page = last->first + (last->second -= kHuge);
    if (!last->second) ranges_.erase(last);
    total_ -= kHuge;
    return page;
  }

  Memory gather(std::size_t bytes) {
    char* const start = static_cast<char*>(map_zeros(bytes));
    for (std::size_t at = 0; start && at < bytes && total_; at += kHuge)
      if (char* const page = pop(); !move_page(page, start + at)) {
        unmap(page, kHuge), unmap(start, at), unmap(start + at + kHuge, bytes - at - kHuge);
        return {};
      }
    return {start, bytes};
  }

  void drop(std::size_t left) {
    while (total_ > left) unmap(pop(), kHuge);
  }

  static constexpr std::size_t kMost = std::size_t{96} << 20;
  std::mutex guard_;
  std::map<char*, std::size_t> ranges_;  // starts, and bytes
  std::size_t total_ = 0;
};

// Zeros are written even where malloc's memory is fresh and has them: where such a page is read first, the system lends
// one of zeros, and replaces it at the first write, for which it has to interrupt all threads of the process.
Memory take_small(std::size_t bytes, Found found) {
  void* const start = std::malloc(bytes);
  if (start && found == Found::zeros) std::memset(start, 0, bytes);
  return {start, 0};
}

}  // namespace

Memory take_memory(std::size_t bytes, Found found) {
  if (!kMaps || bytes < kHuge) return take_small(bytes + kLine, found);
  bytes = rounded(bytes);
  Memory memory = Kept::all().take(bytes);
  if (!memory.start) memory = {map_zeros(bytes), bytes};
  if (memory.start && found == Found::zeros) std::memset(memory.start, 0, bytes);
  return memory;
}

void give_back_memory(Memory memory) {
  if (!memory.mapped)
    std::free(memory.start);
  else if (!Kept::all().keep(memory))
    unmap(memory.start, memory.mapped);
}

}  // namespace naively
