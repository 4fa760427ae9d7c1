// libFuzzer: any bytes as plan.json, which must be refused with a reason, or written and read again
// to the same plan; the static checker and the printer take whatever was read.
#include "model/plan/check.h"
#include "model/plan/json.h"
#include "model/plan/text.h"
#include "test/fuzz/json_mutation.h"
#include "test/unit/model/plan/sample_plan.h"

#include <cstdlib>

using namespace headrace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<plan::Plan> read = plan::fromJson(text);
  if (!read) {
    if (read.status().message().empty()) {
      abort(); // refused without a reason
    }
    return 0;
  }
  Status checked = plan::check(*read);
  if (!checked.ok() && checked.message().empty()) {
    abort();
  }
  if (plan::toText(*read).empty()) {
    abort();
  }
  std::string written = plan::toJson(*read, plan::JsonLayout::kCompact);
  Expected<plan::Plan> again = plan::fromJson(written);
  if (!again || plan::toJson(*again, plan::JsonLayout::kCompact) != written) {
    abort(); // what we write we read, and write alike
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t sizeMax,
                                          unsigned seed) {
  static const std::string start = plan::toJson(plan::samplePlan(), plan::JsonLayout::kCompact);
  return fuzz::mutateDocument(data, size, sizeMax, seed, start);
}
