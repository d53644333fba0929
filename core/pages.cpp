#include "pages.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

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
#else
constexpr bool kMaps = false;
std::size_t rounded(std::size_t bytes) { return bytes; }
void* map_zeros(std::size_t) { return nullptr; }
void unmap(void*, std::size_t) {}
#endif

// Pieces that were freed, at most kMost bytes of them, as malloc keeps some as well. What is asked for and not among them is made
// up for by letting as much go, so that the whole does not grow. Whoever finds the lock taken for long does without: a child that
// was forked meanwhile does not wait for ever.
class Kept {
 public:
  Memory take(std::size_t bytes) {
    const std::unique_lock lock = locked();
    if (!lock) return {};
    auto best = pieces_.end();
    for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece)
      if (piece->mapped >= bytes && piece->mapped <= bytes + bytes / 4 && (best == pieces_.end() || piece->mapped < best->mapped))
        best = piece;
    if (best == pieces_.end()) {
      drop(total_ - std::min(total_, bytes));
      return {};
    }
    const Memory found = *best;
    pieces_.erase(best);
    total_ -= found.mapped;
    return found;
  }

  bool keep(Memory memory) {
    if (memory.mapped > kMost / 4) return false;
    const std::unique_lock lock = locked();
    if (!lock) return false;
    drop(kMost - memory.mapped);
    pieces_.push_back(memory);
    total_ += memory.mapped;
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

  // The oldest go until so much is left.
  void drop(std::size_t left) {
    for (; total_ > left; pieces_.erase(pieces_.begin())) {
      unmap(pieces_.front().start, pieces_.front().mapped);
      total_ -= pieces_.front().mapped;
    }
  }

  static constexpr std::size_t kMost = std::size_t{96} << 20;
  std::mutex guard_;
  std::vector<Memory> pieces_;
  std::size_t total_ = 0;
};

// Zeros are written even where malloc's memory is fresh and has them: where such a page is read first, the system lends one of
// zeros, and replaces it at the first write, for which it has to interrupt all threads of the process.
Memory take_small(std::size_t bytes, Found found) {
  if (found == Found::untouched_zeros) return {std::calloc(bytes, 1), 0};
  void* const start = std::malloc(bytes);
  if (start && found == Found::zeros) std::memset(start, 0, bytes);
  return {start, 0};
}

}  // namespace

Memory take_memory(std::size_t bytes, Found found) {
  if (!kMaps || bytes < kHuge) return take_small(bytes + kLine, found);
  bytes = rounded(bytes);
  if (found == Found::untouched_zeros) return {map_zeros(bytes), bytes};
  Memory memory = Kept::all().take(bytes);
  if (!memory.start) memory = {map_zeros(bytes), bytes};
  if (memory.start && found == Found::zeros) std::memset(memory.start, 0, bytes);
  return memory;
}

void give_back_memory(Memory memory, Found found) {
  if (!memory.mapped)
    std::free(memory.start);
  else if (found == Found::untouched_zeros || !Kept::all().keep(memory))
    unmap(memory.start, memory.mapped);
}

}  // namespace naively
