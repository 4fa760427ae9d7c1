// Each thread makes the text of some rows of a batch; the texts are written in their order.
#include "runtime/storage/csv/csv_writer.h"

#include "runtime/abi/kernel.h"
#include "runtime/base/byte_types.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/text_numbers.h"
#include "runtime/base/thread_team.h"
#include "runtime/storage/arrow/column_reader.h"
#include "runtime/storage/files/byte_sink.h"

#include <algorithm>
#include <array>
#include <arrow/c/bridge.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <atomic>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::storage {
namespace {

/// Rows whose text a thread makes at a time.
constexpr int64_t kSliceRows = 8192;

/// Texts between separators: in quotes if they need some.
class Quotes {
public:
  explicit Quotes(const CsvOutput &output)
      : quote_(output.quote), escape_(output.escape), null_(output.null) {
    // A line with # somewhere may be taken for a comment.
    for (char letter : {output.separator.front(), quote_, '\n', '\r', '#'}) {
      special_[static_cast<uint8_t>(letter)] = quote_ != 0;
    }
    constexpr std::string_view kPlain = "0123456789+-.:() abcdefinorstuy";
    plain_ = null_.empty() &&
             std::none_of(kPlain.begin(), kPlain.end(), [&](char each) { return isSpecial(each); });
  }

  void append(std::string_view text, std::string &out) const {
    if (text != null_ &&
        std::none_of(text.begin(), text.end(), [&](char each) { return isSpecial(each); })) {
      out += text;
    } else {
      appendQuoted(text, out);
    }
  }

  void appendQuoted(std::string_view text, std::string &out) const {
    if (!quote_) {
      out += text;
      return;
    }
    out += quote_;
    for (size_t at; escape_ && (at = std::min(text.find(quote_), text.find(escape_))) !=
                                   std::string_view::npos;
         text.remove_prefix(at + 1)) {
      out += text.substr(0, at);
      out += escape_;
      out += text[at];
    }
    out += text;
    out += quote_;
  }

  /// A number, moment or boolean, in which only an odd separator could be.
  void appendPlain(std::string_view text, std::string &out) const {
    if (plain_) {
      out += text;
    } else {
      append(text, out);
    }
  }

private:
  bool isSpecial(char letter) const { return special_[static_cast<uint8_t>(letter)]; }

  const char quote_, escape_;
  const std::string &null_;
  std::array<bool, 256> special_{};
  bool plain_;
};

/// Rows of one batch as text.
class BatchText {
public:
  BatchText(const arrow::RecordBatch &batch, const std::vector<TableColumn> &columns,
            const CsvOutput &output, const std::vector<bool> &quoted)
      : columns_(columns), output_(output), quoted_(quoted), quotes_(output) {
    for (int i = 0; i < batch.num_columns(); ++i) {
      readers_.push_back(makeReader(*batch.column(i)));
      shapes_.push_back(shapeOf(columns[static_cast<size_t>(i)].type));
    }
  }

  void append(int64_t begin, int64_t end, std::string &out) const {
    for (int64_t row = begin; row < end; ++row) {
      for (size_t c = 0; c < columns_.size(); ++c) {
        if (c != 0) {
          out += output_.separator;
        }
        if (!readers_[c]->valid(row)) {
          out += output_.null;
        } else if (!quoted_[c]) {
          appendValue(c, row, kAsNeeded, out);
        } else {
          appendValue(c, row, kAlways, out);
        }
      }
      out += '\n';
    }
  }

private:
  enum InQuotes { kAsNeeded, kAlways };

  void appendValue(size_t column, int64_t row, InQuotes inQuotes, std::string &out) const {
    const ColumnReader &reader = *readers_[column];
    const LogicalType &type = columns_[column].type;
    char memory[std::max<size_t>(HR_TEXT_PRINTED, kMomentTextBytes)];
    auto text = [&](std::string_view value) {
      inQuotes == kAlways ? quotes_.appendQuoted(value, out) : quotes_.append(value, out);
    };
    auto plain = [&](std::string_view value) {
      inQuotes == kAlways ? quotes_.appendQuoted(value, out) : quotes_.appendPlain(value, out);
    };
    auto moment = [&](const char *end) { plain({memory, static_cast<size_t>(end - memory)}); };
    if (const ByteType *bytes = byteTypeOf(type.kind)) {
      text(bytes->text(reader.text(row)));
      return;
    }
    switch (type.kind) {
    case LogicalKind::kBool:
      plain(reader.integer(row) != 0 ? "true" : "false");
      break;
    case LogicalKind::kString:
      text(reader.text(row));
      break;
    case LogicalKind::kList:
    case LogicalKind::kStruct:
    case LogicalKind::kMap:
      text(nestedText(reader.text(row), shapes_[column]));
      break;
    case LogicalKind::kF32:
      plain(printReal(static_cast<float>(reader.real(row)), memory));
      break;
    case LogicalKind::kF64:
      plain(printReal(reader.real(row), memory));
      break;
    case LogicalKind::kDate:
      moment(printDate(static_cast<int64_t>(reader.integer(row)), memory));
      break;
    case LogicalKind::kTime:
      moment(printTime(static_cast<int64_t>(reader.integer(row)), type.unit, memory));
      break;
    case LogicalKind::kTimestamp:
      moment(
          printTimestamp(static_cast<int64_t>(reader.integer(row)), type.unit, type.zoned, memory));
      break;
    default: // integers and decimals
      plain(printExact(reader.integer(row), type, memory));
    }
  }

  const std::vector<TableColumn> &columns_;
  const CsvOutput &output_;
  const std::vector<bool> &quoted_; ///< by column
  Quotes quotes_;
  std::vector<std::unique_ptr<ColumnReader>> readers_;
  std::vector<std::string> shapes_; ///< of nested columns
};

/// The texts of the slices of a batch, by several threads, in memory that earlier ones had. Each
/// thread has readers of its own: those of lists keep what they read last.
void textsOf(const arrow::RecordBatch &batch, const std::vector<TableColumn> &columns,
             const CsvOutput &output, const std::vector<bool> &quoted, ThreadTeam &team,
             std::vector<std::string> &texts) {
  const auto slices = static_cast<size_t>((batch.num_rows() + kSliceRows - 1) / kSliceRows);
  texts.resize(std::max(texts.size(), slices));
  for (std::string &text : texts) {
    text.clear();
  }
  std::atomic<size_t> next{0};
  auto work = [&] {
    BatchText text(batch, columns, output, quoted);
    for (size_t slice; (slice = next.fetch_add(1)) < slices;) {
      const auto begin = static_cast<int64_t>(slice) * kSliceRows;
      // Two of the slices have their lengths in one cache line, which each value changes.
      std::string own = std::move(texts[slice]);
      text.append(begin, std::min(begin + kSliceRows, batch.num_rows()), own);
      texts[slice] = std::move(own);
    }
  };
  team.run(std::min<size_t>(slices, static_cast<size_t>(output.threads)), [&](size_t) { work(); });
}

/// By column whether its values always get quotes.
Expected<std::vector<bool>> quotedColumns(const arrow::Schema &schema, const CsvOutput &output) {
  std::vector<bool> quoted(static_cast<size_t>(schema.num_fields()));
  for (const std::string &name : output.quoted) {
    const std::vector<int> found = schema.GetAllFieldIndices(name);
    if (found.empty()) {
      return makeError(ErrorKind::kUser, "force_quote: no column of the rows is called: ", name);
    }
    for (int index : found) {
      quoted[static_cast<size_t>(index)] = true;
    }
  }
  return quoted;
}

} // namespace

Expected<uint64_t> writeCsv(ArrowArrayStream *stream, const CsvOutput &output) {
  auto reader = arrow::ImportRecordBatchReader(stream);
  if (!reader.ok()) {
    return makeError(ErrorKind::kUser,
                     "cannot import the Arrow stream: ", reader.status().message());
  }
  std::vector<TableColumn> columns;
  HR_ASSIGN_OR_RETURN(const std::vector<bool> quoted, quotedColumns(*(*reader)->schema(), output));
  const Quotes quotes(output);
  std::string names;
  for (const auto &field : (*reader)->schema()->fields()) {
    columns.push_back(describeField(*field));
    if (!columns.back().unsupported.empty()) {
      return makeError(ErrorKind::kUnsupported, "CSV, column ", field->name(), ": ",
                       columns.back().unsupported);
    }
    if (columns.size() > 1) {
      names += output.separator;
    }
    quoted[columns.size() - 1] ? quotes.appendQuoted(field->name(), names)
                               : quotes.append(field->name(), names);
  }
  HR_ASSIGN_OR_RETURN(const std::unique_ptr<FileSink> file,
                      FileSink::open(output.path, output.name));
  if (output.header) {
    HR_RETURN_IF_ERROR(file->write(names + '\n'));
  }
  ThreadTeam team(output.threads);
  uint64_t rows = 0;
  std::vector<std::string> texts;
  for (;;) {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (arrow::Status status = (*reader)->ReadNext(&batch); !status.ok()) {
      return makeError(ErrorKind::kUser, "the Arrow stream failed: ", status.message());
    }
    if (!batch) {
      break;
    }
    rows += static_cast<uint64_t>(batch->num_rows());
    textsOf(*batch, columns, output, quoted, team, texts);
    for (const std::string &text : texts) {
      HR_RETURN_IF_ERROR(file->write(text));
    }
  }
  HR_RETURN_IF_ERROR(file->close());
  return rows;
}

} // namespace headrace::storage
