// Word links as NumPy has them.
#pragma once

#include <stdexcept>

#include "bind/arrays.hh"
#include "core/align/links.hh"

namespace dragoman::bind {

static_assert(sizeof(align::Link) == 2 * sizeof(int32_t));

inline align::Links links_in(const In<int64_t>& offsets, const In2<int32_t>& links, const char* name) {
  if (links.shape(1) != 2) throw std::invalid_argument(std::string(name) + ": links must have two columns");
  align::Links result{span_of(offsets), {reinterpret_cast<const align::Link*>(links.data()), links.shape(0)}};
  result.check(name);
  return result;
}

}  // namespace dragoman::bind
