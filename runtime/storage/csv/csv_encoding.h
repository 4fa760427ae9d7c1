// What the bytes of a CSV file are that is not UTF-8, and the way to that.
#pragma once

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headrace::storage {

struct CsvEncoding {
  enum class Form {
    kBytes,             ///< each byte is a character
    kUtf16LittleEndian, ///< units of two bytes, the lower first
    kUtf16BigEndian,
  };
  Form form = Form::kBytes;
  /// Of kBytes, by byte: its character as UTF-8; empty: it is none.
  std::vector<std::string> characters = {};

  /// Of "utf16": "le" or "be", or of "characters".
  static CsvEncoding of(const nlohmann::json &described);
};

/// Bytes that come piece by piece as UTF-8.
class CsvDecoder {
public:
  CsvDecoder(const CsvEncoding &encoding, const std::string &path)
      : encoding_(encoding), path_(path) {}

  /// As far as characters are whole. kData: what is none, with its place.
  Expected<std::string> decode(std::string_view bytes);
  /// kData: the file ends within a character.
  Status finish() const;

private:
  Expected<std::string> decodeUnits(std::string_view bytes);
  Status wrong(uint64_t offset) const;

  const CsvEncoding &encoding_;
  const std::string &path_;
  uint64_t taken_ = 0; ///< bytes before this piece
  std::string rest_;   ///< a part of a character
};

} // namespace headrace::storage
