// A statistics document of the storage layer (JSON) as the attribute of `frame.scan`.
#include "passes/import/Statistics.h"

#include "mlir/IR/Builders.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;
using nlohmann::json;

/// A number, bool or text as an attribute; null for what a scan cannot carry.
static Attribute scalarAttr(Builder &builder, const json &value) {
  if (value.is_boolean()) {
    return builder.getBoolAttr(*value.get_ptr<const json::boolean_t *>());
  }
  if (value.is_number_unsigned()) {
    uint64_t number = *value.get_ptr<const json::number_unsigned_t *>();
    return number <= INT64_MAX ? builder.getI64IntegerAttr(number) : Attribute();
  }
  if (value.is_number_integer()) {
    return builder.getI64IntegerAttr(*value.get_ptr<const json::number_integer_t *>());
  }
  if (value.is_number_float()) {
    return builder.getF64FloatAttr(*value.get_ptr<const json::number_float_t *>());
  }
  if (value.is_string()) {
    return builder.getStringAttr(*value.get_ptr<const json::string_t *>());
  }
  return {};
}

static DictionaryAttr columnAttr(Builder &builder, const json &column, Type type) {
  static constexpr const char *kKeys[] = {
      "min",           "max",        "nulls",  "distinct", "dictionary_entries", "all_dictionary",
      "average_bytes", "file_bytes", "ordered"};
  NamedAttrList entries;
  for (const char *key : kKeys) {
    auto member = column.find(key);
    if (member == column.end()) {
      continue;
    }
    Attribute value = scalarAttr(builder, *member);
    StringRef name(key);
    bool bound = name == "min" || name == "max";
    // A bound beyond 64 bits comes as a float: not exact, so not known.
    if (bound && isa_and_nonnull<FloatAttr>(value) && !frame::isFloat(type)) {
      value = {};
    }
    if (bound && isa_and_nonnull<IntegerAttr>(value) && frame::isFloat(type)) {
      value = builder.getF64FloatAttr(cast<IntegerAttr>(value).getInt());
    }
    if ((name == "average_bytes" || name == "file_bytes") && isa_and_nonnull<IntegerAttr>(value)) {
      value = builder.getF64FloatAttr(cast<IntegerAttr>(value).getInt());
    }
    bool count = name == "nulls" || name == "distinct" || name == "dictionary_entries";
    if (count && isa_and_nonnull<FloatAttr>(value)) {
      value = builder.getI64IntegerAttr(cast<FloatAttr>(value).getValueAsDouble());
    }
    if (value) {
      entries.set(name, value);
    }
  }
  return entries.getDictionary(builder.getContext());
}

TableDocument::TableDocument(StringRef text)
    : document(json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false)) {}

const json *TableDocument::column(StringRef name) const {
  if (!document.is_object()) {
    return nullptr;
  }
  auto columns = document.find("columns");
  if (columns == document.end() || !columns->is_object()) {
    return nullptr;
  }
  auto column = columns->find(name.str());
  return column != columns->end() && column->is_object() ? &*column : nullptr;
}

bool TableDocument::isNeverNull(StringRef name) const {
  const json *known = column(name);
  auto nullable = known ? known->find("nullable") : json::const_iterator();
  return known && nullable != known->end() && *nullable == false;
}

std::optional<std::vector<std::string>> TableDocument::residentKeys() const {
  auto resident = document.is_object() ? document.find("resident") : document.end();
  if (resident == document.end() || !resident->is_array()) {
    return std::nullopt;
  }
  return resident->get<std::vector<std::string>>();
}

StringRef TableDocument::refusal(StringRef name) const {
  if (!document.is_object()) {
    return {};
  }
  auto refused = document.find("unsupported");
  if (refused == document.end() || !refused->is_object()) {
    return {};
  }
  auto reason = refused->find(name.str());
  return reason != refused->end() && reason->is_string()
             ? StringRef(*reason->get_ptr<const json::string_t *>())
             : StringRef();
}

DictionaryAttr TableDocument::statistics(MLIRContext *context, ArrayRef<Attribute> fileColumns,
                                         ArrayRef<Type> types) const {
  if (!document.is_object()) {
    return {};
  }
  Builder builder(context);
  NamedAttrList entries;
  for (const char *key : {"rows", "rows_max", "row_groups"}) {
    auto member = document.find(key);
    if (member != document.end() && member->is_number_integer()) {
      if (Attribute value = scalarAttr(builder, *member)) {
        entries.set(key, value);
      }
    }
  }
  NamedAttrList columns;
  for (auto [name, type] : llvm::zip_equal(fileColumns, types)) {
    if (const json *known = column(cast<StringAttr>(name))) {
      columns.set(cast<StringAttr>(name), columnAttr(builder, *known, type));
    }
  }
  entries.set("columns", columns.getDictionary(context));
  return entries.getDictionary(context);
}
