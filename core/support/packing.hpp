// Arrays as few bytes, for the model file: see docs/file_format.md, "Payloads".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace naively::packing {

enum class Kind { f8, i8, i4, u1, b1 };

struct View {
  Kind kind;
  const void* data;  // in C order
  std::vector<std::int64_t> shape;
  std::int64_t size;
};

// Appends the shortest text that is read back as the same number; called for those that are not whole.
using Shortest = void (*)(double, std::string&);

struct Packed {
  std::string listed;  // JSON: for each array its type, its shape, and its values or its coding and width
  std::string body;    // the bytes of the arrays, one after the other
  std::string apart;   // … of those that lie apart
};

// Arrays of up to `few` numbers stand in the JSON; arrays of bytes from `many` on lie apart.
Packed pack(const std::vector<View>& arrays, std::int64_t few, std::int64_t many, Shortest shortest);

}  // namespace naively::packing
