// Tables and tensors as text: CSV files that scans read, tensor files, and how results are printed.
#pragma once

#include "passes/interpreter/value.h"

#include <map>
#include <string>

namespace headrace::interpreter {

/// A row as a line of CSV: strings quoted, NULL empty, decimals with all digits of their scale.
std::string textOf(const Row &row, frame::TableType type);
std::string textOf(const Element &element);
/// A table: a line of names, then its rows. A tensor: a line of extents, then its elements by lines
/// of the last dimension.
std::string textOf(const Value &value);

/// Tables kept as CSV in memory, for scans. The first line has the columns' names; an empty cell is
/// NULL, a quoted one ("" inside for a quote) a string. Cells are parsed as the types of the scan's
/// result.
class CsvTables {
public:
  /// Adds NAME.csv of a directory for every such file.
  llvm::Error addDirectory(llvm::StringRef path);
  void add(std::string name, std::string text) { texts_[std::move(name)] = std::move(text); }
  /// Kept per columns and types, so that later scans are free.
  llvm::Expected<TablePtr> scan(frame::ScanOp op);

private:
  struct Cell {
    std::string text;
    bool quoted = false;
  };
  using Cells = std::vector<std::vector<Cell>>;
  static llvm::Expected<Cells> parse(llvm::StringRef text);
  static llvm::Expected<Scalar> scalarOf(const Cell &cell, mlir::Type type);
  llvm::Expected<Table> convert(const Cells &cells, frame::ScanOp op);

  std::map<std::string, std::string> texts_;
  std::map<std::string, Cells> parsed_;
  std::map<std::pair<const void *, const void *>, std::map<std::string, TablePtr>> tables_;
};

/// A tensor from its text: the extents on the first line, then the elements.
llvm::Expected<Tensor> parseTensor(llvm::StringRef text, mlir::Type elementType);

/// A tensor of the static shape with elements that the seed determines: floats within ±1, integers
/// within ±9.
Tensor randomTensor(mlir::RankedTensorType type, uint64_t seed);

} // namespace headrace::interpreter
