// Text in and out.
#include "passes/interpreter/text.h"
#include "passes/analysis/text_evaluation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <charconv>
#include <random>

using namespace mlir;

namespace headrace::interpreter {

static std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char character : text) {
    result += character;
    if (character == '"') {
      result += '"';
    }
  }
  return result + "\"";
}

std::string textOf(const Row &row, frame::TableType type) {
  std::string line;
  for (auto [value, columnType] : llvm::zip_equal(row, type.getColumnTypes())) {
    line += line.empty() && &value == &row.front() ? "" : ",";
    if (!value.isNull()) {
      line += frame::isString(columnType)        ? quoted(value.text())
              : frame::isUnsigned128(columnType) ? analysis::textOfBytes(value.text(), columnType)
              : frame::isHeldAsBytes(columnType)
                  ? quoted(analysis::textOfBytes(value.text(), columnType))
              : frame::isNested(columnType) ? quoted(analysis::printedNested(value, columnType))
                                            : analysis::textOf(value, columnType);
    }
  }
  return line;
}

std::string textOf(const Element &element) {
  if (const auto *real = std::get_if<double>(&element)) {
    char buffer[32]; // the shortest that reads back
    return {buffer, std::to_chars(buffer, std::end(buffer), *real).ptr};
  }
  return std::to_string(std::get<int64_t>(element));
}

std::string textOf(const Value &value) {
  std::string text;
  if (const auto *table = std::get_if<TablePtr>(&value)) {
    text = llvm::join(llvm::map_range((*table)->type.getNames(),
                                      [](StringAttr name) { return name.getValue(); }),
                      ",") +
           "\n";
    for (const Row &row : (*table)->rows) {
      text += textOf(row, (*table)->type) + "\n";
    }
  } else if (const auto *tensor = std::get_if<TensorPtr>(&value)) {
    ArrayRef<int64_t> shape = (*tensor)->shape;
    text = llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }),
                      " ") +
           "\n";
    size_t line = shape.empty() ? 1 : static_cast<size_t>(std::max<int64_t>(1, shape.back()));
    for (auto [index, element] : llvm::enumerate((*tensor)->elements)) {
      text += textOf(element) + ((index + 1) % line == 0 ? "\n" : " ");
    }
  } else if (const auto *element = std::get_if<Element>(&value)) {
    text = textOf(*element) + "\n";
  }
  return text;
}

llvm::Error CsvTables::addDirectory(StringRef path) {
  std::error_code code;
  for (llvm::sys::fs::directory_iterator file(path, code), end; file != end && !code;
       file.increment(code)) {
    if (!StringRef(file->path()).ends_with(".csv")) {
      continue;
    }
    auto buffer = llvm::MemoryBuffer::getFile(file->path());
    if (!buffer) {
      return programError("cannot read " + Twine(file->path()));
    }
    add(llvm::sys::path::stem(file->path()).str(), (*buffer)->getBuffer().str());
  }
  return code ? programError("cannot read the directory of tables: " + path)
              : llvm::Error::success();
}

llvm::Expected<CsvTables::Cells> CsvTables::parse(StringRef text) {
  Cells cells;
  size_t at = 0;
  while (at < text.size()) {
    std::vector<Cell> &line = cells.emplace_back();
    for (bool more = true; more;) {
      Cell &cell = line.emplace_back();
      if (at < text.size() && text[at] == '"') {
        cell.quoted = true;
        for (++at; at < text.size() && (text[at] != '"' || text.substr(at).starts_with("\"\""));
             ++at) {
          at += text[at] == '"' ? 1 : 0;
          cell.text += text[at];
        }
        if (at == text.size()) {
          return programError("a quoted cell has no end");
        }
        ++at;
      } else {
        size_t end = std::min(text.find_first_of(",\n", at), text.size());
        cell.text = text.slice(at, end).rtrim("\r").str();
        at = end;
      }
      more = at < text.size() && text[at] == ',';
      ++at;
    }
  }
  return cells;
}

llvm::Expected<Scalar> CsvTables::scalarOf(const Cell &cell, Type type) {
  if (cell.text.empty() && !cell.quoted) {
    if (!frame::isNullable(type)) {
      return programError("a cell of a column without NULL is empty");
    }
    return Scalar::null();
  }
  if (frame::isString(type)) {
    return Scalar{cell.text};
  }
  if (frame::isNested(type)) {
    // no test: no table of cells has such a column
    return programError("a cell cannot be a list, struct or map");
  }
  analysis::Evaluated value = analysis::parseText(cell.text, type);
  if (value.failed()) {
    return programError(value.error);
  }
  return value.value;
}

llvm::Expected<Table> CsvTables::convert(const Cells &cells, frame::ScanOp op) {
  SmallVector<size_t> positions;
  for (auto name : op.getFileColumns().getAsRange<StringAttr>()) {
    auto found = llvm::find_if(cells.front(),
                               [&](const Cell &cell) { return cell.text == name.getValue(); });
    if (found == cells.front().end()) {
      return programError("table " + op.getTableName() + " has no column " + name.getValue());
    }
    positions.push_back(static_cast<size_t>(found - cells.front().begin()));
  }
  Table table{op.getType(), {}};
  for (const std::vector<Cell> &line : ArrayRef(cells).drop_front()) {
    if (line.size() != cells.front().size()) {
      return programError("table " + op.getTableName() + " has a line of " + Twine(line.size()) +
                          " cells");
    }
    Row &row = table.rows.emplace_back();
    for (auto [position, type] : llvm::zip_equal(positions, op.getFileTypes())) {
      llvm::Expected<Scalar> value = scalarOf(line[position], type);
      if (!value) {
        return programError("table " + op.getTableName() + ": " +
                            llvm::toString(value.takeError()));
      }
      row.push_back(std::move(*value));
    }
    if (op.getOrdinals()) {
      row.push_back(Scalar{static_cast<__int128>(table.rows.size() - 1)});
    }
  }
  return table;
}

llvm::Expected<TablePtr> CsvTables::scan(frame::ScanOp op) {
  std::string name = op.getTableName().str();
  TablePtr &kept =
      tables_[{op.getFileColumns().getAsOpaquePointer(), op.getType().getAsOpaquePointer()}][name];
  if (kept) {
    return kept;
  }
  auto text = texts_.find(name);
  if (text == texts_.end()) {
    return programError("there is no table " + name);
  }
  auto parsed = parsed_.find(name);
  if (parsed == parsed_.end()) {
    llvm::Expected<Cells> cells = parse(text->second);
    if (!cells) {
      return cells.takeError();
    }
    if (cells->empty()) {
      return programError("table " + name + " has no line of names");
    }
    parsed = parsed_.emplace(name, std::move(*cells)).first;
  }
  llvm::Expected<Table> table = convert(parsed->second, op);
  if (!table) {
    return table.takeError();
  }
  kept = std::make_shared<const Table>(std::move(*table));
  return kept;
}

llvm::Expected<Tensor> parseTensor(StringRef text, Type elementType) {
  auto [first, rest] = text.split('\n');
  SmallVector<StringRef> words;
  llvm::SplitString(first, words);
  SmallVector<int64_t> shape;
  for (StringRef word : words) {
    if (word.getAsInteger(10, shape.emplace_back()) || shape.back() < 0) {
      return programError("an extent of a tensor is not a number: " + word);
    }
  }
  words.clear();
  llvm::SplitString(rest, words);
  Tensor tensor = Tensor::zeros(elementType, shape);
  if (words.size() != tensor.elements.size()) {
    return programError("a tensor needs " + Twine(tensor.elements.size()) + " elements, got " +
                        Twine(words.size()));
  }
  for (auto [element, word] : llvm::zip_equal(tensor.elements, words)) {
    double real = 0;
    int64_t integer = 0;
    bool isReal = isa<FloatType>(elementType);
    if (isReal ? word.getAsDouble(real) : word.getAsInteger(10, integer)) {
      return programError("an element of a tensor is not a number: " + word);
    }
    element =
        isReal ? Element(elementType.isF32() ? static_cast<double>(static_cast<float>(real)) : real)
               : Element(integer);
  }
  return tensor;
}

Tensor randomTensor(RankedTensorType type, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensor tensor = Tensor::zeros(type.getElementType(), type.getShape());
  for (Element &element : tensor.elements) {
    auto number = static_cast<int64_t>(random() % 2001) - 1000;
    element = isa<FloatType>(type.getElementType())
                  ? Element(static_cast<double>(static_cast<float>(number / 1000.0)))
                  : Element(number % 10);
  }
  return tensor;
}

} // namespace headrace::interpreter
