// Conversion of sealed chunks to Arrow arrays, and the release callbacks.
#include "runtime/exec/arrow_export.h"

#include "runtime/exec/chunk/arrow_arrays.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace headrace::exec {
namespace {

/// Of a column that no user named, the physical type leaves.
LogicalKind kindOf(const plan::Column &column) {
  constexpr LogicalKind kKinds[] = {LogicalKind::kBool, LogicalKind::kI8,  LogicalKind::kI16,
                                    LogicalKind::kI32,  LogicalKind::kI64, LogicalKind::kDecimal,
                                    LogicalKind::kF32,  LogicalKind::kF64, LogicalKind::kString};
  return column.logical.kind == LogicalKind::kNone ? kKinds[column.type] : column.logical.kind;
}

/// How Arrow abbreviates it.
char letterOf(TimeUnit unit) { return "smun"[static_cast<int>(unit)]; }

Expected<ArrowType> arrowType(const LogicalType &logical, LogicalKind kind,
                              const std::string &name) {
  switch (kind) {
  case LogicalKind::kList: {
    const LogicalType &child = logical.children.front();
    HR_ASSIGN_OR_RETURN(ArrowType element, arrowType(child, child.kind, name));
    const uint32_t size = logical.size;
    ArrowType type{size == 0 ? "+l" : "+w:" + std::to_string(size), 0, {std::move(element)}};
    type.size = size;
    type.children.front().name = size == 0 ? "l" : ""; // as DuckDB calls them
    return type;
  }
  case LogicalKind::kStruct: {
    ArrowType type{"+s", 0, {}};
    for (size_t field = 0; field < logical.children.size(); ++field) {
      const LogicalType &child = logical.children[field];
      HR_ASSIGN_OR_RETURN(ArrowType part, arrowType(child, child.kind, name));
      part.name = logical.names[field];
      if (part.name.empty()) { // of row(…); as DuckDB calls them
        part.name = "element" + std::to_string(field + 1);
      }
      type.children.push_back(std::move(part));
    }
    return type;
  }
  case LogicalKind::kMap: {
    LogicalType entry{LogicalKind::kStruct};
    entry.children = logical.children;
    entry.names = {"key", "value"};
    HR_ASSIGN_OR_RETURN(ArrowType entries, arrowType(entry, entry.kind, name));
    entries.name = "entries";
    entries.nullable = entries.children.front().nullable = false;
    return ArrowType{"+m", 0, {std::move(entries)}};
  }
  case LogicalKind::kString:
    return ArrowType{"u", 0, {}};
  case LogicalKind::kBinary:
    return ArrowType{"z", 0, {}};
  case LogicalKind::kU128: {
    ArrowType type{kArrowHugeint, 16, {}};
    type.isUnsigned128 = true;
    return type;
  }
  case LogicalKind::kInterval:
    return ArrowType{kArrowInterval, 16, {}};
  case LogicalKind::kEnum: { // as DuckDB has it
    const size_t count = logical.names.size();
    ArrowType type = count <= UINT8_MAX    ? ArrowType{"C", 1, {}}
                     : count <= UINT16_MAX ? ArrowType{"S", 2, {}}
                                           : ArrowType{"I", 4, {}};
    type.values = logical.names;
    return type;
  }
  case LogicalKind::kUuid:
    return ArrowType{kArrowUuid, 16, {}};
  case LogicalKind::kBool:
    return ArrowType{"b", 0, {}};
  case LogicalKind::kF32:
    return ArrowType{"f", 4, {}};
  case LogicalKind::kF64:
    return ArrowType{"g", 8, {}};
  case LogicalKind::kI8:
    return ArrowType{"c", 1, {}};
  case LogicalKind::kI16:
    return ArrowType{"s", 2, {}};
  case LogicalKind::kI32:
    return ArrowType{"i", 4, {}};
  case LogicalKind::kI64:
    return ArrowType{"l", 8, {}};
  case LogicalKind::kU8:
    return ArrowType{"C", 1, {}};
  case LogicalKind::kU16:
    return ArrowType{"S", 2, {}};
  case LogicalKind::kU32:
    return ArrowType{"I", 4, {}};
  case LogicalKind::kU64:
    return ArrowType{"L", 8, {}};
  case LogicalKind::kI128:
    return ArrowType{kArrowHugeint, 16, {}};
  case LogicalKind::kDecimal: {
    int precision = logical.precision == 0 ? 38 : logical.precision;
    return ArrowType{
        "d:" + std::to_string(precision) + "," + std::to_string(logical.scale), 16, {}};
  }
  case LogicalKind::kDate:
    return ArrowType{"tdD", 4, {}};
  case LogicalKind::kTime:
    return ArrowType{std::string("tt") + letterOf(logical.unit), 8, {}};
  case LogicalKind::kTimestamp:
    return ArrowType{
        std::string("ts") + letterOf(logical.unit) + (logical.zoned ? ":UTC" : ":"), 8, {}};
  case LogicalKind::kDoubleDouble:
  case LogicalKind::kNone:
    break;
  }
  return makeError(ErrorKind::kUnsupported, "result column '", name,
                   "' has no Arrow type: ", logical.text());
}

__int128 readInteger(const uint8_t *at, uint32_t width) {
  switch (width) {
  case 1:
    return *reinterpret_cast<const int8_t *>(at);
  case 2:
    return *reinterpret_cast<const int16_t *>(at);
  case 4:
    return *reinterpret_cast<const int32_t *>(at);
  case 8:
    return *reinterpret_cast<const int64_t *>(at);
  default: {
    __int128 value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  }
}

/// The same integers in another width; a value always fits its logical type.
std::vector<uint8_t> convertIntegers(const uint8_t *from, uint32_t fromWidth, uint32_t toWidth,
                                     uint32_t rows) {
  std::vector<uint8_t> out(size_t(rows) * toWidth);
  for (uint32_t i = 0; i < rows; ++i) {
    __int128 value = readInteger(from + size_t(i) * fromWidth, fromWidth);
    std::memcpy(out.data() + size_t(i) * toWidth, &value, toWidth);
  }
  return out;
}

// ---- schemas ----

struct SchemaHolder {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema *> pointers;
  ArrowSchema dictionary = {}; ///< of an enum
};

void releaseSchema(ArrowSchema *schema) {
  auto *holder = static_cast<SchemaHolder *>(schema->private_data);
  for (ArrowSchema &child : holder->children) {
    if (child.release) {
      child.release(&child);
    }
  }
  if (holder->dictionary.release) {
    holder->dictionary.release(&holder->dictionary);
  }
  delete holder;
  schema->release = nullptr;
}

/// What says that a column has an extension's type, as Arrow's C data interface encodes it: how
/// many pairs there are, and each key and value behind its length.
std::string extensionNamed(const std::string &name) {
  std::string metadata;
  auto addCount = [&](size_t count) {
    const auto number = static_cast<int32_t>(count);
    metadata.append(reinterpret_cast<const char *>(&number), sizeof number);
  };
  auto add = [&](const std::string &text) {
    addCount(text.size());
    metadata += text;
  };
  addCount(2);
  add("ARROW:extension:name");
  add(name);
  add("ARROW:extension:metadata");
  add("");
  return metadata;
}

void fillSchema(ArrowSchema &schema, SchemaHolder *holder, int64_t flags) {
  for (ArrowSchema &child : holder->children) {
    holder->pointers.push_back(&child);
  }
  schema = ArrowSchema{};
  schema.format = holder->format.c_str();
  schema.name = holder->name.c_str();
  schema.metadata = holder->metadata.empty() ? nullptr : holder->metadata.data();
  schema.flags = flags;
  schema.n_children = static_cast<int64_t>(holder->children.size());
  schema.children = holder->pointers.data();
  schema.dictionary = holder->dictionary.release ? &holder->dictionary : nullptr;
  schema.release = releaseSchema;
  schema.private_data = holder;
}

void describe(const ArrowType &type, const std::string &name, bool nullable, ArrowSchema &out) {
  auto *holder = new SchemaHolder{type.format, name, {}, {}, {}};
  if (!type.values.empty()) {
    describe(ArrowType{"u", 0, {}}, "", false, holder->dictionary);
  }
  if (type.format == kArrowUuid) {
    holder->metadata = extensionNamed("arrow.uuid");
  }
  holder->children.resize(type.children.size());
  for (size_t c = 0; c < type.children.size(); ++c) {
    describe(type.children[c], type.children[c].name, type.children[c].nullable,
             holder->children[c]);
  }
  fillSchema(out, holder, nullable ? ARROW_FLAG_NULLABLE : 0);
}

// ---- arrays ----

Status exportColumn(const ChunkHandle &chunk, size_t column, HrType physical, const ArrowType &type,
                    ArrowArray &out) {
  const HrSegment &segment = chunk->segments[column];
  const bool isPacked = type.format == kArrowInterval || type.format == kArrowUuid ||
                        type.isUnsigned128 || !type.values.empty();
  if (!type.children.empty() || isPacked) {
    return exportNested(segment, chunk->rows, type, out);
  }
  auto *holder = new ArrayHolder{};
  holder->chunk = chunk;
  holder->buffers[0] = segment.validity;
  holder->buffers[1] = segment.data;
  uint32_t width = abi::bytesOf(physical);
  if (type.width != 0 && width != type.width) {
    holder->converted =
        convertIntegers(static_cast<const uint8_t *>(segment.data), width, type.width, chunk->rows);
    holder->buffers[1] = holder->converted.data();
  }
  holder->buffers[2] = segment.heap;
  fillArray(out, holder, chunk->rows, physical == HR_STRING ? 3 : 2);
  return {};
}

// ---- the stream ----

struct StreamHolder {
  std::shared_ptr<const ResultRows> table;
  std::vector<ArrowType> types;
  size_t next = 0;
  size_t end = 0; ///< behind the last chunk
  std::string error;
};

int getSchema(ArrowArrayStream *stream, ArrowSchema *out) {
  auto *self = static_cast<StreamHolder *>(stream->private_data);
  const std::vector<plan::Column> &columns = self->table->schema().columns;
  auto *root = new SchemaHolder{"+s", "", {}, {}, {}};
  root->children.resize(columns.size());
  for (size_t c = 0; c < columns.size(); ++c) {
    describe(self->types[c], columns[c].name, columns[c].nullable, root->children[c]);
  }
  fillSchema(*out, root, 0);
  return 0;
}

int getNext(ArrowArrayStream *stream, ArrowArray *out) {
  auto *self = static_cast<StreamHolder *>(stream->private_data);
  *out = ArrowArray{};
  if (self->next >= self->end) {
    return 0;
  }
  Expected<ChunkHandle> read = self->table->chunk(self->next);
  if (!read.ok()) {
    self->error = read.status().message();
    return EIO;
  }
  ++self->next;
  const ChunkHandle &chunk = *read;
  auto *root = new ArrayHolder{};
  root->children.resize(self->types.size());
  Status status;
  for (size_t c = 0; c < self->types.size(); ++c) {
    Status exported = exportColumn(chunk, c, self->table->schema().columns[c].type, self->types[c],
                                   root->children[c]);
    status = exported.ok() ? status : exported;
  }
  fillArray(*out, root, chunk->rows, 1);
  if (!status.ok()) {
    self->error = status.message();
    out->release(out);
    return EINVAL;
  }
  return 0;
}

const char *getLastError(ArrowArrayStream *stream) {
  const std::string &error = static_cast<StreamHolder *>(stream->private_data)->error;
  return error.empty() ? nullptr : error.c_str();
}

void releaseStream(ArrowArrayStream *stream) {
  delete static_cast<StreamHolder *>(stream->private_data);
  stream->release = nullptr;
}

} // namespace

Status exportStream(std::shared_ptr<const ResultRows> table, ArrowArrayStream *out,
                    ChunkRange chunks) {
  auto holder = std::make_unique<StreamHolder>();
  for (const plan::Column &column : table->schema().columns) {
    HR_ASSIGN_OR_RETURN(ArrowType type, arrowType(column.logical, kindOf(column), column.name));
    holder->types.push_back(std::move(type));
  }
  holder->next = chunks.begin;
  holder->end = std::min(chunks.end, table->chunkCount());
  holder->table = std::move(table);
  *out = ArrowArrayStream{getSchema, getNext, getLastError, releaseStream, holder.release()};
  return {};
}

} // namespace headrace::exec
