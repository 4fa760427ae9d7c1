// libFuzzer: any document through the Substrait import, which must refuse it or give a module that
// verifies. Documents are mutated as trees (members dropped, swapped, doubled, numbers changed), so
// that they stay JSON and errors lie deep: `substrait_fuzzer -max_total_time=60
// test/data/tpch/substrait`.
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/ImportSubstrait.h"

#include <nlohmann/json.hpp>

#include <random>
#include <vector>

using nlohmann::json;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::string error;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      headrace::import::importSubstrait(&context, text, {}, error);
  bool says = !error.empty();
  if (static_cast<bool>(module) == says || (module && failed(mlir::verify(*module)))) {
    abort(); // refused without a reason, or accepted with one, or not valid
  }
  return 0;
}

/// Every value of a document, parents first.
static void collect(json &value, std::vector<json *> &values) {
  values.push_back(&value);
  if (value.is_structured()) {
    for (json &child : value) {
      collect(child, values);
    }
  }
}

static void mutateOnce(json &document, std::minstd_rand &random) {
  std::vector<json *> values;
  collect(document, values);
  json &target = *values[random() % values.size()];
  switch (random() % 6) {
  case 0: // another part of the document
    target = json(*values[random() % values.size()]);
    break;
  case 1: // another kind of value
    target =
        json::array({nullptr, true, -1, "x", json::object(), json::array(), 1e300})[random() % 7];
    break;
  case 2: // another number
    target = static_cast<int64_t>(random() % 64) - 8;
    break;
  case 3: // one member or element less
    if (target.is_structured() && !target.empty()) {
      target.erase(std::next(target.begin(), random() % target.size()));
    }
    break;
  case 4: // one element twice
    if (target.is_array() && !target.empty()) {
      target.push_back(json(target[random() % target.size()]));
    }
    break;
  case 5: // two members change places
    if (target.is_object() && target.size() > 1) {
      auto first = std::next(target.begin(), random() % target.size());
      auto second = std::next(target.begin(), random() % target.size());
      std::swap(*first, *second);
    }
    break;
  }
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t sizeMax);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t sizeMax,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  json document = json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || random() % 50 == 0) {
    return LLVMFuzzerMutate(data, size, sizeMax);
  }
  for (unsigned count = 1 + random() % 4; count > 0; --count) {
    mutateOnce(document, random);
  }
  std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > sizeMax) {
    return LLVMFuzzerMutate(data, size, sizeMax);
  }
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
