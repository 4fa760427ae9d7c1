// A state machine over characters, which copies values and knows where they and records end.
#include "runtime/storage/csv/plain_form.h"

#include "runtime/storage/csv/byte_reader.h"
#include "runtime/storage/csv/csv_column.h"
#include "runtime/storage/files/open_file.h"

#include <string_view>

namespace headrace::storage {
namespace {

constexpr size_t kChunkBytes = 256 << 10;

class PlainWriter {
public:
  PlainWriter(TemporaryFile &out, const CsvFormat &format, const std::string &path)
      : out_(out), format_(format), dialect_(*format.dialect), path_(path), header_(format.header) {
    for (size_t i = 0; dialect_.drops && i < format.columns.size(); ++i) {
      checks_.emplace_back(format, i);
    }
    values_.resize(1);
  }

  Status add(std::string_view text);
  Status finish();

private:
  enum class Phase {
    kBegin,   ///< of a value
    kPlain,   ///< in a value without quotes
    kQuoted,  ///< in quotes
    kEscaped, ///< behind an escape in quotes
    kBehind,  ///< behind the quote at the end, or the first of two
    kComment,
    kBroken, ///< behind a quote that does not belong, to the end of the line
  };
  struct Value {
    std::string text;
    bool quoted = false;
  };

  Status take(char character);
  void takeOutside(char character);
  void takeQuoted(char character);
  void takeBehind(char character);
  bool isLineEnd(char character) const {
    return character == '\n' || (dialect_.returns && character == '\r');
  }
  void open(Value &value);
  void separate();
  Status lineEnds();
  Status recordEnds(bool commented);
  bool isRight() const;
  void write();
  void leaveOut();
  Status flush();

  TemporaryFile &out_;
  const CsvFormat &format_;
  const CsvDialect &dialect_;
  const std::string &path_;
  std::vector<CsvCheck> checks_; ///< by column
  bool header_;                  ///< still to come
  Phase phase_ = Phase::kBegin;
  std::vector<Value> values_; ///< of this record, in the memory of earlier ones
  size_t last_ = 0;           ///< the value that is read
  std::string behind_;        ///< of the value in quotes, what may be a separator
  bool broken_ = false;       ///< this record
  bool afterReturn_ = false;
  uint64_t line_ = 1;      ///< that is read
  uint64_t firstLine_ = 1; ///< of this record
  std::string plain_;      ///< to be written
};

void PlainWriter::open(Value &value) {
  value.text.clear();
  value.quoted = false;
  phase_ = Phase::kBegin;
}

void PlainWriter::separate() {
  if (++last_ == values_.size()) {
    values_.emplace_back();
  }
  open(values_[last_]);
}

Status PlainWriter::add(std::string_view text) {
  for (char character : text) {
    HR_RETURN_IF_ERROR(take(character));
  }
  return plain_.size() >= kChunkBytes ? flush() : Status();
}

Status PlainWriter::take(char character) {
  const bool second = afterReturn_ && character == '\n'; // of a CR with an LF behind it
  afterReturn_ = dialect_.returns && character == '\r';
  if (second) {
    return Status();
  }
  if (line_ <= format_.skip) {
    return isLineEnd(character) ? lineEnds() : Status();
  }
  if (phase_ == Phase::kQuoted || phase_ == Phase::kEscaped) {
    takeQuoted(character);
    line_ += character == '\n';
    return Status();
  }
  if (isLineEnd(character)) {
    return lineEnds();
  }
  if (phase_ == Phase::kComment || phase_ == Phase::kBroken) {
    return Status();
  }
  if (dialect_.comment && character == dialect_.comment) {
    phase_ = Phase::kComment;
  } else if (phase_ == Phase::kBehind) {
    takeBehind(character);
  } else {
    takeOutside(character);
  }
  return Status();
}

void PlainWriter::takeQuoted(char character) {
  if (phase_ == Phase::kEscaped) {
    if (character != dialect_.quote && character != dialect_.escape) {
      values_[last_].text += dialect_.escape; // it escapes nothing
    }
    values_[last_].text += character;
    phase_ = Phase::kQuoted;
  } else if (dialect_.escape && dialect_.escape != dialect_.quote && character == dialect_.escape) {
    phase_ = Phase::kEscaped;
  } else if (character == dialect_.quote) {
    behind_.clear();
    phase_ = Phase::kBehind;
  } else {
    values_[last_].text += character;
  }
}

void PlainWriter::takeBehind(char character) {
  if (behind_.empty() && character == dialect_.quote &&
      (dialect_.escape == 0 || dialect_.escape == dialect_.quote)) {
    values_[last_].text += character;
    phase_ = Phase::kQuoted;
    return;
  }
  behind_ += character;
  if (behind_ == dialect_.separator) {
    separate();
  } else if (!dialect_.separator.starts_with(behind_) && behind_ != "\r") {
    broken_ = true;
    phase_ = Phase::kBroken;
  }
}

void PlainWriter::takeOutside(char character) {
  Value &value = values_[last_];
  if (dialect_.quote && character == dialect_.quote) {
    value.quoted = true;
    broken_ |= phase_ != Phase::kBegin;
    phase_ = broken_ ? Phase::kBroken : Phase::kQuoted;
    return;
  }
  phase_ = Phase::kPlain;
  value.text += character;
  if (value.text.ends_with(dialect_.separator)) {
    value.text.resize(value.text.size() - dialect_.separator.size());
    separate();
  }
}

Status PlainWriter::lineEnds() {
  if (line_ <= format_.skip) {
    plain_ += '\n';
  } else {
    const bool commented = phase_ == Phase::kComment;
    Value &value = values_[last_];
    if (phase_ == Phase::kPlain && value.text.ends_with('\r')) {
      value.text.pop_back();
    }
    broken_ |= phase_ == Phase::kBehind && !behind_.empty() && behind_ != "\r";
    HR_RETURN_IF_ERROR(recordEnds(commented));
  }
  ++line_;
  firstLine_ = line_;
  last_ = 0;
  broken_ = false;
  open(values_[0]);
  return Status();
}

Status PlainWriter::recordEnds(bool commented) {
  const Value &first = values_[0];
  const bool isAlone = last_ == 0 && !first.quoted && !broken_;
  if (isAlone && commented && first.text.find_first_not_of(" \t") == std::string::npos) {
    leaveOut();
    return Status();
  }
  if (isAlone && first.text.empty()) {
    plain_ += '\n'; // which is a record, or not
    return Status();
  }
  if (header_) {
    header_ = false;
    write();
    return Status();
  }
  if (broken_ && !dialect_.drops) {
    return misplacedQuote(path_, line_);
  }
  if (dialect_.pads) {
    while (last_ + 1 < format_.columns.size()) {
      separate();
      values_[last_].text = format_.nulls.empty() ? "" : format_.nulls.front();
    }
  }
  if (dialect_.drops && !isRight()) {
    leaveOut();
  } else {
    write();
  }
  return Status();
}

bool PlainWriter::isRight() const {
  if (broken_ || last_ + 1 != format_.columns.size()) {
    return false;
  }
  for (size_t i = 0; i <= last_; ++i) {
    if (!checks_[i].holds(values_[i].text, values_[i].quoted)) {
      return false;
    }
  }
  return true;
}

void PlainWriter::leaveOut() {
  if (!format_.emptyLinesCount()) {
    plain_.append(line_ - firstLine_ + 1, '\n');
  }
}

void PlainWriter::write() {
  for (size_t i = 0; i <= last_; ++i) {
    if (i != 0) {
      plain_ += format_.separator;
    }
    const auto &[text, quoted] = values_[i];
    if (!quoted && text.find_first_of("\"\r\n") == std::string::npos &&
        text.find(format_.separator) == std::string::npos) {
      plain_ += text;
      continue;
    }
    plain_ += format_.quote;
    for (char character : text) {
      plain_ += character;
      plain_.append(character == format_.quote, format_.quote);
    }
    plain_ += format_.quote;
  }
  plain_ += '\n';
}

Status PlainWriter::flush() {
  HR_RETURN_IF_ERROR(out_.append(plain_));
  plain_.clear();
  return Status();
}

Status PlainWriter::finish() {
  if (phase_ == Phase::kQuoted || phase_ == Phase::kEscaped) {
    if (!dialect_.drops) {
      return makeError(ErrorKind::kData, path_, ", line ", firstLine_,
                       ": a quoted value is not closed before the end of the file");
    }
    broken_ = true;
  }
  if (last_ != 0 || phase_ != Phase::kBegin || broken_) { // no line end behind the last record
    HR_RETURN_IF_ERROR(lineEnds());
  }
  return flush();
}

} // namespace

Status misplacedQuote(const std::string &path, uint64_t line) {
  return makeError(ErrorKind::kData, path, ", line ", line,
                   ": a quote inside of a value, or text behind a quoted value; if quotes mean "
                   "nothing in this file, set quote=''");
}

Expected<std::shared_ptr<const InputFile>> plainForm(std::shared_ptr<const InputFile> input,
                                                     const CsvFormat &format) {
  const std::string path = input->path();
  HR_ASSIGN_OR_RETURN(std::unique_ptr<ByteReader> reader,
                      readBytes(std::move(input), format.compression));
  HR_ASSIGN_OR_RETURN(TemporaryFile out, TemporaryFile::make(path));
  std::optional<PlainWriter> writer;
  if (format.dialect) {
    writer.emplace(out, format, path);
  }
  std::optional<CsvDecoder> decoder;
  if (format.dialect && format.dialect->encoding) {
    decoder.emplace(*format.dialect->encoding, path);
  }
  std::string chunk(kChunkBytes, '\0'), decoded;
  for (bool first = true;; first = false) {
    HR_ASSIGN_OR_RETURN(const size_t count, reader->read(chunk));
    if (count == 0) {
      break;
    }
    std::string_view text(chunk.data(), count);
    if (!writer) {
      HR_RETURN_IF_ERROR(out.append(text));
      continue;
    }
    if (decoder) {
      HR_ASSIGN_OR_RETURN(decoded, decoder->decode(text));
      text = decoded;
    }
    if (first && text.starts_with("\xef\xbb\xbf")) { // a byte order mark
      text.remove_prefix(3);
    }
    HR_RETURN_IF_ERROR(writer->add(text));
  }
  if (decoder) {
    HR_RETURN_IF_ERROR(decoder->finish());
  }
  if (writer) {
    HR_RETURN_IF_ERROR(writer->finish());
  }
  return std::move(out).finish();
}

} // namespace headrace::storage
