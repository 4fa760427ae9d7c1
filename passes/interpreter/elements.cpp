// arith and math on single elements.
#include "passes/interpreter/elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace headrace::interpreter {
namespace {

double real(const Element &element) { return std::get<double>(element); }
int64_t integer(const Element &element) { return std::get<int64_t>(element); }

Element rounded(double value, Type type) {
  return type.isF32() ? static_cast<double>(static_cast<float>(value)) : value;
}

Element wrapped(int64_t value, Type type) {
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (bits == 1) {
    return static_cast<int64_t>(value & 1);
  }
  unsigned shift = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}

/// Toward zero; NaN gives 0, and what is beyond the integers the nearest of them.
Element saturated(double value, Type type) {
  double limit = std::ldexp(1.0, static_cast<int>(type.getIntOrFloatBitWidth()) - 1);
  if (std::isnan(value)) {
    return int64_t(0);
  }
  auto greatest = static_cast<int64_t>(static_cast<uint64_t>(limit) - 1);
  return value >= limit ? greatest : value < -limit ? -greatest - 1 : static_cast<int64_t>(value);
}

/// NaN if either is, as arith.maximumf has it.
double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::fmax(a, b);
}
double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::fmin(a, b);
}

bool holds(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return !unordered && a == b;
  case P::ONE:
    return !unordered && a != b;
  case P::OLT:
    return !unordered && a < b;
  case P::OLE:
    return !unordered && a <= b;
  case P::OGT:
    return !unordered && a > b;
  case P::OGE:
    return !unordered && a >= b;
  case P::UEQ:
    return unordered || a == b;
  case P::UNE:
    return unordered || a != b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  }
  llvm_unreachable("unknown comparison");
}

bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  auto x = static_cast<uint64_t>(a);
  auto y = static_cast<uint64_t>(b);
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return x < y;
  case P::ule:
    return x <= y;
  case P::ugt:
    return x > y;
  case P::uge:
    return x >= y;
  }
  llvm_unreachable("unknown comparison");
}

std::optional<double> realFunction(Operation *op, ArrayRef<Element> x) {
  using Result = std::optional<double>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddFOp) -> Result { return real(x[0]) + real(x[1]); })
      .Case([&](arith::SubFOp) -> Result { return real(x[0]) - real(x[1]); })
      .Case([&](arith::MulFOp) -> Result { return real(x[0]) * real(x[1]); })
      .Case([&](arith::DivFOp) -> Result { return real(x[0]) / real(x[1]); })
      .Case([&](arith::RemFOp) -> Result { return std::fmod(real(x[0]), real(x[1])); })
      .Case([&](arith::MaximumFOp) -> Result { return maximum(real(x[0]), real(x[1])); })
      .Case([&](arith::MinimumFOp) -> Result { return minimum(real(x[0]), real(x[1])); })
      .Case([&](arith::MaxNumFOp) -> Result { return std::fmax(real(x[0]), real(x[1])); })
      .Case([&](arith::MinNumFOp) -> Result { return std::fmin(real(x[0]), real(x[1])); })
      .Case([&](arith::NegFOp) -> Result { return -real(x[0]); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) -> Result { return real(x[0]); })
      .Case([&](arith::SIToFPOp) -> Result { return static_cast<double>(integer(x[0])); })
      .Case([&](math::AbsFOp) -> Result { return std::fabs(real(x[0])); })
      .Case([&](math::ExpOp) -> Result { return std::exp(real(x[0])); })
      .Case([&](math::LogOp) -> Result { return std::log(real(x[0])); })
      .Case([&](math::SqrtOp) -> Result { return std::sqrt(real(x[0])); })
      .Case([&](math::RsqrtOp) -> Result { return 1 / std::sqrt(real(x[0])); })
      .Case([&](math::TanhOp) -> Result { return std::tanh(real(x[0])); })
      .Case([&](math::ErfOp) -> Result { return std::erf(real(x[0])); })
      .Case([&](math::SinOp) -> Result { return std::sin(real(x[0])); })
      .Case([&](math::CosOp) -> Result { return std::cos(real(x[0])); })
      .Case([&](math::FloorOp) -> Result { return std::floor(real(x[0])); })
      .Case([&](math::CeilOp) -> Result { return std::ceil(real(x[0])); })
      .Case([&](math::PowFOp) -> Result { return std::pow(real(x[0]), real(x[1])); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

std::optional<int64_t> integerFunction(Operation *op, ArrayRef<Element> x) {
  using Result = std::optional<int64_t>;
  // Through unsigned numbers, which wrap around.
  auto bits = [&](unsigned index) { return static_cast<uint64_t>(integer(x[index])); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) -> Result { return static_cast<int64_t>(bits(0) + bits(1)); })
      .Case([&](arith::SubIOp) -> Result { return static_cast<int64_t>(bits(0) - bits(1)); })
      .Case([&](arith::MulIOp) -> Result { return static_cast<int64_t>(bits(0) * bits(1)); })
      .Case([&](arith::AndIOp) -> Result { return integer(x[0]) & integer(x[1]); })
      .Case([&](arith::OrIOp) -> Result { return integer(x[0]) | integer(x[1]); })
      .Case([&](arith::XOrIOp) -> Result { return integer(x[0]) ^ integer(x[1]); })
      .Case([&](arith::MaxSIOp) -> Result { return std::max(integer(x[0]), integer(x[1])); })
      .Case([&](arith::MinSIOp) -> Result { return std::min(integer(x[0]), integer(x[1])); })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) -> Result { return integer(x[0]); })
      .Case([&](arith::CmpIOp op) -> Result {
        return holds(op.getPredicate(), integer(x[0]), integer(x[1]));
      })
      .Case([&](arith::CmpFOp op) -> Result {
        return holds(op.getPredicate(), real(x[0]), real(x[1]));
      })
      .Case([&](math::AbsIOp) -> Result {
        return integer(x[0]) < 0 ? static_cast<int64_t>(-bits(0)) : integer(x[0]);
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

} // namespace

llvm::Expected<Element> evaluateElementOp(Operation *op, ArrayRef<Element> operands) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return elementOf(constant.getValue());
  }
  if (isa<arith::SelectOp>(op)) {
    return operands[integer(operands[0]) != 0 ? 1 : 2];
  }
  if (isa<arith::FPToSIOp>(op)) {
    return saturated(real(operands[0]), type);
  }
  if (isa<arith::DivSIOp, arith::RemSIOp>(op)) {
    int64_t divisor = integer(operands[1]);
    if (divisor == 0) {
      return dataError("division by zero");
    }
    if (divisor == -1) { // the quotient of the smallest number wraps around
      return isa<arith::RemSIOp>(op)
                 ? Element(int64_t(0))
                 : wrapped(static_cast<int64_t>(-static_cast<uint64_t>(integer(operands[0]))),
                           type);
    }
    return isa<arith::RemSIOp>(op) ? Element(integer(operands[0]) % divisor)
                                   : Element(integer(operands[0]) / divisor);
  }
  if (std::optional<double> value = realFunction(op, operands)) {
    return rounded(*value, type);
  }
  if (std::optional<int64_t> value = integerFunction(op, operands)) {
    return wrapped(*value, type);
  }
  return programError("the interpreter does not know " + op->getName().getStringRef());
}

llvm::Expected<ElementBody>
ElementBody::prepare(Block &block, llvm::function_ref<llvm::Expected<Element>(mlir::Value)> outer) {
  ElementBody body;
  llvm::DenseMap<mlir::Value, unsigned> slots;
  auto add = [&](mlir::Value value, Element element) {
    slots[value] = body.slots_.size();
    body.slots_.push_back(element);
  };
  for (BlockArgument argument : block.getArguments()) {
    add(argument, Element(0.0));
  }
  for (Operation &op : block) {
    SmallVector<unsigned, 3> operands;
    for (mlir::Value operand : op.getOperands()) {
      if (!slots.count(operand)) {
        llvm::Expected<Element> element = outer(operand);
        if (!element) {
          return element.takeError();
        }
        add(operand, *element);
      }
      operands.push_back(slots[operand]);
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      body.yielded_.assign(operands.begin(), operands.end());
      break;
    }
    if (op.getNumResults() != 1 || op.getNumRegions() != 0) {
      return programError("the interpreter does not know " + op.getName().getStringRef());
    }
    add(op.getResult(0), Element(0.0));
    body.steps_.push_back({&op, std::move(operands), slots[op.getResult(0)]});
  }
  return body;
}

llvm::Expected<std::vector<Element>> ElementBody::run(ArrayRef<Element> arguments,
                                                      ArrayRef<int64_t> position) {
  std::copy(arguments.begin(), arguments.end(), slots_.begin());
  for (const Step &step : steps_) {
    if (auto index = dyn_cast<linalg::IndexOp>(step.op)) {
      slots_[step.result] = position[index.getDim()];
      continue;
    }
    SmallVector<Element, 3> operands;
    for (unsigned slot : step.operands) {
      operands.push_back(slots_[slot]);
    }
    llvm::Expected<Element> value = evaluateElementOp(step.op, operands);
    if (!value) {
      return value.takeError();
    }
    slots_[step.result] = *value;
  }
  std::vector<Element> results;
  for (unsigned slot : yielded_) {
    results.push_back(slots_[slot]);
  }
  return results;
}

} // namespace headrace::interpreter
