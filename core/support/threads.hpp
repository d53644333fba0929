// A loop over chunks of work on a few threads. The caller cuts the chunks by the shape of the data alone, never by the
// number of threads, so that results do not depend on it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace naively::support {

// Calls f(chunk) once for each chunk in 0 .. n_chunks − 1, in no fixed order; rethrows the first exception.
template <class F>
void parallel_for(std::ptrdiff_t n_chunks, int n_threads, F&& f) {
  const std::ptrdiff_t n_workers = std::min<std::ptrdiff_t>(n_threads, n_chunks);
  if (n_workers <= 1) {
    for (std::ptrdiff_t chunk = 0; chunk < n_chunks; ++chunk) f(chunk);
    return;
  }
  std::atomic<std::ptrdiff_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    try {
      for (std::ptrdiff_t chunk; (chunk = next.fetch_add(1)) < n_chunks;) f(chunk);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = n_chunks;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(n_workers) - 1);
  try {
    for (std::ptrdiff_t t = 1; t < n_workers; ++t) threads.emplace_back(work);
  } catch (const std::system_error&) {  // fewer threads do the same work
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace naively::support
