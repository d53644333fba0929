// A loop over chunks of work on a few threads. The chunks are fixed by the caller from the shape of the data alone,
// never from n_jobs, so that results do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace naively {

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
  {
    struct Joined : std::vector<std::thread> {  // std::jthread is still missing from some standard libraries
      ~Joined() {
        for (std::thread& thread : *this) thread.join();
      }
    } threads;
    for (std::ptrdiff_t t = 1; t < n_threads; ++t) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace naively
