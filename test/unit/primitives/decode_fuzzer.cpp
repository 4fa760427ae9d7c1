// libFuzzer: any bytes as a hybrid stream, decoded in steps by every instruction set, which must
// agree.
#include "test/unit/primitives/testing.h"

using namespace headrace::primitives;
using namespace headrace::primitives::testing;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) {
    return 0;
  }
  uint32_t width = data[0] % 34;
  uint32_t entries = 1 + data[1] * 5u;
  uint32_t step = 1 + data[2] * 4u;
  uint32_t rows = data[3] * 16u;
  PaddedBytes stream(data + 4, size - 4);
  std::vector<uint32_t> dictionary(entries);
  for (uint32_t i = 0; i < entries; ++i) {
    dictionary[i] = i * 2654435761u;
  }
  HrSegment segment{};
  segment.rows = rows;
  segment.encoding = HR_CODES;
  segment.bitWidth = static_cast<uint8_t>(width);
  segment.data = stream.data();
  segment.bytes = stream.size();
  HrColumn column{&segment, 1, entries, dictionary.data()};
  std::vector<uint32_t> reference;
  for (Isa isa : supportedIsas()) {
    HrImports table = primitivesOf(isa);
    HrCursor cursor;
    table.hr_cursor_open_(&cursor, &column);
    std::vector<uint32_t> out;
    while (uint32_t run = table.hr_cursor_run_(&cursor)) {
      uint32_t take = run < step ? run : step;
      std::vector<uint32_t> part(take);
      if (table.hr_decode_32_(&cursor, take, part.data()) != HR_OK) {
        out.push_back(UINT32_MAX);
        break;
      }
      out.insert(out.end(), part.begin(), part.end());
    }
    if (isa == Isa::kBaseline) {
      reference = out;
    } else if (out != reference) {
      std::abort();
    }
  }
  return 0;
}
