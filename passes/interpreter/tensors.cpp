// Tensor ops: linalg through its indexing maps and body, elementwise ops, reshapes, tables to
// tensors and back.
#include "passes/interpreter/tensors.h"
#include "dialects/interfaces/TensorSlice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/interpreter/elements.h"
#include "passes/interpreter/tensor_parts.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace headrace::interpreter {
namespace {

using Results = llvm::SmallVector<Value>;
using ExpectedResults = llvm::Expected<Results>;

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> position) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    return position[dim.getPosition()];
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    return constant.getValue();
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), position);
  int64_t right = evaluate(binary.getRHS(), position);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(left, right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(left, right);
  default:
    return llvm::mod(left, right);
  }
}

class LinalgEvaluation {
public:
  LinalgEvaluation(linalg::LinalgOp op, ValueLookup lookup) : op_(op), lookup_(lookup) {}

  ExpectedResults run() {
    if (llvm::Error error = findExtents()) {
      return std::move(error);
    }
    auto outer = [&](mlir::Value value) -> llvm::Expected<Element> {
      if (const auto *element = std::get_if<Element>(&lookup_(value))) {
        return *element;
      }
      return programError("a body uses something that is not an element");
    };
    llvm::Expected<ElementBody> body = ElementBody::prepare(*op_.getBlock(), outer);
    if (!body) {
      return body.takeError();
    }
    std::vector<Tensor> results;
    for (mlir::Value init : op_.getDpsInits()) {
      results.push_back(*std::get<TensorPtr>(lookup_(init)));
    }
    if (llvm::Error error = visitPoints(*body, results)) {
      return std::move(error);
    }
    Results values;
    for (Tensor &result : results) {
      values.push_back(valueOf(std::move(result)));
    }
    return values;
  }

private:
  /// Loop extents from the operands' shapes, which must agree; linalg's verifier finds one for each
  /// loop.
  llvm::Error findExtents() {
    extents_.assign(op_.getNumLoops(), -1);
    for (OpOperand &operand : op_->getOpOperands()) {
      const auto *tensor = std::get_if<TensorPtr>(&lookup_(operand.get()));
      if (!tensor) {
        continue;
      }
      for (auto [expr, extent] :
           llvm::zip_equal(op_.getMatchingIndexingMap(&operand).getResults(), (*tensor)->shape)) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim) {
          continue;
        }
        int64_t &known = extents_[dim.getPosition()];
        if (known >= 0 && known != extent) {
          return programError("operands of " + op_->getName().getStringRef() +
                              " disagree on an extent: " + Twine(known) + " and " + Twine(extent));
        }
        known = extent;
      }
    }
    return llvm::Error::success();
  }

  llvm::Error visitPoints(ElementBody &body, std::vector<Tensor> &results) {
    if (elementCount(extents_) == 0) {
      return llvm::Error::success();
    }
    SmallVector<int64_t> point(extents_.size(), 0);
    int64_t firstInit = op_.getNumDpsInputs();
    do {
      SmallVector<Element, 4> arguments;
      SmallVector<size_t, 2> targets;
      for (OpOperand &operand : op_->getOpOperands()) {
        const Value &value = lookup_(operand.get());
        if (const auto *element = std::get_if<Element>(&value)) {
          arguments.push_back(*element);
          continue;
        }
        bool init = static_cast<int64_t>(operand.getOperandNumber()) >= firstInit;
        const Tensor &tensor =
            init ? results[operand.getOperandNumber() - firstInit] : *std::get<TensorPtr>(value);
        SmallVector<int64_t, 4> position;
        for (AffineExpr expr : op_.getMatchingIndexingMap(&operand).getResults()) {
          position.push_back(evaluate(expr, point));
        }
        size_t offset = tensor.offsetOf(position);
        arguments.push_back(tensor.elements[offset]);
        if (init) {
          targets.push_back(offset);
        }
      }
      // Named ops without a use for the old value (fill, transpose) still have the argument.
      llvm::Expected<std::vector<Element>> values = body.run(
          ArrayRef<Element>(arguments).take_front(op_.getBlock()->getNumArguments()), point);
      if (!values) {
        return values.takeError();
      }
      for (auto [index, value] : llvm::enumerate(*values)) {
        results[index].elements[targets[index]] = value;
      }
    } while (nextPosition(point, extents_));
    return llvm::Error::success();
  }

  linalg::LinalgOp op_;
  ValueLookup lookup_;
  SmallVector<int64_t> extents_;
};

ExpectedResults elementwise(Operation *op, ValueLookup lookup) {
  const Tensor *shape = nullptr;
  for (mlir::Value operand : op->getOperands()) {
    if (const auto *tensor = std::get_if<TensorPtr>(&lookup(operand))) {
      if (shape && shape->shape != (*tensor)->shape) {
        return programError("operands of " + op->getName().getStringRef() +
                            " have different shapes");
      }
      shape = tensor->get();
    }
  }
  auto elementAt = [&](size_t index) -> llvm::Expected<Element> {
    SmallVector<Element, 3> operands;
    for (mlir::Value operand : op->getOperands()) {
      const Value &value = lookup(operand);
      if (const auto *tensor = std::get_if<TensorPtr>(&value)) {
        operands.push_back((*tensor)->elements[index]);
      } else if (const auto *element = std::get_if<Element>(&value)) {
        operands.push_back(*element);
      } else {
        return programError("the interpreter does not know " + op->getName().getStringRef());
      }
    }
    return evaluateElementOp(op, operands);
  };
  if (!shape) {
    llvm::Expected<Element> element = elementAt(0);
    return element ? ExpectedResults(Results{Value(*element)})
                   : ExpectedResults(element.takeError());
  }
  Tensor result = Tensor::zeros(getElementTypeOrSelf(op->getResult(0).getType()), shape->shape);
  for (size_t index = 0; index < result.elements.size(); ++index) {
    llvm::Expected<Element> element = elementAt(index);
    if (!element) {
      return element.takeError();
    }
    result.elements[index] = *element;
  }
  return Results{valueOf(std::move(result))};
}

Value constant(Attribute attribute, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return elementOf(attribute);
  }
  Tensor result = Tensor::zeros(tensor.getElementType(), tensor.getShape());
  for (auto [index, element] :
       llvm::enumerate(cast<DenseElementsAttr>(attribute).getValues<Attribute>())) {
    result.elements[index] = elementOf(element);
  }
  return valueOf(std::move(result));
}

ExpectedResults reshape(const Tensor &source, ArrayRef<int64_t> shape) {
  Tensor result = source;
  result.shape.assign(shape.begin(), shape.end());
  if (elementCount(result.shape) != static_cast<int64_t>(source.elements.size())) {
    return programError("a reshape changes the number of elements");
  }
  return Results{valueOf(std::move(result))};
}

ExpectedResults collapse(tensor::CollapseShapeOp op, ValueLookup lookup) {
  const Tensor &source = *std::get<TensorPtr>(lookup(op.getSrc()));
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t &extent = shape.emplace_back(1);
    for (int64_t dimension : group) {
      extent *= source.shape[static_cast<size_t>(dimension)];
    }
  }
  return reshape(source, shape);
}

ExpectedResults expand(tensor::ExpandShapeOp op, ValueLookup lookup) {
  const Tensor &source = *std::get<TensorPtr>(lookup(op.getSrc()));
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    auto value = dyn_cast<mlir::Value>(size);
    shape.push_back(value ? std::get<int64_t>(std::get<Element>(lookup(value)))
                          : *getConstantIntValue(size));
  }
  // Before dist-localize the sizes are those of the whole: of a part the outermost one is what is
  // left.
  for (auto [index, group] : llvm::enumerate(op.getReassociationIndices())) {
    auto outermost = llvm::find_if(group, [&](int64_t d) { return shape[d] != 1; });
    if (outermost == group.end() || isa<mlir::Value>(sizes[*outermost])) {
      continue;
    }
    int64_t inner = 1;
    for (int64_t d : group) {
      inner *= d == *outermost ? 1 : shape[d];
    }
    shape[*outermost] = inner == 0 ? 0 : source.shape[index] / inner;
  }
  return reshape(source, shape);
}

/// Of a dimension that is taken whole all that there is: before dist-localize the numbers are those
/// of the whole, of which this may be a part.
ExpectedResults slice(tensor::ExtractSliceOp op, ValueLookup lookup) {
  const Tensor &source = *std::get<TensorPtr>(lookup(op.getSource()));
  std::optional<SmallVector<SlicedDimension>> dimensions = slicedDimensions(op);
  if (!dimensions) {
    return programError("a slice takes what only the run knows");
  }
  SmallVector<int64_t> sizes, shape;
  for (auto [d, dimension] : llvm::enumerate(*dimensions)) {
    int64_t extent = source.shape[d];
    if (!dimension.whole && !dimension.elements.isWithin(extent)) {
      return programError("a slice leaves its source, of which a dimension has extent " +
                          Twine(extent));
    }
    sizes.push_back(dimension.whole ? extent : dimension.elements.size);
    if (dimension.result) {
      shape.push_back(sizes.back());
    }
  }
  Tensor result = Tensor::zeros(source.elementType, shape);
  SmallVector<int64_t> position(sizes.size(), 0);
  for (Element &element : result.elements) {
    SmallVector<int64_t> from;
    for (auto [at, dimension] : llvm::zip_equal(position, *dimensions)) {
      from.push_back(dimension.elements.offset + at * dimension.elements.stride);
    }
    element = source.elements[source.offsetOf(from)];
    nextPosition(position, sizes);
  }
  return Results{valueOf(std::move(result))};
}

ExpectedResults concat(tensor::ConcatOp op, ValueLookup lookup) {
  SmallVector<TensorPtr> parts;
  for (mlir::Value input : op.getInputs()) {
    parts.push_back(std::get<TensorPtr>(lookup(input)));
  }
  llvm::Expected<Tensor> whole = concatenateTensors(parts, static_cast<int64_t>(op.getDim()));
  return whole ? ExpectedResults(Results{valueOf(std::move(*whole))})
               : ExpectedResults(whole.takeError());
}

ExpectedResults gather(tensor::GatherOp op, ValueLookup lookup) {
  const Tensor &source = *std::get<TensorPtr>(lookup(op.getSource()));
  const Tensor &places = *std::get<TensorPtr>(lookup(op.getIndices()));
  SmallVector<int64_t> shape(ArrayRef(places.shape).drop_back());
  llvm::append_range(shape, ArrayRef(source.shape).drop_front());
  Tensor result = Tensor::zeros(source.elementType, shape);
  int64_t extent = source.shape.front();
  size_t row = places.elements.empty() ? 0 : result.elements.size() / places.elements.size();
  auto to = result.elements.begin();
  for (const Element &element : places.elements) {
    int64_t place = std::get<int64_t>(element);
    if (place < -extent || place >= extent) {
      return dataError("an index is out of bounds: got " + Twine(place) + " for an extent of " +
                       Twine(extent));
    }
    auto position = static_cast<size_t>(place < 0 ? place + extent : place);
    to = std::copy_n(source.elements.begin() + position * row, row, to);
  }
  return Results{valueOf(std::move(result))};
}

ExpectedResults empty(tensor::EmptyOp op, ValueLookup lookup) {
  SmallVector<int64_t> shape(op.getType().getShape());
  auto sizes = op.getDynamicSizes().begin();
  for (int64_t &extent : shape) {
    if (ShapedType::isDynamic(extent)) {
      extent = std::get<int64_t>(std::get<Element>(lookup(*sizes++)));
    }
  }
  return Results{valueOf(Tensor::zeros(op.getType().getElementType(), shape))};
}

ExpectedResults dim(tensor::DimOp op, ValueLookup lookup) {
  int64_t index = std::get<int64_t>(std::get<Element>(lookup(op.getIndex())));
  const Tensor &tensor = *std::get<TensorPtr>(lookup(op.getSource()));
  if (index < 0 || index >= static_cast<int64_t>(tensor.shape.size())) {
    return programError("tensor.dim of a dimension that does not exist");
  }
  return Results{Value(Element(tensor.shape[index]))};
}

} // namespace

ExpectedResults evaluateTensorOp(Operation *op, ValueLookup lookup) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    return LinalgEvaluation(structured, lookup).run();
  }
  Attribute attribute;
  if (op->getNumResults() == 1 && matchPattern(op, m_Constant(&attribute))) {
    return Results{constant(attribute, op->getResult(0).getType())};
  }
  return llvm::TypeSwitch<Operation *, ExpectedResults>(op)
      .Case([&](tensor::EmptyOp op) { return empty(op, lookup); })
      .Case([&](tensor::DimOp op) { return dim(op, lookup); })
      .Case([&](tensor::CollapseShapeOp op) { return collapse(op, lookup); })
      .Case([&](tensor::ExpandShapeOp op) { return expand(op, lookup); })
      .Case([&](tensor::ExtractSliceOp op) { return slice(op, lookup); })
      .Case([&](tensor::ConcatOp op) { return concat(op, lookup); })
      .Case([&](tensor::GatherOp op) { return gather(op, lookup); })
      .Case([&](tensor::CastOp op) -> ExpectedResults { return Results{lookup(op.getSource())}; })
      .Default([&](Operation *op) -> ExpectedResults {
        if (op->getNumResults() != 1 || op->getNumRegions() != 0) {
          return programError("the interpreter does not know " + op->getName().getStringRef());
        }
        return elementwise(op, lookup);
      });
}

llvm::Expected<SmallVector<Value>> tensorsOfTable(frame::ToTensorOp op, const Table &table) {
  SmallVector<Value> results;
  auto rows = static_cast<int64_t>(table.rows.size());
  for (auto [columns, result] :
       llvm::zip_equal(op.getGroups().getAsRange<ArrayAttr>(), op.getTensors())) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape{rows};
    if (type.getRank() == 2) {
      shape.push_back(static_cast<int64_t>(columns.size()));
    }
    Tensor tensor = Tensor::zeros(type.getElementType(), shape);
    size_t next = 0;
    for (const Row &row : table.rows) {
      for (auto column : columns.getAsRange<StringAttr>()) {
        unsigned position = *table.type.findColumn(column.getValue());
        Type columnType = table.type.getColumnTypes()[position];
        Element &element = tensor.elements[next++];
        if (frame::isFloat(columnType)) {
          element = row[position].real();
        } else if (type.getElementType().isInteger(64)) {
          element = static_cast<int64_t>(row[position].integer());
          if (std::get<int64_t>(element) != row[position].integer()) {
            return dataError("number does not fit an element of i64");
          }
        } else if (auto decimal = dyn_cast<frame::DecimalType>(columnType)) {
          element =
              static_cast<double>(row[position].integer()) / std::pow(10.0, decimal.getScale());
        } else {
          element = static_cast<double>(row[position].integer());
        }
        if (type.getElementType().isF32()) {
          element = static_cast<double>(static_cast<float>(std::get<double>(element)));
        }
      }
    }
    results.push_back(valueOf(std::move(tensor)));
  }
  return results;
}

llvm::Expected<Table> tableOfTensor(frame::FromTensorOp op, const Tensor &tensor) {
  Table result{op.getType(), {}};
  size_t columns = op.getType().getNumColumns();
  if (tensor.shape.empty() ||
      tensor.elements.size() != static_cast<size_t>(tensor.shape[0]) * columns) {
    return programError("a tensor does not have as many columns as the table");
  }
  for (size_t row = 0; row < static_cast<size_t>(tensor.shape[0]); ++row) {
    Row &values = result.rows.emplace_back();
    for (size_t column = 0; column < columns; ++column) {
      const Element &element = tensor.elements[row * columns + column];
      if (const auto *real = std::get_if<double>(&element)) {
        values.push_back(Scalar{*real});
      } else {
        values.push_back(Scalar{static_cast<analysis::Int128>(std::get<int64_t>(element))});
      }
    }
  }
  return result;
}

} // namespace headrace::interpreter
