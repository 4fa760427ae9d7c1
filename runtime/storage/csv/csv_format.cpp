// The package writes these options, so that most mistakes in them are its own.
#include "runtime/storage/csv/csv_format.h"

#include "runtime/base/moment_pattern.h"

namespace headrace::storage {
namespace {

char characterOf(const nlohmann::json &options, const char *name) {
  const auto text = options.value(name, std::string());
  return text.empty() ? '\0' : text.front();
}

CsvDialect dialectOf(const nlohmann::json &options) {
  CsvDialect dialect;
  dialect.separator = options.at("delim").get<std::string>();
  dialect.quote = characterOf(options, "quote");
  dialect.escape = characterOf(options, "escape");
  dialect.comment = characterOf(options, "comment");
  dialect.returns = options.at("returns").get<bool>();
  if (const nlohmann::json &encoding = options.at("encoding"); !encoding.is_null()) {
    dialect.encoding = CsvEncoding::of(encoding);
  }
  dialect.pads = options.at("pads").get<bool>();
  dialect.drops = options.at("drops").get<bool>();
  return dialect;
}

} // namespace

Expected<CsvFormat> CsvFormat::of(const nlohmann::json &reader) {
  try {
    CsvFormat format;
    format.separator = characterOf(reader, "delim");
    format.quote = characterOf(reader, "quote");
    format.header = reader.at("header").get<bool>();
    format.skip = reader.at("skip").get<uint64_t>();
    format.nulls = reader.at("nullstr").get<std::vector<std::string>>();
    format.quotedNulls = reader.value("quoted_nulls", true);
    for (const nlohmann::json &column : reader.at("columns")) {
      format.columns.push_back(column.at("name").get<std::string>());
      format.types.push_back(column.at("type"));
    }
    format.neverNull = reader.value("never_null", std::vector<std::string>());
    format.point = reader.contains("point") ? characterOf(reader, "point") : '.';
    format.thousands = characterOf(reader, "thousands");
    format.dates = reader.value("dates", "");
    format.timestamps = reader.value("timestamps", "");
    format.compression = reader.value("compression", "");
    if (reader.contains("dialect")) {
      format.dialect = dialectOf(reader.at("dialect"));
    }
    for (const std::string &pattern : {format.dates, format.timestamps}) {
      if (const std::string_view part = unsupportedPart(pattern); !part.empty()) {
        return makeError(ErrorKind::kUnsupported,
                         "a format of dates in CSV has a part that is not supported: ", part);
      }
    }
    return format;
  } catch (const nlohmann::json::exception &error) {
    // no test: the package writes them
    return makeError(ErrorKind::kUser, "the options of a CSV file do not parse: ", error.what());
  }
}

} // namespace headrace::storage
