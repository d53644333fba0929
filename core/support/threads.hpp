// A loop over chunks of work on a few threads. The chunks are fixed by the caller from the shape of the data alone,
// never from n_jobs, so that results do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace naively {

// Threads that stay from loop to loop of the thread that made them, while this object lives: a tenth of a millisecond
// goes by until a new thread starts, which is much where short loops follow each other. parallel_for() finds them by
// itself.
class Crew {
 public:
  // So many threads with the one that calls.
  explicit Crew(std::ptrdiff_t n_threads) : outer_(current_) {
    try {
      for (std::ptrdiff_t t = 1; t < n_threads; ++t) threads_.emplace_back([this, t] { serve(t); });
    } catch (...) {
      end();
      throw;
    }
    current_ = this;
  }
  ~Crew() {
    current_ = outer_;
    end();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Of the calling thread, if it is not at work for a loop already.
  static Crew* idle() { return current_ && !current_->working_ ? current_ : nullptr; }

  // Calls work(), which throws nothing, on so many of the threads, and waits for them.
  void run(std::ptrdiff_t n_threads, const std::function<void()>& work) {
    working_ = true;
    left_ = static_cast<std::ptrdiff_t>(threads_.size());
    work_ = &work, wanted_ = n_threads;
    tell([&] { ++turn_; });
    work();
    wait([&] { return left_ == 0; });
    working_ = false;
  }

 private:
  void serve(std::ptrdiff_t t) {
    for (unsigned seen = 0;;) {
      wait([&] { return turn_ != seen; });
      seen = turn_;
      if (ending_) return;
      if (t < wanted_) (*work_)();
      tell([&] { --left_; });
    }
  }

  void end() {
    ending_ = true;
    tell([&] { ++turn_; });
    for (std::thread& thread : threads_) thread.join();
  }

  template <class Change>
  void tell(Change&& change) {
    {
      std::lock_guard lock(guard_);
      change();
    }
    changed_.notify_all();
  }

  // Some tenths of a millisecond awake, then asleep. Whoever yields instead may come to share the processor of the
  // thread that it waits for, and is not moved away from there for milliseconds (seen on Linux 6.18).
  template <class Ready>
  void wait(Ready&& ready) {
    for (int turn = 0; turn < 10'000; ++turn) {
      if (ready()) return;
      pause();
    }
    std::unique_lock lock(guard_);
    changed_.wait(lock, ready);
  }

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }

  static inline thread_local Crew* current_ = nullptr;
  Crew* const outer_;
  std::vector<std::thread> threads_;
  std::mutex guard_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::ptrdiff_t wanted_ = 0;
  bool working_ = false, ending_ = false;
  // Changed last, and seen first: what stands above is in force by then.
  std::atomic<unsigned> turn_{0};
  std::atomic<std::ptrdiff_t> left_{0};
};

// Calls f(chunk) for chunk = 0 .. n_chunks − 1, each once, in no fixed order; rethrows the first exception.
template <class F>
void parallel_for(std::ptrdiff_t n_chunks, int n_jobs, F&& f) {
  const std::ptrdiff_t n_threads = std::min<std::ptrdiff_t>(std::max(n_jobs, 1), n_chunks);
  if (n_threads <= 1) {
    for (std::ptrdiff_t chunk = 0; chunk < n_chunks; ++chunk) f(chunk);
    return;
  }
  std::atomic<std::ptrdiff_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  auto work = [&] {
    try {
      for (std::ptrdiff_t chunk; (chunk = next.fetch_add(1)) < n_chunks;) f(chunk);
    } catch (...) {
      std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = n_chunks;
    }
  };
  if (Crew* crew = Crew::idle())
    crew->run(n_threads, work);
  else
    Crew(n_threads).run(n_threads, work);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace naively
