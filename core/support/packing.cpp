#include "support/packing.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace naively::support {
namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53: float64 holds all integers up to this
constexpr double kMinExponent = 1e16;                    // from here on Python writes an exponent
constexpr const char* kTypeNames[] = {"f8", "i8", "i4", "u1", "b1"};

template <class T>
const T* as(const ArrayView& array) {
  return static_cast<const T*>(array.data);
}

void write(std::string& out, std::int64_t x) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}

void write(std::string& out, double x, AppendShortest append_shortest) {
  if (std::isnan(x)) {
    out += "NaN";
  } else if (std::isinf(x)) {
    out += x > 0 ? "Infinity" : "-Infinity";
  } else if (std::fabs(x) < kMinExponent && x == std::trunc(x) && !(x == 0 && std::signbit(x))) {
    write(out, static_cast<std::int64_t>(x));
    out += ".0";
  } else {
    append_shortest(x, out);
  }
}

void write_value(std::string& out, const ArrayView& array, std::int64_t i, AppendShortest append_shortest) {
  switch (array.type) {
    case ElementType::kFloat64: return write(out, as<double>(array)[i], append_shortest);
    case ElementType::kInt64: return write(out, as<std::int64_t>(array)[i]);
    case ElementType::kInt32: return write(out, std::int64_t{as<std::int32_t>(array)[i]});
    case ElementType::kUint8: return write(out, std::int64_t{as<std::uint8_t>(array)[i]});
    case ElementType::kBool: out += as<std::uint8_t>(array)[i] ? "true" : "false";
  }
}

template <class Write>
void write_list(std::string& out, std::int64_t n, Write write_item) {
  out += '[';
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) out += ',';
    write_item(i);
  }
  out += ']';
}

// Maps 0, −1, 1, −2, … to 0, 1, 2, 3, …: small numbers of either sign need few bytes.
std::uint64_t sign_last(std::uint64_t x) { return (x << 1) ^ (0 - (x >> 63)); }

int width_of(std::uint64_t largest) {
  const int bits = std::bit_width(largest);
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

constexpr std::int64_t kBlock = 1024;

// Copies n numbers as int64, modulo 2^64; false if that would change one.
template <class Number>
bool copy_integers(const Number* from, std::int64_t n, std::uint64_t* out) {
  bool are_exact = true;
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<Number, double>) {
      const bool is_small = std::fabs(from[i]) <= kMaxExactInteger;  // nor NaN
      const auto integer = static_cast<std::int64_t>(is_small ? from[i] : 0.0);
      are_exact &= std::bit_cast<std::uint64_t>(static_cast<double>(integer)) == std::bit_cast<std::uint64_t>(from[i]);
      out[i] = static_cast<std::uint64_t>(integer);
    } else {
      out[i] = static_cast<std::uint64_t>(std::int64_t{from[i]});
    }
  }
  return are_exact;
}

bool copy_integers(const ArrayView& array, std::int64_t start, std::int64_t n, std::uint64_t* out) {
  if (array.type == ElementType::kInt64) return copy_integers(as<std::int64_t>(array) + start, n, out);
  if (array.type == ElementType::kInt32) return copy_integers(as<std::int32_t>(array) + start, n, out);
  return copy_integers(as<double>(array) + start, n, out);
}

// Calls act(values, steps, start, n) for each block of integers: their codes, and those of their differences from the
// number before, modulo 2^64. Returns false if a number is not an integer.
template <class Act>
bool for_codes(const ArrayView& array, Act&& act) {
  std::uint64_t numbers[kBlock + 1] = {}, values[kBlock], steps[kBlock];  // the first is the one before the block
  for (std::int64_t start = 0; start < array.size; start += kBlock) {
    const std::int64_t n = std::min(kBlock, array.size - start);
    if (!copy_integers(array, start, n, numbers + 1)) return false;
    for (std::int64_t i = 0; i < n; ++i) values[i] = sign_last(numbers[i + 1]);
    for (std::int64_t i = 0; i < n; ++i) steps[i] = sign_last(numbers[i + 1] - numbers[i]);
    act(values, steps, start, n);
    numbers[0] = numbers[n];
  }
  return true;
}

// Writes the lowest byte of every number, then the next byte of every number, and so on: here those of one block.
void write_bytewise(const std::uint64_t* block, std::int64_t n, int width, std::int64_t array_size, char* out) {
  for (int k = 0; k < width; ++k)
    for (std::int64_t i = 0; i < n; ++i) out[k * array_size + i] = static_cast<char>(block[i] >> (8 * k));
}

enum class CodingKind { kBits, kApart, kValues, kSteps };
constexpr const char* kCodingNames[] = {"bits", "apart", "whole", "steps"};

struct Coding {
  CodingKind kind;
  int width;
};

// Chooses steps if they are narrower. One large step, as from the last token of a class to the first of the next, does
// not make all others useless. Sums are taken as they are, which is faster to read: their steps are no smaller.
Coding choose_coding(const ArrayView& array) {
  std::uint64_t any_value = 0, any_step = 0;  // the bits that any number has
  const bool are_integers = for_codes(array, [&](const auto* values, const auto* steps, std::int64_t, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) any_value |= values[i], any_step |= steps[i];
  });
  if (!are_integers) return {CodingKind::kBits, 8};
  const int value_width = width_of(any_value), step_width = width_of(any_step);
  if (step_width != value_width || array.type == ElementType::kFloat64)
    return step_width < value_width ? Coding{CodingKind::kSteps, step_width} : Coding{CodingKind::kValues, value_width};
  std::uint64_t value_bits = 0, step_bits = 0;
  for_codes(array, [&](const auto* values, const auto* steps, std::int64_t, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      value_bits += std::uint64_t(std::bit_width(values[i])), step_bits += std::uint64_t(std::bit_width(steps[i]));
  });
  return {2 * step_bits < value_bits ? CodingKind::kSteps : CodingKind::kValues, value_width};
}

void append_numbers(std::string& out, const ArrayView& array, const Coding& coding) {
  const std::size_t start = out.size();
  out.resize(start + static_cast<std::size_t>(array.size * coding.width));
  const auto write_block = [&](const std::uint64_t* block, std::int64_t at, std::int64_t n) {
    write_bytewise(block, n, coding.width, array.size, out.data() + start + at);
  };
  if (coding.kind == CodingKind::kBits) {
    std::uint64_t block[kBlock];
    for (std::int64_t at = 0; at < array.size; at += kBlock) {
      const std::int64_t n = std::min(kBlock, array.size - at);
      std::memcpy(block, as<double>(array) + at, 8 * static_cast<std::size_t>(n));
      write_block(block, at, n);
    }
    return;
  }
  for_codes(array, [&](const auto* values, const auto* steps, std::int64_t at, std::int64_t n) {
    write_block(coding.kind == CodingKind::kSteps ? steps : values, at, n);
  });
}

}  // namespace

PackedArrays pack(const std::vector<ArrayView>& arrays, std::int64_t max_inline, std::int64_t min_separate,
                  AppendShortest append_shortest) {
  PackedArrays out;
  write_list(out.json, static_cast<std::int64_t>(arrays.size()), [&](std::int64_t a) {
    const ArrayView& array = arrays[a];
    const bool is_bytes = array.type == ElementType::kUint8 || array.type == ElementType::kBool;
    out.json.append("[\"").append(kTypeNames[static_cast<int>(array.type)]).append("\",");
    write_list(out.json, static_cast<std::int64_t>(array.shape.size()),
               [&](std::int64_t i) { write(out.json, array.shape[i]); });
    out.json += ',';
    if (array.size <= max_inline) {
      write_list(out.json, array.size, [&](std::int64_t i) { write_value(out.json, array, i, append_shortest); });
    } else {
      const bool is_separate = is_bytes && array.size >= min_separate;
      const Coding coding =
          is_bytes ? Coding{is_separate ? CodingKind::kApart : CodingKind::kBits, 1} : choose_coding(array);
      if (is_bytes)
        (is_separate ? out.separate : out.body).append(as<char>(array), static_cast<std::size_t>(array.size));
      else
        append_numbers(out.body, array, coding);
      out.json.append("\"").append(kCodingNames[static_cast<int>(coding.kind)]).append("\",");
      write(out.json, std::int64_t{coding.width});
    }
    out.json += ']';
  });
  return out;
}

}  // namespace naively::support
