// Decoding of encoded columns by the primitives, a tile at a time.
#include "runtime/exec/gpu/morsel_columns.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/exec/gpu/device_bytes.h"
#include "runtime/exec/kernel/imports.h"
#include "runtime/primitives/decode/decode_values.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace headrace::exec {

namespace {

constexpr int64_t kAlign = 64;

Status corrupt() {
  // no test: the loader has looked at the runs and codes of a page before
  return makeError(ErrorKind::kCorrupt, "encoded data does not decode");
}

/// `decode(cursor, first, rows)` of each run of rows that lie in one segment, at most a tile; it
/// moves the cursor on and answers an HrErrorCode.
template <typename Decode>
Status eachTile(const HrColumn &column, uint32_t rows, const Decode &decode) {
  HR_ASSIGN_OR_RETURN(const HrImports *imports, kernelImports());
  HrCursor cursor;
  imports->hr_cursor_open_(&cursor, &column);
  for (uint32_t done = 0; done < rows;) {
    const uint32_t some =
        std::min({imports->hr_cursor_run_(&cursor), rows - done, uint32_t{HR_TILE_ROWS}});
    if (some == 0 || decode(*imports, &cursor, done, some) != HR_OK) {
      return corrupt();
    }
    done += some;
  }
  return {};
}

void copyText(std::byte *target, const HrString &text) {
  if (text.length > 0) {
    std::memcpy(target, text.data, text.length);
  }
}

/// Values under NULL are 0, which no code need be.
bool isCoded(const HrColumn &column, HrType type, uint32_t rows) {
  const std::span segments(column.segments, column.segmentCount);
  return column.dictionaryCount > 0 && column.dictionaryCount <= rows &&
         std::ranges::all_of(segments, [&](const HrSegment &segment) {
           return segment.encoding == HR_CODES &&
                  (type == HR_STRING || segment.validity == nullptr);
         });
}

std::span<const HrString> entriesOf(const HrColumn &column) {
  return {static_cast<const HrString *>(column.dictionary), column.dictionaryCount};
}

int64_t textBytes(std::span<const HrString> texts) {
  return std::accumulate(texts.begin(), texts.end(), int64_t{0},
                         [](int64_t sum, const HrString &text) { return sum + text.length; });
}

} // namespace

int64_t MorselColumns::take(int64_t bytes) {
  const int64_t at = bytes_;
  bytes_ = (bytes_ + bytes + HR_PADDING + kAlign - 1) / kAlign * kAlign;
  return at;
}

Expected<bool> MorselColumns::measureCodes(Column &column) {
  const HrColumn &source = *column.source;
  if (!isCoded(source, column.type, morsel_.rows)) {
    return false;
  }
  uint32_t skip = source.skip;
  uint64_t left = morsel_.rows, runs = 0;
  std::vector<Page> pages;
  for (uint32_t index = 0; index < source.segmentCount && left > 0; ++index) {
    const HrSegment &segment = source.segments[index];
    const auto rows = static_cast<uint32_t>(std::min<uint64_t>(segment.rows - skip, left));
    if (rows > 0) {
      const std::span stream(static_cast<const uint8_t *>(segment.data), segment.bytes);
      Page page;
      HR_ASSIGN_OR_RETURN(page.codes, decode::splitCodeRuns(stream, segment.bitWidth, skip, rows));
      page.stream = page.codes.needed(stream);
      page.rows = rows;
      page.bitWidth = segment.bitWidth;
      runs += page.codes.runs.size();
      pages.push_back(std::move(page));
    }
    left -= rows;
    skip = 0;
  }
  const int64_t width = column.type == HR_STRING ? 4 : int64_t{abi::bytesOf(column.type)};
  if (left > 0 || static_cast<int64_t>(runs * sizeof(decode::CodeRun)) > width * morsel_.rows) {
    return false; // its runs are longer than its values
  }
  column.form = Form::kCodes;
  column.pages = std::move(pages);
  for (Page &page : column.pages) {
    page.runsAt = take(static_cast<int64_t>(page.codes.runs.size() * sizeof(decode::CodeRun)));
    page.streamAt = take(static_cast<int64_t>(page.stream.size()));
    groups_ += (page.rows + decode::kDecodedRows - 1) / decode::kDecodedRows;
  }
  column.data = codesBytes_;
  codesBytes_ += (int64_t{4} * morsel_.rows + HR_PADDING + kAlign - 1) / kAlign * kAlign;
  if (column.type == HR_STRING) {
    column.dictionary = take(static_cast<int64_t>(sizeof(HrString)) * source.dictionaryCount);
    column.heap = take(textBytes(entriesOf(source)));
  } else {
    column.dictionary = take(width * source.dictionaryCount);
  }
  return true;
}

void MorselColumns::measureDecoding() {
  if (groups_ == 0) {
    return;
  }
  size_t pages = 0;
  for (const Column &column : columns_) {
    pages += column.pages.size();
  }
  decodeAt_ = take(sizeof(HrArgs) + sizeof(decode::DecodePagesParameters));
  pagesAt_ = take(static_cast<int64_t>(pages * sizeof(decode::DecodeCodesParameters)));
  groupsAt_ = take(static_cast<int64_t>(pages * sizeof(uint64_t)));
}

Status MorselColumns::measureTexts(Column &column, BumpArena &scratch) {
  const uint32_t rows = morsel_.rows;
  column.form = Form::kTexts;
  HR_ASSIGN_OR_RETURN(uint8_t *memory, scratch.allocate(sizeof(HrString) * rows, kAlign));
  column.texts = reinterpret_cast<HrString *>(memory);
  HR_RETURN_IF_ERROR(
      eachTile(*column.source, rows,
               [&](const HrImports &imports, HrCursor *cursor, uint32_t first, uint32_t some) {
                 return imports.hr_decode_128_(cursor, some, column.texts + first);
               }));
  const int64_t bytes = textBytes({column.texts, rows});
  if (bytes > UINT32_MAX) {
    return makeError(ErrorKind::kUnsupported, // no test: a morsel has fewer bytes
                     "strings of a morsel are too long for a GPU: ", bytes, " bytes");
  }
  column.data = take(int64_t{4} * (rows + 1));
  column.heap = take(bytes);
  return {};
}

Expected<MorselColumns> MorselColumns::measure(const HrMorsel &morsel,
                                               std::span<const plan::Column> columns,
                                               const std::vector<bool> &isKept,
                                               BumpArena &scratch) {
  MorselColumns made;
  made.morsel_ = morsel;
  made.take(static_cast<int64_t>(sizeof(HrSegment) *
                                 static_cast<size_t>(std::ranges::count(isKept, false))));
  for (uint32_t index = 0; index < morsel.columnCount; ++index) {
    if (isKept[index]) {
      continue;
    }
    Column column;
    column.index = index;
    column.type = columns[index].type;
    column.source = &morsel.columns[index];
    HR_ASSIGN_OR_RETURN(bool coded, made.measureCodes(column));
    if (column.type == HR_STRING && !coded) {
      HR_RETURN_IF_ERROR(made.measureTexts(column, scratch));
    } else if (!coded) {
      column.data = made.take(int64_t{abi::bytesOf(column.type)} * morsel.rows);
    }
    if (columns[index].nullable) {
      column.validity = made.take((morsel.rows + 7) / 8);
    }
    made.columns_.push_back(std::move(column));
  }
  made.measureDecoding();
  return made;
}

void MorselColumns::writeCodes(const Column &column, std::byte *host) const {
  for (const Page &page : column.pages) {
    const std::vector<decode::CodeRun> &runs = page.codes.runs;
    std::memcpy(host + page.runsAt, runs.data(), runs.size() * sizeof runs[0]);
    if (!page.stream.empty()) {
      std::memcpy(host + page.streamAt, page.stream.data(), page.stream.size());
    }
  }
}

void MorselColumns::writeDecoding(std::byte *host, uint64_t device) const {
  if (groups_ == 0) {
    return;
  }
  auto there = [&](int64_t offset) { return device + static_cast<uint64_t>(offset); };
  std::byte *pageAt = host + pagesAt_, *groupsAt = host + groupsAt_;
  uint64_t count = 0, groups = 0;
  for (const Column &column : columns_) {
    uint64_t codes = there(bytes_ + column.data);
    for (const Page &page : column.pages) {
      putBytes(pageAt,
               decode::DecodeCodesParameters{
                   devicePointer<const decode::CodeRun>(there(page.runsAt)), page.codes.runs.size(),
                   devicePointer<const uint32_t>(there(page.streamAt)),
                   devicePointer<uint32_t>(codes), page.rows, page.bitWidth, 0});
      putBytes(groupsAt, groups);
      pageAt += sizeof(decode::DecodeCodesParameters);
      groupsAt += sizeof groups;
      codes += uint64_t{4} * page.rows;
      groups += (page.rows + decode::kDecodedRows - 1) / decode::kDecodedRows;
      ++count;
    }
  }
  HrArgs args = {};
  args.literals = devicePointer<const void>(there(decodeAt_ + static_cast<int64_t>(sizeof args)));
  putBytes(host + decodeAt_, args);
  putBytes(host + decodeAt_ + sizeof args,
           decode::DecodePagesParameters{
               devicePointer<const decode::DecodeCodesParameters>(there(pagesAt_)),
               devicePointer<const uint64_t>(there(groupsAt_)), count});
}

void MorselColumns::writeDictionary(const Column &column, std::byte *host, uint64_t device) const {
  int64_t at = column.heap;
  std::byte *entry = host + column.dictionary;
  for (HrString text : entriesOf(*column.source)) {
    copyText(host + at, text);
    text.data = devicePointer<const uint8_t>(device + static_cast<uint64_t>(at));
    putBytes(entry, text);
    entry += sizeof text;
    at += text.length;
  }
}

void MorselColumns::writeTexts(const Column &column, std::byte *host) const {
  auto *offsets = reinterpret_cast<uint32_t *>(host + column.data);
  uint32_t used = 0;
  for (uint32_t row = 0; row < morsel_.rows; ++row) {
    const HrString &text = column.texts[row];
    offsets[row] = used;
    copyText(host + column.heap + used, text);
    used += text.length;
  }
  offsets[morsel_.rows] = used;
}

/// Bytes to bits.
Status MorselColumns::writeValidity(const Column &column, std::byte *host) const {
  auto *bits = reinterpret_cast<uint8_t *>(host + column.validity);
  std::memset(bits, 0, (morsel_.rows + 7) / 8);
  return eachTile(*column.source, morsel_.rows,
                  [&](const HrImports &imports, HrCursor *cursor, uint32_t first, uint32_t some) {
                    uint8_t valid[HR_TILE_ROWS];
                    const int32_t code = imports.hr_decode_validity_(cursor, some, valid);
                    for (uint32_t row = 0; row < some; ++row) {
                      bits[(first + row) / 8] |=
                          static_cast<uint8_t>((valid[row] != 0) << ((first + row) % 8));
                    }
                    return code != HR_OK ? code : imports.hr_cursor_skip_(cursor, some);
                  });
}

Status MorselColumns::writeColumn(const Column &column, std::byte *host, uint64_t device,
                                  HrColumn &made, HrSegment &segment) const {
  auto there = [&](int64_t offset) { return device + static_cast<uint64_t>(offset); };
  segment.rows = morsel_.rows;
  segment.data = devicePointer<const void>(there(column.data));
  switch (column.form) {
  case Form::kValues: {
    segment.encoding = HR_VALUES;
    const uint32_t width = abi::bytesOf(column.type);
    std::byte *values = host + column.data;
    HR_RETURN_IF_ERROR(eachTile(
        *column.source, morsel_.rows,
        [&](const HrImports &imports, HrCursor *cursor, uint32_t first, uint32_t some) {
          return decodeValues(imports, cursor, some, width, values + uint64_t{first} * width);
        }));
    break;
  }
  case Form::kCodes:
    segment.encoding = HR_INDICES;
    segment.data = devicePointer<const void>(there(bytes_ + column.data));
    made.dictionary = devicePointer<const void>(there(column.dictionary));
    made.dictionaryCount = column.source->dictionaryCount;
    writeCodes(column, host);
    if (column.type == HR_STRING) {
      writeDictionary(column, host, device);
    } else {
      std::memcpy(host + column.dictionary, column.source->dictionary,
                  size_t{abi::bytesOf(column.type)} * made.dictionaryCount);
    }
    break;
  case Form::kTexts:
    segment.encoding = HR_OFFSETS;
    segment.heap = devicePointer<const uint8_t>(there(column.heap));
    writeTexts(column, host);
    break;
  }
  if (column.validity != 0) {
    segment.validity = devicePointer<const uint8_t>(there(column.validity));
    return writeValidity(column, host);
  }
  return {};
}

Status MorselColumns::write(std::byte *host, uint64_t device, std::span<HrColumn> made) const {
  int64_t segmentAt = 0;
  for (const Column &column : columns_) {
    HrColumn &out = made[column.index];
    out = {};
    HrSegment segment = {};
    out.segments = devicePointer<const HrSegment>(device + static_cast<uint64_t>(segmentAt));
    out.segmentCount = 1;
    HR_RETURN_IF_ERROR(writeColumn(column, host, device, out, segment));
    putBytes(host + segmentAt, segment);
    segmentAt += static_cast<int64_t>(sizeof segment);
  }
  writeDecoding(host, device);
  return {};
}

} // namespace headrace::exec
