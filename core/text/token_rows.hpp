// Documents read one by one, on a few threads: which known tokens each of them has, and how often.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include "support/threads.hpp"
#include "text/text.hpp"

namespace naively::text {

class RowCollector : public Resolver {
 public:
  RowCollector(const Words* words, const Options& options) : Resolver(words, options, SIZE_MAX) {}
  void known(const std::uint32_t* ids, std::size_t n) final { distinct.add(ids, n); }
  Distinct distinct;
};

// Calls work(chunk) for every chunk, with the vocabulary held for reading meanwhile.
template <class Work>
void for_chunks(const Chunks& chunks, const Vocabulary* vocabulary, int n_jobs, const Poll& poll, Work&& work) {
  for (std::size_t first = 0; first < chunks.size(); first += kWaveChunks) {
    poll();
    const std::size_t n = std::min(kWaveChunks, chunks.size() - first);
    support::parallel_for(static_cast<std::ptrdiff_t>(n), n_jobs, [&](std::ptrdiff_t chunk) {
      std::shared_lock<std::shared_mutex> lock;
      if (vocabulary) lock = std::shared_lock(vocabulary->lock);
      work(first + static_cast<std::size_t>(chunk));
    });
  }
}

}  // namespace naively::text
