// Bags of rows and tensors compared, with a text for the first difference.
#include "passes/interpreter/compare.h"
#include "dialects/frame/FrameOps.h"
#include "passes/interpreter/text.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace mlir;

namespace headrace::interpreter {
namespace {

bool isClose(double a, double b, double scale) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  bool finite = std::isfinite(a) && std::isfinite(b); // an infinity is near nothing
  return a == b || (finite && std::fabs(a - b) <= kRealTolerance * scale);
}

bool isReal(const Scalar &value) { return std::holds_alternative<double>(value.value); }

bool isCloseScalar(const Scalar &a, const Scalar &b) {
  if (isReal(a) && isReal(b)) {
    return isClose(a.real(), b.real(), std::max(std::fabs(a.real()), 1e-9));
  }
  return a.value.index() == b.value.index() && compareWithNulls(a, b) == 0;
}

bool isCloseRow(const Row &a, const Row &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), isCloseScalar);
}

/// A row with its floats blanked out: rows that may be equal have equal ones.
Row exactPart(const Row &row) {
  Row exact = row;
  for (Scalar &value : exact) {
    if (isReal(value)) {
      value = Scalar{analysis::Int128(1)};
    }
  }
  return exact;
}

std::optional<std::string> differenceOfBags(const Table &expected, const Table &found) {
  std::map<Row, std::vector<const Row *>, RowLess> open;
  for (const Row &row : found.rows) {
    open[exactPart(row)].push_back(&row);
  }
  for (const Row &row : expected.rows) {
    std::vector<const Row *> &candidates = open[exactPart(row)];
    auto match =
        llvm::find_if(candidates, [&](const Row *other) { return isCloseRow(row, *other); });
    if (match == candidates.end()) {
      return "row missing: " + textOf(row, expected.type);
    }
    candidates.erase(match);
  }
  for (const auto &[exact, rows] : open) {
    if (!rows.empty()) {
      return "row too many: " + textOf(*rows.front(), found.type);
    }
  }
  return std::nullopt;
}

std::optional<std::string> differenceOfTables(const Table &expected, const Table &found,
                                              const RowOrder &order) {
  auto columns = [](const Table &table) {
    SmallVector<Type> types;
    for (Type type : table.type.getColumnTypes()) {
      types.push_back(frame::dropNullable(type));
    }
    return types;
  };
  if (columns(expected) != columns(found)) {
    return "columns have other types";
  }
  if (auto difference = differenceOfBags(expected, found)) {
    return difference;
  }
  for (size_t row = 0; row < expected.rows.size(); ++row) {
    for (unsigned column : order) {
      if (!isCloseScalar(expected.rows[row][column], found.rows[row][column])) {
        return "rows are not in order at row " + std::to_string(row) + ": " +
               textOf(found.rows[row], found.type);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> differenceOfTensors(const Tensor &expected, const Tensor &found) {
  if (expected.shape != found.shape || expected.elementType != found.elementType) {
    return "shapes or element types differ";
  }
  double scale = 1e-9;
  for (const Element &element : expected.elements) {
    const auto *real = std::get_if<double>(&element);
    if (real && std::isfinite(*real)) {
      scale = std::max(scale, std::fabs(*real));
    }
  }
  for (size_t index = 0; index < expected.elements.size(); ++index) {
    const Element &a = expected.elements[index];
    const Element &b = found.elements[index];
    const auto *real = std::get_if<double>(&a);
    if (real ? !isClose(*real, std::get<double>(b), scale) : a != b) {
      return "element " + std::to_string(index) + " is " + textOf(b) + ", not " + textOf(a);
    }
  }
  return std::nullopt;
}

} // namespace

RowOrder orderOf(mlir::Value table) {
  auto op = table.getDefiningOp<frame::RelationalOpInterface>();
  if (!op || op.getOrdering() == frame::RowOrdering::kNone) {
    return {};
  }
  auto type = cast<frame::TableType>(table.getType());
  RowOrder order;
  if (op.getOrdering() == frame::RowOrdering::kMade) {
    for (auto key : op.getState().order.getAsRange<frame::SortKeyAttr>()) {
      order.push_back(*type.findColumn(key.getColumn()));
    }
    return order;
  }
  SmallVector<frame::PassedColumn> passed = op.getPassedColumns();
  mlir::Value below = op->getOperand(0);
  for (unsigned key : orderOf(below)) {
    StringAttr name = cast<frame::TableType>(below.getType()).getNames()[key];
    const auto *behind = llvm::find_if(
        passed, [&](const frame::PassedColumn &column) { return column.from == name; });
    if (behind == passed.end()) {
      break; // without a key the later ones say nothing
    }
    order.push_back(*type.findColumn(behind->to));
  }
  return order;
}

std::optional<std::string> differenceOf(const Value &expected, const Value &found,
                                        const RowOrder &order) {
  if (expected.index() != found.index()) {
    return "another kind of value";
  }
  if (const auto *table = std::get_if<TablePtr>(&expected)) {
    const auto &other = std::get<TablePtr>(found);
    return *table == other ? std::nullopt : differenceOfTables(**table, *other, order);
  }
  if (const auto *tensor = std::get_if<TensorPtr>(&expected)) {
    const auto &other = std::get<TensorPtr>(found);
    return *tensor == other ? std::nullopt : differenceOfTensors(**tensor, *other);
  }
  return expected == found ? std::nullopt : std::optional<std::string>("scalars differ");
}

} // namespace headrace::interpreter
