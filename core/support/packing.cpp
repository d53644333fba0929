#include "support/packing.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace naively::packing {
namespace {

constexpr double exact = 9007199254740992.0;  // 2^53: whole numbers up to this are exact as float64
constexpr double plain = 1e16;                // from here on Python writes an exponent
constexpr const char* names[] = {"f8", "i8", "i4", "u1", "b1"};

template <class T>
const T* as(const View& array) {
  return static_cast<const T*>(array.data);
}

void write(std::string& out, std::int64_t x) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}

void write(std::string& out, double x, Shortest shortest) {
  if (std::isnan(x)) {
    out += "NaN";
  } else if (std::isinf(x)) {
    out += x > 0 ? "Infinity" : "-Infinity";
  } else if (std::fabs(x) < plain && x == std::trunc(x) && !(x == 0 && std::signbit(x))) {
    write(out, static_cast<std::int64_t>(x));
    out += ".0";
  } else {
    shortest(x, out);
  }
}

void write_value(std::string& out, const View& array, std::int64_t i, Shortest shortest) {
  switch (array.kind) {
    case Kind::f8: return write(out, as<double>(array)[i], shortest);
    case Kind::i8: return write(out, as<std::int64_t>(array)[i]);
    case Kind::i4: return write(out, std::int64_t{as<std::int32_t>(array)[i]});
    case Kind::u1: return write(out, std::int64_t{as<std::uint8_t>(array)[i]});
    case Kind::b1: out += as<std::uint8_t>(array)[i] ? "true" : "false";
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

// The numbers as int64, unless that would change any.
bool whole(const View& array, std::vector<std::int64_t>& out) {
  out.resize(static_cast<std::size_t>(array.size));
  if (array.kind == Kind::i8) {
    std::copy_n(as<std::int64_t>(array), array.size, out.begin());
    return true;
  }
  if (array.kind == Kind::i4) {
    std::copy_n(as<std::int32_t>(array), array.size, out.begin());
    return true;
  }
  const double* x = as<double>(array);
  for (std::int64_t i = 0; i < array.size; ++i) {
    if (!(std::fabs(x[i]) <= exact)) return false;  // NaN is not
    out[i] = static_cast<std::int64_t>(x[i]);
    if (static_cast<double>(out[i]) != x[i] || (x[i] == 0 && std::signbit(x[i]))) return false;
  }
  return true;
}

// 0, −1, 1, −2, … as 0, 1, 2, 3, …: small numbers of either sign are narrow.
std::uint64_t sign_last(std::uint64_t x) { return (x << 1) ^ (0 - (x >> 63)); }

int width_of(std::uint64_t largest) {
  const int bits = std::bit_width(largest);
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

// Bytes of one weight together: first the lowest of every number, then the next.
template <class Number>
void append_by_weight(std::string& out, std::int64_t n, int width, Number number) {
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

Coding append_numbers(std::string& out, const View& array, std::vector<std::int64_t>& numbers) {
  const std::int64_t n = array.size;
  if (!whole(array, numbers)) {
    const double* x = as<double>(array);
    append_by_weight(out, n, 8, [&](std::int64_t i) { return std::bit_cast<std::uint64_t>(x[i]); });
    return {"bits", 8};
  }
  const auto value = [&](std::int64_t i) { return sign_last(static_cast<std::uint64_t>(numbers[i])); };
  const auto step = [&](std::int64_t i) {  // modulo 2^64
    const auto before = i == 0 ? 0 : static_cast<std::uint64_t>(numbers[i - 1]);
    return sign_last(static_cast<std::uint64_t>(numbers[i]) - before);
  };
  std::uint64_t values = 0, steps = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    values = std::max(values, value(i));
    steps = std::max(steps, step(i));
  }
  const bool stepped = width_of(steps) < width_of(values);
  const int width = stepped ? width_of(steps) : width_of(values);
  if (stepped)
    append_by_weight(out, n, width, step);
  else
    append_by_weight(out, n, width, value);
  return {stepped ? "steps" : "whole", width};
}

}  // namespace

Packed pack(const std::vector<View>& arrays, std::int64_t few, std::int64_t many, Shortest shortest) {
  Packed out;
  std::vector<std::int64_t> numbers;
  write_list(out.listed, static_cast<std::int64_t>(arrays.size()), [&](std::int64_t a) {
    const View& array = arrays[a];
    const bool bytes = array.kind == Kind::u1 || array.kind == Kind::b1;
    out.listed.append("[\"").append(names[static_cast<int>(array.kind)]).append("\",");
    write_list(out.listed, static_cast<std::int64_t>(array.shape.size()),
               [&](std::int64_t i) { write(out.listed, array.shape[i]); });
    out.listed += ',';
    if (array.size <= few) {
      write_list(out.listed, array.size, [&](std::int64_t i) { write_value(out.listed, array, i, shortest); });
    } else {
      Coding coding{array.size >= many ? "apart" : "bits", 1};
      if (bytes)
        (array.size >= many ? out.apart : out.body).append(as<char>(array), static_cast<std::size_t>(array.size));
      else
        coding = append_numbers(out.body, array, numbers);
      out.listed.append("\"").append(coding.name).append("\",");
      write(out.listed, std::int64_t{coding.width});
    }
    out.listed += ']';
  });
  return out;
}

}  // namespace naively::packing
