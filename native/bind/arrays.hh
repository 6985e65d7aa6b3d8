// NumPy arrays in and out. In: contiguous, declared dtype and rank, never converted silently (say .noconvert() on
// the argument). Out: owned by a capsule.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/ragged.hh"

namespace dragoman::bind {

namespace nb = nanobind;

template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T>;

template <typename T>
std::span<const T> span_of(const In<T>& array) {
  return {array.data(), array.size()};
}

// A copy of an array that Python code may change meanwhile.
template <typename T>
std::vector<T> copy_of(const In<T>& array) {
  return {array.data(), array.data() + array.size()};
}

template <typename T>
Ragged<T> ragged_of(const In<int64_t>& offsets, const In<T>& values, const char* name) {
  Ragged<T> result{span_of(offsets), span_of(values)};
  result.check(name);
  return result;
}

// Hands a vector over to NumPy without a copy.
template <typename T>
Out<T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
  auto* owner = new std::vector<T>(std::move(values));
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T>(owner->data(), shape, capsule);
}

template <typename T>
Out<T> to_numpy(std::vector<T>&& values) {
  const size_t n = values.size();
  return to_numpy(std::move(values), {n});
}

}  // namespace dragoman::bind
