#include "support/packing.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

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

// Copies the numbers as int64; false if that would change one.
bool to_integers(const ArrayView& array, std::vector<std::int64_t>& out) {
  out.resize(static_cast<std::size_t>(array.size));
  if (array.type == ElementType::kInt64) {
    std::copy_n(as<std::int64_t>(array), array.size, out.begin());
    return true;
  }
  if (array.type == ElementType::kInt32) {
    std::copy_n(as<std::int32_t>(array), array.size, out.begin());
    return true;
  }
  const double* x = as<double>(array);
  for (std::int64_t i = 0; i < array.size; ++i) {
    if (!(std::fabs(x[i]) <= kMaxExactInteger)) return false;  // nor NaN
    out[i] = static_cast<std::int64_t>(x[i]);
    if (static_cast<double>(out[i]) != x[i] || (x[i] == 0 && std::signbit(x[i]))) return false;
  }
  return true;
}

// Maps 0, −1, 1, −2, … to 0, 1, 2, 3, …: small numbers of either sign need few bytes.
std::uint64_t sign_last(std::uint64_t x) { return (x << 1) ^ (0 - (x >> 63)); }

int width_of(std::uint64_t largest) {
  const int bits = std::bit_width(largest);
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

// Appends the lowest byte of every number, then the next byte of every number, and so on.
template <class Number>
void append_bytewise(std::string& out, std::int64_t n, int width, Number number) {
  const std::size_t start = out.size();
  out.resize(start + static_cast<std::size_t>(n) * width);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t x = number(i);
    for (int k = 0; k < width; ++k) out[start + static_cast<std::size_t>(k) * n + i] = static_cast<char>(x >> (8 * k));
  }
}

struct Coding {
  const char* name;
  int width;
};

Coding append_numbers(std::string& out, const ArrayView& array, std::vector<std::int64_t>& numbers) {
  const std::int64_t n = array.size;
  if (!to_integers(array, numbers)) {
    const double* x = as<double>(array);
    append_bytewise(out, n, 8, [&](std::int64_t i) { return std::bit_cast<std::uint64_t>(x[i]); });
    return {"bits", 8};
  }
  const auto value = [&](std::int64_t i) { return sign_last(static_cast<std::uint64_t>(numbers[i])); };
  const auto step = [&](std::int64_t i) {  // from the number before, modulo 2^64
    const auto before = i == 0 ? 0 : static_cast<std::uint64_t>(numbers[i - 1]);
    return sign_last(static_cast<std::uint64_t>(numbers[i]) - before);
  };
  std::uint64_t largest_value = 0, largest_step = 0, value_bits = 0, step_bits = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    largest_value = std::max(largest_value, value(i));
    largest_step = std::max(largest_step, step(i));
    value_bits += static_cast<std::uint64_t>(std::bit_width(value(i)));
    step_bits += static_cast<std::uint64_t>(std::bit_width(step(i)));
  }
  const int value_width = width_of(largest_value), step_width = width_of(largest_step);
  // One large step, as from the last token of a class to the first of the next, does not make all others useless. Sums
  // are taken as they are, which is faster to read: their steps are no smaller.
  const bool are_positions = array.type != ElementType::kFloat64;
  if (step_width < value_width || (are_positions && step_width == value_width && 2 * step_bits < value_bits)) {
    append_bytewise(out, n, step_width, step);
    return {"steps", step_width};
  }
  append_bytewise(out, n, value_width, value);
  return {"whole", value_width};
}

}  // namespace

PackedArrays pack(const std::vector<ArrayView>& arrays, std::int64_t max_inline, std::int64_t min_separate,
                  AppendShortest append_shortest) {
  PackedArrays out;
  std::vector<std::int64_t> numbers;
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
      Coding coding{array.size >= min_separate ? "apart" : "bits", 1};
      if (is_bytes)
        (array.size >= min_separate ? out.separate : out.body)
            .append(as<char>(array), static_cast<std::size_t>(array.size));
      else
        coding = append_numbers(out.body, array, numbers);
      out.json.append("\"").append(coding.name).append("\",");
      write(out.json, std::int64_t{coding.width});
    }
    out.json += ']';
  });
  return out;
}

}  // namespace naively::support
