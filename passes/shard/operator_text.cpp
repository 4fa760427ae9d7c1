// Expressions are written as a user would, as far as they are short.
#include "passes/shard/operator_text.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/FrameOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

/// Letters of a detail; more than a line has.
constexpr size_t kLettersMax = 240;

std::string listed(ArrayAttr names) {
  return llvm::join(
      llvm::map_range(names.getAsRange<StringAttr>(), [](StringAttr name) { return name.str(); }),
      ", ");
}

std::string literalText(Attribute value, Type type) {
  Type scalar = dropNullable(type);
  if (isa<UnitAttr>(value)) {
    return "null";
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    return "'" + text.str() + "'";
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    return llvm::formatv("{0}", real.getValueAsDouble()).str();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer) {
    return "…";
  }
  if (isBoolean(scalar)) {
    return integer.getValue().isZero() ? "false" : "true";
  }
  if (isDate(scalar)) {
    return "'" + formatDate(static_cast<int32_t>(integer.getInt())) + "'";
  }
  std::string digits = llvm::toString(integer.getValue(), 10, /*Signed=*/true);
  auto decimal = dyn_cast<DecimalType>(scalar);
  if (!decimal || decimal.getScale() == 0) {
    return digits;
  }
  bool negative = digits.front() == '-';
  digits.erase(0, negative ? 1 : 0);
  size_t scale = decimal.getScale();
  digits.insert(0, digits.size() <= scale ? scale + 1 - digits.size() : 0, '0');
  digits.insert(digits.size() - scale, ".");
  digits.erase(digits.find_last_not_of('0') + 1);
  digits.erase(digits.find_last_not_of('.') + 1);
  return (negative ? "-" : "") + digits;
}

/// An expression region's values by the names of its columns. Shared parts are written wherever
/// they are used, until the letters are spent.
class ExpressionText {
public:
  ExpressionText(Block &block, ArrayRef<StringAttr> columns) : block_(block), columns_(columns) {}

  std::string of(Value value) {
    if (text_.size() > kLettersMax) {
      return "";
    }
    size_t before = text_.size();
    write(value);
    return text_.substr(before);
  }

private:
  void joined(ValueRange values, StringRef between) {
    for (auto [index, value] : llvm::enumerate(values)) {
      text_ += index ? between.str() : "";
      nested(value);
    }
  }
  /// In brackets if it is an expression with operators.
  void nested(Value value) {
    Operation *op = value.getDefiningOp();
    bool bracketed =
        op && isa<AndOp, OrOp, CompareOp, AddOp, SubtractOp, MultiplyOp, DivideOp, ModulusOp>(op);
    text_ += bracketed ? "(" : "";
    write(value);
    text_ += bracketed ? ")" : "";
  }
  static StringRef sign(CompareKind kind) {
    switch (kind) {
    case CompareKind::Eq:
      return " = ";
    case CompareKind::Ne:
      return " <> ";
    case CompareKind::Lt:
      return " < ";
    case CompareKind::Le:
      return " <= ";
    case CompareKind::Gt:
      return " > ";
    case CompareKind::Ge:
      return " >= ";
    default:
      return " is not distinct from ";
    }
  }
  void operands(Operation *op, StringRef between) { joined(op->getOperands(), between); }
  void call(StringRef name, ValueRange arguments) {
    text_ += name.str() + "(";
    joined(arguments, ", ");
    text_ += ")";
  }

  void write(Value value) {
    if (text_.size() > kLettersMax) {
      return;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      bool known = argument.getOwner() == &block_ && argument.getArgNumber() < columns_.size();
      text_ += known ? columns_[argument.getArgNumber()].str() : "…";
      return;
    }
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      text_ += literalText(constant.getValue(), constant.getType());
    } else if (auto compare = dyn_cast<CompareOp>(op)) {
      operands(op, sign(compare.getKind()));
    } else if (isa<AndOp>(op)) {
      joined(op->getOperands(), " and ");
    } else if (isa<OrOp>(op)) {
      joined(op->getOperands(), " or ");
    } else if (isa<AddOp>(op)) {
      operands(op, " + ");
    } else if (isa<SubtractOp>(op)) {
      operands(op, " - ");
    } else if (isa<MultiplyOp>(op)) {
      operands(op, " * ");
    } else if (isa<DivideOp>(op)) {
      operands(op, " / ");
    } else if (isa<ModulusOp>(op)) {
      operands(op, " % ");
    } else if (isa<NotOp>(op)) {
      text_ += "not ";
      nested(op->getOperand(0));
    } else if (isa<IsNullOp>(op)) {
      nested(op->getOperand(0));
      text_ += " is null";
    } else if (auto in = dyn_cast<InOp>(op)) {
      nested(in.getOperand());
      text_ += " in (";
      for (auto [index, one] : llvm::enumerate(in.getValues())) {
        text_ += (index ? ", " : "") + literalText(one, in.getOperand().getType());
        if (text_.size() > kLettersMax) {
          return;
        }
      }
      text_ += ")";
    } else if (auto like = dyn_cast<LikeOp>(op)) {
      nested(like.getOperand());
      text_ += " like '" + like.getPattern().str() + "'";
    } else if (isa<CastOp>(op)) {
      write(op->getOperand(0)); // what a reader thinks of it anyway
    } else if (auto text = dyn_cast<TextOp>(op)) {
      call(stringifyTextFunction(text.getFunction()), op->getOperands());
    } else if (auto number = dyn_cast<NumberOp>(op)) {
      call(stringifyNumberFunction(number.getFunction()), op->getOperands());
    } else if (auto extract = dyn_cast<ExtractOp>(op)) {
      call(stringifyDateField(extract.getField()), op->getOperands());
    } else {
      call(op->getName().stripDialect(), op->getOperands());
    }
  }

  Block &block_;
  ArrayRef<StringAttr> columns_;
  std::string text_;
};

std::string expressions(Region &region, ArrayAttr columns) {
  SmallVector<StringAttr> names(columns.getAsRange<StringAttr>());
  Block &block = region.front();
  ExpressionText text(block, names);
  std::string all;
  for (Value value : block.getTerminator()->getOperands()) {
    all += (all.empty() ? "" : ", ") + text.of(value);
  }
  return all;
}

std::string orderText(ArrayAttr keys) {
  std::string text;
  for (auto key : keys.getAsRange<SortKeyAttr>()) {
    text += (text.empty() ? "" : ", ") + key.getColumn().str() +
            (key.getDirection() == SortDirection::Desc ? " desc" : "");
  }
  return text;
}

std::string measureText(AggregateOp aggregate) {
  std::string text = listed(aggregate.getKeys());
  for (MeasureAttr measure : aggregate.getMeasureRange()) {
    text += text.empty() ? "" : ", ";
    text += measure.getInput() ? (stringifyAggregateFunction(measure.getFunction()) + "(" +
                                  measure.getInput().getValue() + ")")
                                     .str()
                               : "count(*)";
  }
  return text;
}

std::string joinText(JoinOp join) {
  std::string text;
  for (auto [left, right] : llvm::zip(join.getLeftKeys().getAsRange<StringAttr>(),
                                      join.getRightKeys().getAsRange<StringAttr>())) {
    text += (text.empty() ? "" : ", ") + left.str() + " = " + right.str();
  }
  if (auto columns = join.getResidualColumns(); columns && !join->getRegion(0).empty()) {
    text += (text.empty() ? "" : ", ") + expressions(join->getRegion(0), *columns);
  }
  return text;
}

std::string windowText(uint64_t offset, std::optional<uint64_t> count) {
  std::string text = count ? "first " + std::to_string(*count) : "";
  return offset == 0 ? text : text + (text.empty() ? "" : " ") + "after " + std::to_string(offset);
}

std::string shapesText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Type type : op->getResultTypes()) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      stream << (text.empty() ? "" : ", ");
      for (int64_t extent : tensor.getShape()) {
        ShapedType::isDynamic(extent) ? stream << "?" : stream << extent;
        stream << "x";
      }
      stream << tensor.getElementType();
    }
  }
  return text;
}

std::string fullDetail(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op)) {
    return "(" + listed(scan.getFileColumns()) + ")";
  }
  if (auto filter = dyn_cast<FilterOp>(op)) {
    return expressions(filter->getRegion(0), filter.getColumns());
  }
  if (auto project = dyn_cast<ProjectOp>(op)) {
    return expressions(project->getRegion(0), project.getColumns());
  }
  if (auto join = dyn_cast<JoinOp>(op)) {
    return joinText(join);
  }
  if (auto aggregate = dyn_cast<AggregateOp>(op)) {
    return measureText(aggregate);
  }
  if (auto sort = dyn_cast<SortOp>(op)) {
    return orderText(sort.getKeys());
  }
  if (auto topk = dyn_cast<TopKOp>(op)) {
    return windowText(topk.getOffset(), topk.getCount()) + " by " + orderText(topk.getKeys());
  }
  if (auto limit = dyn_cast<LimitOp>(op)) {
    return windowText(limit.getOffset(), limit.getCount());
  }
  if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
    return exchange.getKeys() ? listed(*exchange.getKeys()) : "";
  }
  if (auto keep = dyn_cast<dist::KeepOp>(op)) {
    return keep.getKeys() ? "by " + listed(*keep.getKeys()) : "on rank 0";
  }
  if (auto choose = dyn_cast<dist::ChooseOp>(op)) {
    return "the first if the right side has at most " + std::to_string(choose.getAtMost()) +
           " rows";
  }
  return shapesText(op);
}

} // namespace

std::string operatorName(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op)) {
    return "scan " + scan.getTableName().str();
  }
  if (auto join = dyn_cast<JoinOp>(op)) {
    return "join " + stringifyJoinKind(join.getKind()).str();
  }
  if (auto aggregate = dyn_cast<AggregateOp>(op)) {
    bool whole = aggregate.getStage() == AggregateStage::Complete;
    return whole ? "aggregate" : "aggregate " + stringifyAggregateStage(aggregate.getStage()).str();
  }
  if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
    return "exchange " + stringifyExchangeKind(exchange.getKind()).str();
  }
  if (isa<dist::KeepOp>(op)) {
    return "keep own rows";
  }
  if (isa<dist::ChooseOp>(op)) {
    return "choose at run time";
  }
  if (isa<ProjectOp>(op)) {
    return "compute";
  }
  if (isa<TopKOp>(op)) {
    return "top";
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    std::string text;
    for (Operation &inner : generic.getBody()->without_terminator()) {
      if (!inner.hasTrait<OpTrait::ConstantLike>()) {
        text += (text.empty() ? "" : " ") + inner.getName().stripDialect().str();
      }
    }
    return text.empty() ? "copy" : text;
  }
  return op->getName().stripDialect().str();
}

std::string operatorDetail(Operation *op) {
  std::string text = fullDetail(op);
  if (text.size() > kLettersMax) {
    size_t end = kLettersMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end; // not within a letter
    }
    text = text.substr(0, end) + "…";
  }
  return text;
}

} // namespace headrace::shard
