// Numbers in text files: locale-free, finite, with a clear complaint.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "core/errors.hh"

namespace dragoman {

inline std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string result(1, '\'');
  result += text.substr(0, kShown);
  result += text.size() > kShown ? "...'" : "'";
  return result;
}

// Parses all of `text` as a finite double. A number too small for a double is 0. False if it is not a number at all;
// throws InputError for nan, infinities and numbers too large.
inline bool parse_finite(std::string_view text, double& value, int64_t line) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    const size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent == std::string_view::npos ? text.find('.') != std::string_view::npos
                                                         : text.substr(exponent + 1, 1) == "-";
    if (tiny) {
      value = 0;
      return true;
    }
    throw InputError("the number " + quoted(text) + " is too large", line);
  }
  if (!std::isfinite(value))
    throw InputError("the value " + quoted(text) + " is not finite; remove or repair what produced it", line);
  return true;
}

// A feature value, stored as float32.
inline float to_feature_value(double value, int64_t line) {
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    throw InputError("a feature value of " + std::to_string(value) + " is too large for 32 bits", line);
  return static_cast<float>(value);
}

}  // namespace dragoman
