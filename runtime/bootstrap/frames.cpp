// Packing and unpacking.
#include "runtime/bootstrap/frames.h"

#include <cstring>

namespace headrace {

std::string packFrame(const std::string &text) {
  auto bytes = static_cast<uint32_t>(text.size());
  std::string frame(sizeof(bytes), '\0');
  std::memcpy(frame.data(), &bytes, sizeof(bytes));
  return frame + text;
}

std::optional<std::string_view> frameAt(std::string_view bytes) {
  uint32_t length = 0;
  if (bytes.size() < sizeof(length)) {
    return std::nullopt;
  }
  std::memcpy(&length, bytes.data(), sizeof(length));
  bytes.remove_prefix(sizeof(length));
  if (bytes.size() < length) {
    return std::nullopt;
  }
  return bytes.substr(0, length);
}

std::optional<std::string> takeFrame(std::string &incoming) {
  std::optional<std::string_view> found = frameAt(incoming);
  if (!found) {
    return std::nullopt;
  }
  std::string text(*found);
  incoming.erase(0, sizeof(uint32_t) + text.size());
  return text;
}

std::string packAnswer(const std::vector<std::string> &records) {
  std::string text(1, static_cast<char>(ErrorKind::kOk));
  for (const std::string &record : records) {
    text += packFrame(record);
  }
  return packFrame(text);
}

std::string packAnswer(const Status &failure) {
  return packFrame(static_cast<char>(failure.kind()) + failure.message());
}

Expected<std::vector<std::string>> unpackAnswer(std::string answer) {
  auto kind = static_cast<ErrorKind>(answer.empty() ? 0 : answer.front());
  answer.erase(0, 1);
  if (kind != ErrorKind::kOk) {
    return Status(kind, answer);
  }
  std::vector<std::string> records;
  std::string_view rest = answer;
  while (std::optional<std::string_view> record = frameAt(rest)) {
    records.emplace_back(*record);
    rest.remove_prefix(sizeof(uint32_t) + record->size());
  }
  return records;
}

} // namespace headrace
