// Ops to kinds of work.
#include "passes/lower/code/work_log.h"

#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "model/plan/page_form.h"
#include "model/plan/text_work.h"

using namespace mlir;

namespace headrace::lower {

using plan::WorkKind;

/// Nothing is known of the lengths of lists.
constexpr double kElementsOfList = 8;

void WorkLog::add(WorkKind kind, unsigned level, double amount, int32_t state) {
  if (counting_ == Counting::kPaused || amount == 0) {
    return;
  }
  amount *= times_;
  for (plan::Work &entry : entries_) {
    if (entry.kind == kind && entry.level == level && entry.state == state) {
      entry.amount += amount;
      return;
    }
  }
  entries_.push_back({kind, level, amount, state});
}

void WorkLog::addTextOp(Operation *op, unsigned level, double textBytes) {
  auto match = dyn_cast<pipe::StringMatchOp>(op);
  bool searched = match && plan::searchesText(match.getPattern());
  bool literal = llvm::any_of(op->getOperands(), [](Value operand) {
    return isa_and_nonnull<pipe::LiteralOp>(operand.getDefiningOp());
  });
  if (isa<pipe::StringCompareOp>(op) && literal) {
    add(WorkKind::kMatchString, level, plan::kEndOfText);
  } else if (isa<pipe::StringCompareOp>(op)) {
    add(WorkKind::kCompareString, level, 1);
  } else if (isa<pipe::StringMatchOp, pipe::SubstringOp>(op)) {
    add(WorkKind::kMatchString, level, searched ? 1 : plan::kEndOfText);
    add(WorkKind::kSearchByte, level, searched ? textBytes : 0);
  }
}

void WorkLog::addOp(Operation *op, unsigned level, unsigned width, double textBytes) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<pipe::LiteralOp, pipe::YieldOp>(op)) {
    return;
  }
  if (auto loop = dyn_cast<pipe::LoopOp>(op)) {
    const double before = times_;
    times_ *= kElementsOfList;
    for (Operation &inner : loop.getBody().front()) {
      addOp(&inner, level, width, textBytes);
    }
    add(WorkKind::kText, level, loop.getJoins() ? 1 : 0);
    add(WorkKind::kScalar, level, loop.getCollects() ? 4 : 0);
    times_ = before;
    return;
  }
  unsigned bits = 8;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())}) {
    for (Type type : types) {
      if (type.isIntOrFloat()) {
        bits = std::max(bits, type.getIntOrFloatBitWidth());
      }
    }
  }
  if (width != 0) {
    add(WorkKind::kVectorByte, level, isa<pipe::OwnsOp>(op) ? plan::kPositionBytes : bits / 8.0);
  } else if (isa<pipe::StringCompareOp, pipe::StringMatchOp, pipe::SubstringOp>(op)) {
    addTextOp(op, level, textBytes);
  } else if (auto text = dyn_cast<pipe::TextOp>(op);
             text && textFunctionNamed(text.getFunction())->result != TextFunction::Result::kText) {
    const double units = plan::searchUnits(text.getFunction());
    add(WorkKind::kMatchString, level, units);
    add(WorkKind::kSearchByte, level, units * textBytes);
  } else if (isa<pipe::TextOp, pipe::PrintOp, pipe::ParseOp>(op)) {
    add(WorkKind::kText, level, 1);
    add(WorkKind::kTextByte, level, isa<pipe::PrintOp>(op) ? 0 : textBytes);
  } else if (isa<pipe::KeyHashOp>(op)) {
    add(WorkKind::kHashString, level, 1);
  } else if (auto owns = dyn_cast<pipe::OwnsOp>(op)) {
    for (Type key : owns.getCycle() ? TypeRange() : TypeRange(op->getOperandTypes())) {
      add(isa<pipe::StringType>(key) ? WorkKind::kHashString : WorkKind::kHash, level, 1);
    }
    add(WorkKind::kScalar, level, 4); // the rank of the hash, and whether that is this one
  } else if (isa<pipe::DatePartOp, pipe::MathOp, pipe::IntegerMathOp>(
                 op)) { // calls that take about as long
    add(WorkKind::kDatePart, level, 1);
  } else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::DivFOp,
                 pipe::DivideOp>(op)) {
    add(WorkKind::kDivide, level, bits > 64 ? 4 : 1);
  } else {
    add(bits > 64 ? WorkKind::kWide : WorkKind::kScalar, level, 1);
  }
}

} // namespace headrace::lower
