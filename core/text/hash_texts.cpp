#include <cstring>
#include <stdexcept>

#include "support/threads.hpp"
#include "text/keys.hpp"
#include "text/text.hpp"

namespace naively::text {
namespace {

// Mixes in the length, which the hash of a short key lacks. 0 means a missing text.
std::uint64_t hash_bytes(std::string_view text) {
  alignas(16) std::uint8_t padded[kShortBytes] = {};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (text.size() <= kShortBytes && !text.empty()) std::memcpy(padded, bytes, text.size());
  const std::uint64_t hash = text.size() > kShortBytes
                                 ? hash_long(bytes, text.size(), kFeatureSeeds)
                                 : make_key(padded, static_cast<std::uint32_t>(text.size()), kFeatureSeeds).hash;
  const std::uint64_t mixed = fold_product(hash ^ text.size(), 0x9E3779B97F4A7C15);  // 2^64 / the golden ratio
  return mixed ? mixed : 1;
}

}  // namespace

std::vector<std::uint64_t> hash_texts(const Documents& documents, int n_threads) {
  if (documents.are_tokens()) throw std::invalid_argument("lists of tokens have no text to hash");
  std::vector<std::uint64_t> hashes(documents.size());
  const Chunks chunks = make_chunks(documents);
  support::parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), n_threads, [&](std::ptrdiff_t k) {
    const auto chunk = static_cast<std::size_t>(k);
    for (std::size_t i = chunks.first[chunk]; i < chunks.first[chunk + 1]; ++i)
      if (!documents.missing(i)) hashes[i] = hash_bytes(documents.text(i));
  });
  return hashes;
}

}  // namespace naively::text
