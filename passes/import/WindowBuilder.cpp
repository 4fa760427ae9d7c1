// Window functions of any front end: keys, arguments and distances become columns.
#include "passes/import/MeasureParts.h"

#include <numeric>

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

namespace {

/// Operands of functions as attributes: numbers, or columns that are still to be named.
class Operands {
public:
  explicit Operands(MLIRContext *context, SmallVector<Computed> &columns)
      : context_(context), columns_(columns) {}

  /// Notes the column of an operand that has one.
  void add(const WindowOperand &operand) {
    if (operand.number) {
      known_.push_back(IntegerAttr::get(IntegerType::get(context_, 64), *operand.number));
      return;
    }
    known_.push_back({});
    positions_.push_back(columns_.size());
    columns_.push_back(operand.column);
  }
  void add(const std::optional<WindowOperand> &operand) {
    if (operand) {
      add(*operand);
    }
  }
  /// The operands in the order in which they were added, one by one.
  Attribute next(ArrayRef<StringAttr> names) {
    Attribute known = known_[nextKnown_++];
    return known ? known : Attribute(names[positions_[nextPosition_++]]);
  }
  Attribute next(const std::optional<WindowOperand> &operand, ArrayRef<StringAttr> names) {
    return operand ? next(names) : Attribute();
  }

private:
  MLIRContext *context_;
  SmallVector<Computed> &columns_;
  SmallVector<Attribute> known_;
  SmallVector<size_t> positions_;
  size_t nextKnown_ = 0, nextPosition_ = 0;
};

} // namespace

MaybeRelation RelationBuilder::window(const Relation &input, ArrayRef<Computed> partition,
                                      ArrayRef<SortKey> order,
                                      ArrayRef<WindowFunctionRequest> functions, Location at) {
  MLIRContext *mlir = context.getContext();
  SmallVector<Computed> leading;
  for (const Computed &key : partition) {
    leading.push_back(equalBy(key, input.columns(), at));
  }
  for (const SortKey &key : order) {
    leading.push_back(orderBy(key, input.columns(), at).expression);
  }
  Operands operands(mlir, leading);
  SmallVector<size_t> orders; // where the keys of each function's order begin
  for (const WindowFunctionRequest &function : functions) {
    orders.push_back(leading.size());
    for (const SortKey &key : function.order) {
      leading.push_back(orderBy(key, input.columns(), at).expression);
    }
    for (const WindowOperand &argument : function.arguments) {
      operands.add(argument);
    }
    if (function.frame) {
      operands.add(function.frame->startDistance);
      operands.add(function.frame->endDistance);
    }
  }
  // Each function with the part of a measure that it begins with.
  MeasureParts measures(std::move(leading));
  SmallVector<size_t> firstParts;
  for (const WindowFunctionRequest &function : functions) {
    firstParts.push_back(measures.parts().size());
    if (function.measure) {
      measures.add(*function.measure);
    }
  }
  firstParts.push_back(measures.parts().size());
  SmallVector<StringAttr> names;
  MaybeRelation source = addColumns(input, input.columns(), measures.inputs(), names, at);
  if (failed(source)) {
    return failure();
  }
  SmallVector<Attribute> keys;
  std::string text = "window";
  for (StringAttr name : ArrayRef(names).take_front(partition.size())) {
    if (!llvm::is_contained(keys, name)) {
      keys.push_back(name);
      text += (keys.size() == 1 ? " by " : ", ") + name.str();
    }
  }
  SmallVector<Attribute> sorted =
      sortKeys(order, ArrayRef(names).slice(partition.size(), order.size()));

  SmallVector<frame::Column> columns = source->type().getColumns();
  SmallVector<Attribute> attributes;
  Relation result = *source;
  result.sorted = false;
  if (!partition.empty()) { // rows come by partition
    result.forgetOrder();
  }
  auto add = [&](frame::WindowFunctionAttr function, Type type) {
    attributes.push_back(function);
    columns.push_back({function.getName(), type});
    result.fields.push_back(function.getName());
  };
  for (auto [index, function] : llvm::enumerate(functions)) {
    SmallVector<Attribute> arguments;
    for (size_t argument = 0; argument < function.arguments.size(); ++argument) {
      arguments.push_back(operands.next(names));
    }
    frame::WindowFrameAttr frame;
    if (const auto &wanted = function.frame) {
      Attribute start = operands.next(wanted->startDistance, names);
      Attribute end = operands.next(wanted->endDistance, names);
      frame = frame::WindowFrameAttr::get(mlir, wanted->unit, wanted->start, start, wanted->end,
                                          end, wanted->exclude);
    }
    for (size_t number = firstParts[index]; number < firstParts[index + 1]; ++number) {
      const MeasureParts::Part &part = measures.parts()[number];
      StringAttr column = part.input ? names[*part.input] : StringAttr();
      FailureOr<Type> type = MeasureParts::typeOf(part, column ? source->typeOf(column) : Type(),
                                                  frame::Grouping::kGlobal, context);
      if (failed(type)) {
        return failure();
      }
      StringRef name = frame::stringifyAggregateFunction(part.function);
      add(frame::WindowFunctionAttr::get(
              mlir, function.kind, part.function,
              column ? builder.getArrayAttr(column) : ArrayAttr(),
              uniqueName(column ? (name + "_" + column.getValue()).str() : name.str()), frame,
              ArrayAttr(), /*ignoreNulls=*/false),
          *type);
    }
    if (!function.measure) {
      SmallVector<Attribute> inFrame =
          sortKeys(function.order, ArrayRef(names).slice(orders[index], function.order.size()));
      auto attribute = frame::WindowFunctionAttr::get(
          mlir, function.kind, std::nullopt,
          arguments.empty() ? ArrayAttr() : builder.getArrayAttr(arguments),
          uniqueName(frame::stringifyWindowFunctionKind(function.kind)), frame,
          inFrame.empty() ? ArrayAttr() : builder.getArrayAttr(inFrame), function.ignoreNulls);
      add(attribute, frame::WindowOp::resultType(attribute, source->type()));
    }
  }
  Location location = locate(text, at);
  result.table = frame::WindowOp::create(
      builder, location, frame::TableType::get(mlir, columns), source->table,
      builder.getArrayAttr(keys), builder.getArrayAttr(sorted), builder.getArrayAttr(attributes));
  if (measures.arePlain()) {
    return prune(std::move(result), location);
  }
  // Fields behind the input's: a part of a measure, or a function that is none.
  SmallVector<Computed> finished;
  auto field = static_cast<int64_t>(0);
  for (; field < static_cast<int64_t>(input.fields.size()); ++field) {
    finished.push_back(Computed::ofField(field, location));
  }
  size_t measure = 0;
  for (auto [index, function] : llvm::enumerate(functions)) {
    auto parts = static_cast<int64_t>(firstParts[index + 1] - firstParts[index]);
    finished.push_back(
        function.measure ? measures.finished(
                               measure++, field - static_cast<int64_t>(firstParts[index]), location)
                         : Computed::ofField(field, location));
    field += std::max<int64_t>(parts, 1);
  }
  return project(result, finished, location);
}

/// The function so that it sees the rows one by one, where without an order of them it would see
/// all as equals; nothing if that makes no difference.
static std::optional<WindowFunctionRequest> rowByRow(WindowFunctionRequest function) {
  using Kind = frame::WindowFunctionKind;
  if (function.frame && (function.frame->exclude == frame::FrameExclusion::Group ||
                         function.frame->exclude == frame::FrameExclusion::Ties)) {
    return std::nullopt; // of equals at most the row itself is left, whatever comes before it
  }
  switch (function.kind) {
  case Kind::RowNumber:
  case Kind::Ntile:
  case Kind::Lag:
  case Kind::Lead:
  case Kind::FirstValue:
  case Kind::LastValue:
  case Kind::NthValue:
    if (function.frame && function.frame->unit != frame::FrameUnit::Rows) { // all rows are equal
      function.frame->unit = frame::FrameUnit::Rows;
      function.frame->start = frame::FrameBoundKind::UnboundedPreceding;
      function.frame->end = frame::FrameBoundKind::UnboundedFollowing;
    }
    return function;
  default:
    return function.frame && function.frame->unit == frame::FrameUnit::Rows
               ? std::optional(std::move(function))
               : std::nullopt;
  }
}

MaybeRelation RelationBuilder::windowOfAll(const Relation &input,
                                           ArrayRef<WindowFunctionRequest> functions, Location at) {
  SmallVector<WindowFunctionRequest, 0> inOrder, ofEquals;
  SmallVector<int64_t> fields(input.fields.size());
  std::iota(fields.begin(), fields.end(), 0);
  const auto before = static_cast<int64_t>(fields.size());
  const auto keys = static_cast<int64_t>(input.order.size());
  SmallVector<bool> isInOrder;
  for (const WindowFunctionRequest &function : functions) {
    std::optional<WindowFunctionRequest> seeing = rowByRow(function);
    isInOrder.push_back(seeing && keys > 0);
    isInOrder.back() ? inOrder.push_back(std::move(*seeing)) : ofEquals.push_back(function);
  }
  if (inOrder.empty()) {
    return window(input, {}, {}, functions, at);
  }
  auto firstInOrder = before + keys;
  auto firstOfEquals = firstInOrder + static_cast<int64_t>(inOrder.size());
  for (bool ordered : isInOrder) {
    fields.push_back(ordered ? firstInOrder++ : firstOfEquals++);
  }
  Relation source = input;
  const SmallVector<SortKey> order = showOrder(source, at);
  MaybeRelation result = window(source, {}, order, inOrder, at);
  if (succeeded(result) && !ofEquals.empty()) {
    result = window(*result, {}, {}, ofEquals, at);
  }
  if (failed(result)) {
    return failure();
  }
  result->shown = true;
  return select(std::move(*result), fields, at);
}
