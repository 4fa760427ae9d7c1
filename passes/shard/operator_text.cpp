// Relational ops say it themselves; the others are written here.
#include "passes/shard/operator_text.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/ExpressionText.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

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
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    return relation.getDetail();
  }
  if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
    return exchange.getToward()
               ? namesText(*exchange.getKeys()) + " over " + namesText(exchange.getAxes())
           : exchange.getKeys()  ? namesText(*exchange.getKeys())
           : exchange.getOrder() ? orderText(*exchange.getOrder())
                                 : "";
  }
  if (auto keep = dyn_cast<dist::KeepOp>(op)) {
    return keep.getCycle()  ? "stretches of " + namesText(*keep.getKeys())
           : keep.getKeys() ? "by " + namesText(*keep.getKeys())
                            : "on rank 0";
  }
  if (auto choose = dyn_cast<dist::ChooseOp>(op)) {
    return "the first if the right side has at most " + std::to_string(choose.getAtMost()) +
           " rows";
  }
  if (auto place = dyn_cast<dist::PlaceOp>(op)) {
    return place.getColumn().str();
  }
  return shapesText(op);
}

} // namespace

std::string operatorName(Operation *op) {
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    std::string variant = relation.getVariant();
    return relation.getTitle().str() + (variant.empty() ? "" : " " + variant);
  }
  if (auto exchange = dyn_cast<dist::ExchangeOp>(op)) {
    return "exchange " + stringifyExchangeKind(exchange.getKind()).str();
  }
  if (isa<dist::KeepOp>(op)) {
    return "keep own rows";
  }
  if (isa<dist::PlaceOp>(op)) {
    return "rank number";
  }
  if (isa<dist::ChooseOp>(op)) {
    return "choose at run time";
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
  if (text.size() > kExpressionLettersMax) {
    size_t end = kExpressionLettersMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end; // not within a letter
    }
    text = text.substr(0, end) + "…";
  }
  return text;
}

} // namespace headrace::shard
