#include "bind/arrays.hh"
#include "bind/modules.hh"
#include "core/base/checksum.hh"

namespace dragoman::bind {

void bind_store(nb::module_& m) {
  m.def(
      "checksum",
      [](In<uint8_t> data) {
        const nb::gil_scoped_release released;
        Checksum sum;
        sum.add({reinterpret_cast<const char*>(data.data()), data.size()});
        return sum.value();
      },
      nb::arg("data").noconvert(), "64 bits that tell whether bytes have changed.");
}

}  // namespace dragoman::bind
