// Dictionaries and views are made here, from plain values.
#include "tools/headrace-gpu/place_columns.h"

#include "runtime/abi/device_kernel.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/device/decode/code_runs.h"
#include "tools/headrace-gpu/hybrid_stream.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace headrace::gpu {

const char *nameOf(Form form) {
  constexpr const char *kNames[] = {"plain", "codes", "views", "pages", "wide", "stored"};
  return kNames[static_cast<int>(form)];
}

Form formOf(const std::string &name) {
  for (Form form :
       {Form::kPlain, Form::kCodes, Form::kViews, Form::kPages, Form::kWide, Form::kStored}) {
    if (name == nameOf(form)) {
      return form;
    }
  }
  return Form::kPlain;
}

namespace {

std::string_view textOf(const CaseColumn &column, uint32_t row) {
  const auto *offsets = reinterpret_cast<const uint32_t *>(column.data.data());
  return {reinterpret_cast<const char *>(column.heap.data()) + offsets[row],
          offsets[row + 1] - offsets[row]};
}

/// HrString of texts whose bytes lie in the device, one after the other.
uint64_t putViews(DeviceArena &arena, const std::vector<std::string_view> &texts) {
  std::string heap;
  std::vector<HrString> views;
  for (std::string_view text : texts) {
    HrString view = {static_cast<uint32_t>(text.size()), {}, nullptr};
    std::memcpy(view.prefix, text.data(), std::min<size_t>(4, text.size()));
    view.data = reinterpret_cast<const uint8_t *>(heap.size());
    views.push_back(view);
    heap += text;
  }
  uint64_t base = arena.put(std::as_bytes(std::span(heap)));
  for (HrString &view : views) {
    view.data = reinterpret_cast<const uint8_t *>(reinterpret_cast<uint64_t>(view.data) + base);
  }
  return arena.put(views);
}

bool isValid(const CaseColumn &column, uint32_t row) {
  return column.validity.empty() ||
         (static_cast<uint8_t>(column.validity[row >> 3]) >> (row & 7) & 1) != 0;
}

struct Coded {
  std::vector<uint32_t> codes;
  std::vector<std::string_view> values;
};

/// The codes of all rows, or of those that are not NULL.
Coded code(const CaseColumn &column, uint32_t rows, bool ofValid) {
  Coded out;
  std::unordered_map<std::string_view, uint32_t> numbers;
  uint32_t width = column.type == HR_STRING ? 0 : abi::bytesOf(column.type);
  for (uint32_t row = 0; row < rows; ++row) {
    if (ofValid && !isValid(column, row)) {
      continue;
    }
    std::string_view value =
        column.type == HR_STRING
            ? textOf(column, row)
            : std::string_view(
                  reinterpret_cast<const char *>(column.data.data()) + size_t(row) * width, width);
    auto [found, isNew] = numbers.emplace(value, out.values.size());
    if (isNew) {
      out.values.push_back(value);
    }
    out.codes.push_back(found->second);
  }
  return out;
}

/// Writers of Parquet give up dictionaries that outgrow about a megabyte, which prices do.
constexpr size_t kStoredEntriesMost = 4096;

/// The codes that a column has in this form; nothing: it has values.
std::optional<Coded> codesOf(const CaseColumn &column, uint32_t rows, Form form) {
  if (form != Form::kCodes && form != Form::kPages && form != Form::kStored) {
    return std::nullopt;
  }
  Coded coded = code(column, rows, /*ofValid=*/form == Form::kPages);
  if (form == Form::kStored && column.type != HR_STRING &&
      coded.values.size() > kStoredEntriesMost) {
    return std::nullopt;
  }
  return coded;
}

template <typename T> T *pointer(uint64_t address) { return reinterpret_cast<T *>(address); }

/// Integers of a column as a page of 64-bit values has them: of the rows that are not NULL.
std::vector<int64_t> wideValues(const CaseColumn &column, uint32_t rows) {
  uint32_t width = abi::bytesOf(column.type);
  std::vector<int64_t> values;
  for (uint32_t row = 0; row < rows; ++row) {
    uint64_t bits = 0;
    std::memcpy(&bits, column.data.data() + size_t(row) * width, width);
    if (isValid(column, row)) {
      values.push_back(static_cast<int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width));
    }
  }
  return values;
}

bool isInteger(HrType type) {
  return type == HR_I8 || type == HR_I16 || type == HR_I32 || type == HR_I64;
}

} // namespace

// ---- pages ----

void ColumnPlacer::launch(const Kernel &kernel, uint64_t parameters, uint64_t rows) {
  HrArgs args = {};
  args.literals = pointer<const void>(parameters);
  uint64_t device = arena_.put(HrDevice{});
  uint64_t arguments[] = {arena_.put(args), device};
  if (!arena_.status().ok()) {
    return;
  }
  auto threads = static_cast<uint32_t>(std::min(256, kernel.threadsMax));
  Expected<Event> done = arena_.device().launch(
      KernelLaunch{kernel, static_cast<uint32_t>(1 + rows / 8192), threads, arguments});
  arena_.fail(done.ok() ? arena_.device().wait(*done) : done.status());
  if (HrError error = arena_.read<HrDevice>(device).error; error.code != HR_OK) {
    // no test: the values are those that the column has
    arena_.fail(makeError(ErrorKind::kData, "a page does not decode, error ", error.code,
                          " in row ", error.row));
  }
}

uint64_t ColumnPlacer::decodePage(const std::vector<uint32_t> &codes) {
  auto rows = static_cast<uint32_t>(codes.size());
  uint64_t target = arena_.allocate(rows * sizeof(uint32_t));
  if (rows == 0) {
    return target;
  }
  uint32_t width = bitWidthOf(codes);
  std::vector<uint8_t> stream = encodeHybrid(codes, width);
  Expected<decode::CodeRuns> found = decode::splitCodeRuns(stream, width, 0, rows);
  if (!found.ok()) {
    arena_.fail(found.status());
    return target;
  }
  decode::DecodeCodesParameters parameters = {
      pointer<const decode::CodeRun>(arena_.put(found->runs)),
      found->runs.size(),
      pointer<const uint32_t>(arena_.put(std::as_bytes(found->needed(stream)))),
      pointer<uint32_t>(target),
      rows,
      width,
      0};
  launch(kernels_.decodeCodes, arena_.put(parameters), rows);
  return target;
}

uint64_t ColumnPlacer::spread(const CaseColumn &column, uint32_t rows, uint64_t values,
                              uint32_t from, uint32_t to, const uint8_t **validity) {
  uint64_t words = (rows + 31) / 32, levels = 0;
  if (!column.validity.empty()) {
    std::vector<uint32_t> valid(rows); // definition levels
    for (uint32_t row = 0; row < rows; ++row) {
      valid[row] = isValid(column, row);
    }
    levels = decodePage(valid);
  }
  uint64_t bitmap = arena_.allocate(words * 4), target = arena_.allocate(uint64_t(rows) * to);
  decode::SpreadParameters parameters = {
      pointer<const uint32_t>(levels),
      pointer<uint32_t>(bitmap),
      pointer<uint32_t>(arena_.allocate(words * 4)),
      pointer<uint64_t>(arena_.allocate((words / decode::kSpreadChunk + 1) * 8)),
      pointer<const uint8_t>(values),
      pointer<uint8_t>(target),
      rows,
      from,
      to};
  uint64_t block = arena_.put(parameters);
  if (levels != 0) {
    launch(kernels_.packLevels, block, rows);
    launch(kernels_.countLevels, block, rows);
    launch(kernels_.sumChunks, block, 1);
    *validity = pointer<const uint8_t>(bitmap);
  }
  launch(kernels_.spreadValues, block, rows);
  return target;
}

// ---- columns ----

void ColumnPlacer::repeat(uint64_t address, uint64_t bytes) {
  uint64_t all = bytes * repeated_;
  for (uint64_t done = bytes; done < all && arena_.status().ok();) {
    uint64_t part = std::min(done, all - done); // twice as much each time
    Expected<Event> copied = arena_.device().copy(
        {Tier::kDevice, address}, {Tier::kDevice, address + done}, static_cast<int64_t>(part));
    arena_.fail(copied.ok() ? arena_.device().wait(*copied) : copied.status());
    done += part;
  }
}

uint64_t ColumnPlacer::putRepeated(Bytes bytes) {
  uint64_t address = arena_.allocate(bytes.size() * repeated_);
  arena_.write(address, bytes);
  repeat(address, bytes.size());
  return address;
}

HrColumn ColumnPlacer::placeColumn(const CaseColumn &column, uint32_t rows) {
  HrColumn out = {};
  HrSegment segment = {};
  segment.rows = static_cast<uint32_t>(rows * repeated_);
  bool isText = column.type == HR_STRING, isPage = form_ == Form::kPages;
  if (!column.validity.empty()) {
    segment.validity = pointer<const uint8_t>(arena_.put(column.validity));
  }
  if (std::optional<Coded> coded = codesOf(column, rows, form_)) {
    segment.encoding = HR_INDICES;
    segment.data = pointer<const void>(
        isPage ? spread(column, rows, decodePage(coded->codes), 4, 4, &segment.validity)
               : putRepeated(bytesOf(coded->codes)));
    out.dictionaryCount = static_cast<uint32_t>(coded->values.size());
    std::string values;
    for (std::string_view value : coded->values) {
      values += isText ? "" : value;
    }
    out.dictionary = pointer<const void>(isText ? putViews(arena_, coded->values)
                                                : arena_.put(std::as_bytes(std::span(values))));
  } else if (isText && form_ == Form::kViews) {
    std::vector<std::string_view> texts;
    for (uint32_t row = 0; row < rows; ++row) {
      texts.push_back(textOf(column, row));
    }
    segment.data = pointer<const void>(putViews(arena_, texts));
  } else if (isText) {
    segment.encoding = HR_OFFSETS;
    segment.data = pointer<const void>(arena_.put(column.data));
    segment.heap = pointer<const uint8_t>(arena_.put(column.heap));
  } else if (form_ == Form::kWide && isInteger(column.type)) {
    segment.data = pointer<const void>(spread(column, rows, arena_.put(wideValues(column, rows)), 8,
                                              abi::bytesOf(column.type), &segment.validity));
  } else {
    segment.data = pointer<const void>(putRepeated(column.data));
  }
  out.segments = pointer<const HrSegment>(arena_.put(segment));
  out.segmentCount = 1;
  return out;
}

Expected<uint64_t> ColumnPlacer::place(const CaseTable &table, const Json &columns) {
  std::vector<HrColumn> placed;
  for (const Json &wanted : columns) {
    const CaseColumn *column = table.find(wanted.at("file"));
    if (column == nullptr || column->type != wanted.at("type").get<int>()) {
      return makeError(ErrorKind::kCorrupt, "the case has no such column: ", wanted.dump());
    }
    placed.push_back(placeColumn(*column, table.rows));
  }
  placed.push_back({}); // so that there is something to point to
  uint64_t address = arena_.put(placed);
  HR_RETURN_IF_ERROR(arena_.status());
  return address;
}

uint64_t rowBytes(const CaseTable &table, const Json &columns, Form form) {
  uint64_t bytes = 0;
  for (const Json &wanted : columns) {
    auto type = static_cast<HrType>(wanted.at("type").get<int>());
    const CaseColumn *column = table.find(wanted.at("file"));
    bytes += column && codesOf(*column, table.rows, form) ? 4 : abi::bytesOf(type);
  }
  return bytes;
}

} // namespace headrace::gpu
