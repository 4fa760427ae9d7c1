// Mutations of JSON documents as trees, for the fuzzers of the JSON readers: members dropped,
// swapped, doubled, numbers changed. A mutated document stays JSON, so that its errors lie deep.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

/// libFuzzer's own mutation of bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t sizeMax);

namespace headrace::fuzz {

/// Every value of a document, parents first.
inline void collectValues(nlohmann::json &value, std::vector<nlohmann::json *> &values) {
  values.push_back(&value);
  if (value.is_structured()) {
    for (nlohmann::json &child : value) {
      collectValues(child, values);
    }
  }
}

inline void mutateOnce(nlohmann::json &document, std::minstd_rand &random) {
  using nlohmann::json;
  static const int64_t kNumbers[] = {0, 1, -1, 255, 65536, 2147483647, 4294967296, INT64_MIN};
  std::vector<json *> values;
  collectValues(document, values);
  json &target = *values[random() % values.size()];
  switch (random() % 7) {
  case 0: // another part of the document
    target = json(*values[random() % values.size()]);
    break;
  case 1: // another kind of value
    target =
        json::array({nullptr, true, -1, "x", json::object(), json::array(), 1e300})[random() % 7];
    break;
  case 2: // another small number
    target = static_cast<int64_t>(random() % 64) - 8;
    break;
  case 3: // a number at an edge
    target = kNumbers[random() % std::size(kNumbers)];
    break;
  case 4: // one member or element less
    if (target.is_structured() && !target.empty()) {
      target.erase(std::next(target.begin(), static_cast<long>(random() % target.size())));
    }
    break;
  case 5: // one element twice
    if (target.is_array() && !target.empty()) {
      target.push_back(json(target[random() % target.size()]));
    }
    break;
  case 6: // two members change places
    if (target.is_object() && target.size() > 1) {
      auto first = std::next(target.begin(), static_cast<long>(random() % target.size()));
      auto second = std::next(target.begin(), static_cast<long>(random() % target.size()));
      std::swap(*first, *second);
    }
    break;
  }
}

/// What LLVMFuzzerCustomMutator returns. Text that is no JSON, and one document in fifty, is
/// mutated as bytes; `start` takes the place of text that is no object, unless it is empty.
inline size_t mutateDocument(uint8_t *data, size_t size, size_t sizeMax, unsigned seed,
                             const std::string &start = {}) {
  using nlohmann::json;
  std::minstd_rand random(seed);
  json document = json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() && !start.empty()) {
    document = json::parse(start);
  }
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

} // namespace headrace::fuzz
