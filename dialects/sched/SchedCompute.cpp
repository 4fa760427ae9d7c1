// What a task with tensors says of its inputs, parameters and output.
#include "dialects/sched/SchedDialect.h"

#include "runtime/base/strided_range.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::sched;

namespace {

int64_t extentOf(BufferType buffer, int64_t d) {
  return cast<RankedTensorType>(buffer.getShape()).getDimSize(d);
}

int64_t rankOf(BufferType buffer) { return cast<RankedTensorType>(buffer.getShape()).getRank(); }

bool isDivided(BufferType buffer, int64_t d) { return !buffer.axesOf(d).empty(); }

bool areDividedAlike(BufferType a, int64_t inA, BufferType b, int64_t inB) {
  return a.axesOf(inA) == b.axesOf(inB) &&
         (!isDivided(a, inA) || a.getSplits()[inA] == b.getSplits()[inB]);
}

/// Whether each rank has what its part of a slice is taken of.
bool hasParts(BufferType from, int64_t d, BufferType to, int64_t target) {
  return areDividedAlike(from, d, to, target) ||
         (!isDivided(from, d) && to.getSplits()[target].getKind() == dist::SplitKind::Even);
}

bool haveSameElements(BufferType a, BufferType b) {
  return cast<RankedTensorType>(a.getShape()).getElementType() ==
         cast<RankedTensorType>(b.getShape()).getElementType();
}

/// Dimensions of the output are matched from the first on: those of size 1 may be missing.
LogicalResult verifySlice(ComputeOp op) {
  auto from = cast<BufferType>(op.getInputs().front().getType());
  auto to = cast<BufferType>(op.getOutputs().front().getType());
  int64_t rank = rankOf(from), next = 0;
  ArrayRef<int64_t> numbers = op.getParameters();
  bool fits = haveSameElements(from, to);
  for (int64_t d = 0; d < rank && fits; ++d) {
    int64_t extent = extentOf(from, d), size = numbers[rank + d];
    bool open = ShapedType::isDynamic(extent);
    StridedRange taken{numbers[d], open && size == -1 ? extent : size, numbers[2 * rank + d]};
    bool whole = taken.isAllOf(extent);
    fits = whole || (!open && taken.isWithin(extent) && !isDivided(from, d));
    if (next < rankOf(to) && extentOf(to, next) == taken.size) {
      fits &= hasParts(from, d, to, next++) && (!open || from.getRows() == to.getRows());
    } else {
      fits &= taken.size == 1 && !isDivided(from, d);
    }
  }
  if (!fits || next != rankOf(to)) {
    return op.emitOpError("C3: takes of ")
           << from << " by offsets, sizes and strides " << numbers << " no " << to;
  }
  return success();
}

LogicalResult verifyConcat(ComputeOp op) {
  auto to = cast<BufferType>(op.getOutputs().front().getType());
  int64_t along = op.getParameters().front(), extent = 0;
  bool fits = along < rankOf(to);
  for (Type type : op.getInputs().getTypes()) {
    auto from = cast<BufferType>(type);
    fits = fits && haveSameElements(from, to) && rankOf(from) == rankOf(to) &&
           from.getRows() == to.getRows();
    for (int64_t d = 0; fits && d < rankOf(to); ++d) {
      fits = d == along ? !ShapedType::isDynamic(extentOf(from, d)) && !isDivided(from, d)
                        : extentOf(from, d) == extentOf(to, d) && areDividedAlike(from, d, to, d);
    }
    extent += fits ? extentOf(from, along) : 0;
  }
  if (!fits || extent != extentOf(to, along) || isDivided(to, along)) {
    return op.emitOpError("C4: its inputs along the dimension ") << along << " are no " << to;
  }
  return success();
}

} // namespace

LogicalResult ComputeOp::verify() {
  if ((getAction() == Action::Kernel) != getKernel().has_value()) {
    return emitOpError("C1: a kernel is named by the action kernel, and by no other");
  }
  size_t inputs = getInputs().size();
  bool oneToOne = inputs == 1 && getOutputs().size() == 1;
  ArrayRef<int64_t> parameters = getParameters();
  bool fits = true;
  switch (getAction()) {
  case Action::Kernel:
    break;
  case Action::Matmul:
    fits =
        inputs == 2 && parameters.size() == 3 && parameters[2] >= 0 &&
        llvm::all_of(parameters.take_front(2), [](int64_t flag) { return flag == 0 || flag == 1; });
    break;
  case Action::Reshape:
    fits = inputs == 1 && parameters.empty();
    break;
  case Action::Slice:
    fits = oneToOne && static_cast<int64_t>(parameters.size()) ==
                           3 * rankOf(cast<BufferType>(getInputs().front().getType()));
    break;
  case Action::Concat:
    fits = inputs > 0 && getOutputs().size() == 1 && parameters.size() == 1 && parameters[0] >= 0;
    break;
  }
  if (!fits) {
    return emitOpError("C2: other inputs or parameters than those of ")
           << stringifyAction(getAction());
  }
  return getAction() == Action::Slice    ? verifySlice(*this)
         : getAction() == Action::Concat ? verifyConcat(*this)
                                         : success();
}
