// Arrays packed into few bytes for the model file: see docs/file_format.md, "Payloads".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace naively::support {

enum class ElementType { kFloat64, kInt64, kInt32, kUint8, kBool };

struct ArrayView {
  ElementType type;
  const void* data;  // in C order
  std::vector<std::int64_t> shape;
  std::int64_t size;
};

// Appends the shortest text that is read back as the same number. Called for numbers that are not integers.
using AppendShortest = void (*)(double, std::string&);

struct PackedArrays {
  std::string json;      // for each array its type, its shape, and its values or its coding and width
  std::string body;      // the bytes of the arrays, one after the other
  std::string separate;  // the bytes of long arrays of bytes
};

// Writes arrays of up to `max_inline` numbers into the JSON, and arrays of at least `min_separate` bytes separately.
PackedArrays pack(const std::vector<ArrayView>& arrays, std::int64_t max_inline, std::int64_t min_separate,
                  AppendShortest append_shortest);

}  // namespace naively::support
