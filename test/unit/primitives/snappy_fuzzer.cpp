// libFuzzer: any bytes through the Snappy decoder of every instruction set, two copies interleaved.
#include "runtime/primitives/snappy/snappy.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace headrace::primitives;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t declared = 0;
  for (size_t i = 0; i < size && i < 5; ++i) {
    declared |= static_cast<uint64_t>(data[i] & 127) << (7 * i);
    if (!(data[i] & 128)) {
      break;
    }
  }
  if (declared > 1 << 20) {
    return 0;
  }
  std::vector<uint8_t> first(declared), second(declared), reference;
  bool referenceOk = false;
  for (Isa isa : {Isa::kBaseline, Isa::kV3, Isa::kV4}) {
    if (isa > detectIsa()) {
      break;
    }
    SnappyBlock blocks[2] = {{data, size, first.data(), declared},
                             {data, size, second.data(), declared}};
    bool ok = snappyDecompress(isa, blocks);
    if (isa == Isa::kBaseline) {
      referenceOk = ok;
      reference = first;
    }
    if (ok != referenceOk || (ok && (first != second || first != reference))) {
      std::abort();
    }
  }
  snappySingleLiteral(data, size, declared);
  return 0;
}
