// Ids and offsets are signed, as NumPy has them; vectors are indexed without a sign.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragoman {

constexpr size_t at(int64_t i) { return static_cast<size_t>(i); }

}  // namespace dragoman
