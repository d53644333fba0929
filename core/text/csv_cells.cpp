#include "text/csv_cells.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace naively::text {
namespace {

// Most texts have another size than any value, or begin otherwise.
class ValueSet {
 public:
  explicit ValueSet(const std::vector<std::string>& values) : values_(values) {
    for (const std::string& value : values) {
      sizes_ |= bit_of(value.size());
      begins_[static_cast<unsigned char>(value[0])] = true;
    }
  }
  bool contains(std::string_view text) const {
    if (!text.empty() && !begins_[static_cast<unsigned char>(text[0])]) return false;
    return (sizes_ & bit_of(text.size())) && std::find(values_.begin(), values_.end(), text) != values_.end();
  }

 private:
  static std::uint64_t bit_of(std::size_t size) { return std::uint64_t{1} << std::min<std::size_t>(size, 63); }

  const std::vector<std::string>& values_;
  std::uint64_t sizes_ = 0;
  std::array<bool, 256> begins_ = {};
};

// Takes the digits from p on; returns their number.
std::size_t take_digits(const char*& p, const char* end) {
  const char* const start = p;
  while (p < end && *p >= '0' && *p <= '9') ++p;
  return static_cast<std::size_t>(p - start);
}

// Takes a fraction from its point on. `follows_zero`: it stands after 0, so its leading zeros are no digits.
bool take_fraction(const char*& p, const char* end, bool follows_zero) {
  constexpr std::size_t kMaxDigits = 17;
  const char* const start = ++p;
  const std::size_t n = take_digits(p, end);
  if (n <= kMaxDigits) return n > 0;
  return follows_zero && *start == '0' &&
         static_cast<std::size_t>(p - std::find_if(start, p, [](char digit) { return digit != '0'; })) <= kMaxDigits;
}

// Takes an exponent from its letter on.
bool take_exponent(const char*& p, const char* end) {
  ++p;
  if (p < end && (*p == '+' || *p == '-')) ++p;
  const char* const start = p;
  const std::size_t n = take_digits(p, end);
  return n == 1 || n == 2 || (n == 3 && (*start == '1' || (*start == '2' && start[1] <= '8')));
}

struct CellKind {
  bool is_integer, is_number;
};

CellKind kind_of(std::string_view cell) {
  constexpr std::size_t kMaxInteger = 18, kMaxWhole = 15;  // digits
  const char *p = cell.data(), *const end = p + cell.size();
  const bool is_negative = p < end && *p == '-';
  if (is_negative) ++p;
  const char* const start = p;
  const std::size_t n = take_digits(p, end);
  const bool is_zero = n == 1 && *start == '0';
  if (n == 0 || (*start == '0' && !is_zero)) return {false, false};
  if (p == end) return {n <= kMaxInteger && !(is_zero && is_negative), n <= kMaxWhole};
  if (n > kMaxWhole || (*p == '.' && !take_fraction(p, end, is_zero))) return {false, false};
  if (p < end && (*p == 'e' || *p == 'E') && !take_exponent(p, end)) return {false, false};
  return {false, p == end};
}

}  // namespace

support::LargeArray<bool> are_among(const Documents& cells, const std::vector<std::string>& values) {
  const ValueSet set(values);
  support::LargeArray<bool> among(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) among[i] = !cells.missing(i) && set.contains(cells.text(i));
  return among;
}

NumberKinds number_kinds(const Documents& cells, const std::vector<std::string>& missing) {
  const ValueSet set(missing);
  NumberKinds kinds;
  for (std::size_t i = 0; i < cells.size() && (kinds.are_integers || kinds.are_numbers || !kinds.has_values); ++i) {
    if (cells.missing(i) || set.contains(cells.text(i))) continue;
    const CellKind kind = kind_of(cells.text(i));
    kinds.has_values = true;
    kinds.are_integers &= kind.is_integer;
    kinds.are_numbers &= kind.is_number;
  }
  return kinds;
}

}  // namespace naively::text
