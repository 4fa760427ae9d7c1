// A table of 256 characters, or pairs of units.
#include "runtime/storage/csv/csv_encoding.h"

#include "runtime/base/utf8.h"

#include <cstdint>

namespace headrace::storage {
namespace {

constexpr uint32_t kHighFirst = 0xd800, kLowFirst = 0xdc00, kLowEnd = 0xe000;

void append(std::string &text, uint32_t character) {
  constexpr size_t kBytesMax = 4;
  char bytes[kBytesMax];
  text.append(bytes, utf8::encode(character, bytes));
}

} // namespace

CsvEncoding CsvEncoding::of(const nlohmann::json &described) {
  if (described.contains("utf16")) {
    const bool isBig = described.at("utf16").get<std::string>() == "be";
    return {isBig ? Form::kUtf16BigEndian : Form::kUtf16LittleEndian};
  }
  return {Form::kBytes, described.at("characters").get<std::vector<std::string>>()};
}

Status CsvDecoder::wrong(uint64_t offset) const {
  return makeError(ErrorKind::kData, path_, ": no character of the file's encoding stands at byte ",
                   offset);
}

Expected<std::string> CsvDecoder::decode(std::string_view bytes) {
  if (encoding_.form != CsvEncoding::Form::kBytes) {
    return decodeUnits(bytes);
  }
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::string &character = encoding_.characters[static_cast<uint8_t>(bytes[i])];
    if (character.empty()) {
      return wrong(taken_ + i);
    }
    text += character;
  }
  taken_ += bytes.size();
  return text;
}

Expected<std::string> CsvDecoder::decodeUnits(std::string_view bytes) {
  const bool isBig = encoding_.form == CsvEncoding::Form::kUtf16BigEndian;
  const uint64_t start = taken_ - rest_.size();
  const std::string all = rest_ + std::string(bytes);
  auto unitAt = [&](size_t at) {
    const uint32_t first = static_cast<uint8_t>(all[at]),
                   second = static_cast<uint8_t>(all[at + 1]);
    return isBig ? first << 8 | second : second << 8 | first;
  };
  std::string text;
  text.reserve(all.size());
  size_t at = 0;
  for (size_t width; at + 2 <= all.size(); at += width) {
    const uint32_t unit = unitAt(at);
    width = unit >= kHighFirst && unit < kLowFirst ? 4 : 2;
    if (at + width > all.size()) {
      break;
    }
    if (width == 2) {
      if (unit >= kLowFirst && unit < kLowEnd) {
        return wrong(start + at);
      }
      append(text, unit);
      continue;
    }
    const uint32_t low = unitAt(at + 2);
    if (low < kLowFirst || low >= kLowEnd) {
      return wrong(start + at);
    }
    append(text, 0x10000 + ((unit - kHighFirst) << 10 | (low - kLowFirst)));
  }
  rest_ = all.substr(at);
  taken_ += bytes.size();
  return text;
}

Status CsvDecoder::finish() const {
  return rest_.empty() ? Status() : wrong(taken_ - rest_.size());
}

} // namespace headrace::storage
