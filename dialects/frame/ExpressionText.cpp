// Expressions and keys as a user would write them, as far as they are short.
#include "dialects/frame/ExpressionText.h"
#include "dialects/frame/FrameConstants.h"
#include "runtime/base/binary_functions.h"
#include "runtime/base/enum_values.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace headrace::frame {

std::string namesText(ArrayAttr names) {
  return llvm::join(
      llvm::map_range(names.getAsRange<StringAttr>(), [](StringAttr name) { return name.str(); }),
      ", ");
}

namespace {

std::string literalText(Attribute value, Type type) {
  Type scalar = dropNullable(type);
  if (isa<UnitAttr>(value)) {
    return "null";
  }
  if (isNested(scalar)) {
    return "…";
  }
  if (isUnsigned128(scalar)) {
    return unsigned128Text(unsigned128(cast<StringAttr>(value).getValue()));
  }
  if (isInterval(scalar)) {
    return "'" + intervalText(intervalParts(cast<StringAttr>(value).getValue())) + "'";
  }
  if (isEnum(scalar)) {
    return "'" + std::string(enumText(cast<StringAttr>(value).getValue())) + "'";
  }
  if (isUuid(scalar)) {
    return "'" + uuidText(cast<StringAttr>(value).getValue()) + "'";
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    return "'" + (isBinary(scalar) ? binaryText(text.getValue()) : text.str()) + "'";
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
  if (isTemporal(scalar)) {
    return "'" + formatTemporal(integer.getInt(), scalar) + "'";
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

/// Whether a product is what `random()` becomes: the bits of the row by those of the call and of
/// the run, as a share of all.
bool isRandom(MultiplyOp product) {
  auto drawn = [](Value value) {
    auto math = value.getDefiningOp<MathOp>();
    return math && math.getFunction() == "scramble" ? math.getOperands().back() : Value();
  };
  auto bits = product.getLhs().getDefiningOp<CastOp>();
  Value by = bits ? drawn(bits.getOperand()) : Value();
  Value seed = by ? drawn(by) : Value();
  return seed && seed.getDefiningOp<RunSeedOp>();
}

/// An expression region's values by the names of its columns. Shared parts are written wherever
/// they are used, until the letters are spent.
class ExpressionText {
public:
  ExpressionText(Block &block, ArrayRef<StringAttr> columns) : block_(block), columns_(columns) {}

  std::string of(Value value) {
    if (text_.size() > kExpressionLettersMax) {
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
    auto product = dyn_cast_or_null<MultiplyOp>(op);
    bool bracketed =
        op && isa<AndOp, OrOp, CompareOp, AddOp, SubtractOp, MultiplyOp, DivideOp, ModulusOp>(op) &&
        !(product && isRandom(product));
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
    if (text_.size() > kExpressionLettersMax) {
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
    } else if (auto product = dyn_cast<MultiplyOp>(op)) {
      isRandom(product) ? call("random", {}) : operands(op, " * ");
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
        if (text_.size() > kExpressionLettersMax) {
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
      text.getFunction() == "uuid_drawn"   ? call("uuid", {})
      : text.getFunction() == "uuid_timed" ? call("uuidv7", {})
                                           : call(text.getFunction(), op->getOperands());
    } else if (auto math = dyn_cast<MathOp>(op)) {
      call(math.getFunction(), op->getOperands());
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

} // namespace

std::string expressionText(Region &region, ArrayAttr columns) {
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

std::string rowRangeText(uint64_t offset, std::optional<uint64_t> count) {
  std::string text = count ? "first " + std::to_string(*count) : "";
  return offset == 0 ? text : text + (text.empty() ? "" : " ") + "after " + std::to_string(offset);
}

} // namespace headrace::frame
