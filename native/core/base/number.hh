// Numbers in text files: locale-independent, finite, with clear errors.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/base/errors.hh"

namespace dragoman {

inline std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string result(1, '\'');
  result += text.substr(0, kShown);
  result += text.size() > kShown ? "...'" : "'";
  return result;
}

// The approximate decimal exponent of a number: enough to tell overflow from underflow.
inline int64_t decimal_magnitude(std::string_view number) {
  const size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, exponent_at);
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  int64_t exponent = 0;
  if (exponent_at < number.size()) {
    const bool negative = number.substr(exponent_at + 1, 1) == "-";
    for (const char c : number.substr(exponent_at + 1))
      if (c >= '0' && c <= '9') exponent = std::min<int64_t>(exponent * 10 + (c - '0'), int64_t{1} << 40);
    exponent = negative ? -exponent : exponent;
  }
  return static_cast<int64_t>(point) - static_cast<int64_t>(first) + exponent;
}

// Parses all of `text` as a finite double. Underflow gives 0. Returns false if it is not a number; throws InputError
// for NaN, infinities and overflow.
inline bool parse_finite(std::string_view text, double& value, int64_t line) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    if (decimal_magnitude({begin, end}) > 0) throw InputError("the number " + quoted(text) + " is too large", line);
    value = 0;
    return true;
  }
  if (!std::isfinite(value)) throw InputError("the value " + quoted(text) + " is not finite; fix or remove it", line);
  return true;
}

// A feature value, stored as float32.
inline float to_feature_value(double value, int64_t line) {
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    throw InputError("a feature value of " + std::to_string(value) + " is too large for 32 bits", line);
  return static_cast<float>(value);
}

}  // namespace dragoman
