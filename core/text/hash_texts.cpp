#include <cstring>
#include <stdexcept>

#include "support/threads.hpp"
#include "text/keys.hpp"
#include "text/text.hpp"

namespace naively::text {
namespace {

// The key's hash does not know the length of a short text; this does. 0 is kept for missing ones.
std::uint64_t hash_bytes(std::string_view text) {
  alignas(16) std::uint8_t few[kInline] = {};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (text.size() <= kInline && !text.empty()) std::memcpy(few, bytes, text.size());
  const std::uint64_t hash = text.size() > kInline
                                 ? hash_long(bytes, text.size(), kFeatureSeeds)
                                 : make_key(few, static_cast<std::uint32_t>(text.size()), kFeatureSeeds).hash;
  const std::uint64_t mixed = fold_product(hash ^ text.size(), 0x9E3779B97F4A7C15);  // 2^64 / the golden ratio
  return mixed ? mixed : 1;
}

}  // namespace

std::vector<std::uint64_t> hash_texts(const Documents& documents, int n_jobs) {
  if (documents.are_tokens()) throw std::invalid_argument("lists of tokens have no text to hash");
  std::vector<std::uint64_t> found(documents.size());
  const Chunks chunks = make_chunks(documents);
  support::parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), n_jobs, [&](std::ptrdiff_t k) {
    const auto chunk = static_cast<std::size_t>(k);
    for (std::size_t i = chunks.first[chunk]; i < chunks.first[chunk + 1]; ++i)
      if (!documents.missing(i)) found[i] = hash_bytes(documents.text(i));
  });
  return found;
}

}  // namespace naively::text
