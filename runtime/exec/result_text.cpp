// Values of sealed chunks as text, and the two layouts.
#include "runtime/exec/result_text.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/base/byte_types.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/text_numbers.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ostream>

namespace headrace::exec {
namespace {

__int128 integerAt(const void *data, HrType type, uint32_t row) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  uint32_t width = abi::bytesOf(type);
  __int128 value = 0;
  std::memcpy(&value, bytes + size_t(row) * width, width);
  int unused = 128 - static_cast<int>(width) * 8;
  return static_cast<__int128>(static_cast<unsigned __int128>(value) << unused) >> unused;
}

/// Of an integer, decimal, date, time or timestamp.
std::string exactText(__int128 value, const LogicalType &type) {
  char text[std::max<size_t>(HR_TEXT_PRINTED, kMomentTextBytes)];
  switch (type.kind) {
  case LogicalKind::kDate:
    return {text, printDate(static_cast<int64_t>(value), text)};
  case LogicalKind::kTime:
    return {text, printTime(static_cast<int64_t>(value), type.unit, text)};
  case LogicalKind::kTimestamp:
    return {text, printTimestamp(static_cast<int64_t>(value), type.unit, type.zoned, text)};
  default:
    return std::string(printExact(value, type, text));
  }
}

template <typename T> std::string realText(const void *data, uint32_t row) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t *>(data) + size_t(row) * sizeof value,
              sizeof value);
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string quoted(const std::string &text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string out = "\"";
  for (char letter : text) {
    out += letter == '"' ? "\"\"" : std::string(1, letter);
  }
  return out + '"';
}

/// Code points, which is near enough to columns of a terminal.
size_t widthOfText(const std::string &text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace

std::optional<std::string> cellText(const Chunk &chunk, const plan::Column &column, size_t index,
                                    uint32_t row) {
  const HrSegment &segment = chunk.segments[index];
  if (segment.validity && !(segment.validity[row / 8] >> (row % 8) & 1)) {
    return std::nullopt;
  }
  switch (column.type) {
  case HR_BOOL:
    return static_cast<const uint8_t *>(segment.data)[row / 8] >> (row % 8) & 1 ? "true" : "false";
  case HR_STRING: {
    const auto *offsets = static_cast<const uint32_t *>(segment.data);
    std::string text(reinterpret_cast<const char *>(segment.heap) + offsets[row],
                     offsets[row + 1] - offsets[row]);
    const ByteType *bytes = byteTypeOf(column.logical.kind);
    return column.logical.isNested() ? nestedText(text, shapeOf(column.logical))
           : bytes                   ? bytes->text(text)
                                     : text;
  }
  case HR_F32:
    return realText<float>(segment.data, row);
  case HR_F64:
    return realText<double>(segment.data, row);
  default:
    break;
  }
  __int128 value = integerAt(segment.data, column.type, row);
  return exactText(value, column.logical);
}

Status writeCsv(const ResultRows &table, std::ostream &out) {
  const std::vector<plan::Column> &columns = table.schema().columns;
  for (size_t c = 0; c < columns.size(); ++c) {
    out << (c ? "," : "") << quoted(columns[c].name);
  }
  out << '\n';
  for (size_t index = 0; index < table.chunkCount(); ++index) {
    HR_ASSIGN_OR_RETURN(ChunkHandle chunk, table.chunk(index));
    for (uint32_t row = 0; row < chunk->rows; ++row) {
      for (size_t c = 0; c < columns.size(); ++c) {
        std::optional<std::string> text = cellText(*chunk, columns[c], c, row);
        out << (c ? "," : "") << (text ? quoted(*text) : std::string());
      }
      out << '\n';
    }
  }
  return {};
}

Status writeAligned(const ResultRows &table, uint64_t rowsMax, std::ostream &out) {
  const std::vector<plan::Column> &columns = table.schema().columns;
  std::vector<std::vector<std::string>> lines(1);
  std::vector<size_t> widths;
  for (const plan::Column &column : columns) {
    lines[0].push_back(column.name);
    widths.push_back(widthOfText(column.name));
  }
  uint64_t shown = 0;
  for (size_t index = 0; index < table.chunkCount() && shown < rowsMax; ++index) {
    HR_ASSIGN_OR_RETURN(ChunkHandle chunk, table.chunk(index));
    for (uint32_t row = 0; row < chunk->rows && shown < rowsMax; ++row, ++shown) {
      std::vector<std::string> &line = lines.emplace_back();
      for (size_t c = 0; c < columns.size(); ++c) {
        line.push_back(cellText(*chunk, columns[c], c, row).value_or("NULL"));
        widths[c] = std::max(widths[c], widthOfText(line.back()));
      }
    }
  }
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string text;
    for (size_t c = 0; c < columns.size(); ++c) {
      const std::string &cell = lines[l][c];
      text += (c ? "  " : "") + cell + std::string(widths[c] - widthOfText(cell), ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
    for (size_t c = 0; l == 0 && c < columns.size(); ++c) {
      out << (c ? "  " : "") << std::string(widths[c], '-')
          << (c + 1 == columns.size() ? "\n" : "");
    }
  }
  if (table.rowCount() > shown) {
    uint64_t more = table.rowCount() - shown;
    out << "... " << more << (more == 1 ? " more row\n" : " more rows\n");
  }
  return {};
}

} // namespace headrace::exec
