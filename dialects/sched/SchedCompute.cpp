// What a task with tensors says of its inputs, parameters and output.
#include "dialects/sched/SchedDialect.h"

#include "runtime/base/divided_tensors.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::sched;

namespace {

/// A buffer as runtime/base/divided_tensors.h asks for it.
struct DividedBuffer {
  BufferType buffer;

  DividedBuffer(Type type) : buffer(cast<BufferType>(type)) {}
  RankedTensorType shape() const { return cast<RankedTensorType>(buffer.getShape()); }
  int64_t rank() const { return shape().getRank(); }
  int64_t extent(int64_t d) const { return shape().isDynamicDim(d) ? -1 : shape().getDimSize(d); }
  bool isDivided(int64_t d) const { return !buffer.axesOf(d).empty(); }
  bool isRagged(int64_t d) const {
    return isDivided(d) && buffer.getSplits()[d].getKind() != dist::SplitKind::Even;
  }
  bool isDividedLike(int64_t d, const DividedBuffer &other, int64_t inOther) const {
    return buffer.axesOf(d) == other.buffer.axesOf(inOther) &&
           (!isDivided(d) || buffer.getSplits()[d] == other.buffer.getSplits()[inOther]);
  }
  bool hasElementsOf(const DividedBuffer &other) const {
    return shape().getElementType() == other.shape().getElementType();
  }
  bool hasRowsOf(const DividedBuffer &other) const {
    return buffer.getRows() == other.buffer.getRows();
  }
};

LogicalResult verifySlice(ComputeOp op) {
  const DividedBuffer from(op.getInputs().front().getType());
  const DividedBuffer to(op.getOutputs().front().getType());
  if (!isSliceOf(to, from, op.getParameters())) {
    return op.emitOpError("C3: takes of ") << from.buffer << " by offsets, sizes and strides "
                                           << op.getParameters() << " no " << to.buffer;
  }
  return success();
}

LogicalResult verifyConcat(ComputeOp op) {
  const int64_t along = op.getParameters().front();
  const DividedBuffer to(op.getOutputs().front().getType());
  const std::vector<DividedBuffer> inputs(op.getInputs().getTypes().begin(),
                                          op.getInputs().getTypes().end());
  if (!isConcatOf<DividedBuffer>(to, inputs, along)) {
    return op.emitOpError("C4: its inputs along the dimension ")
           << along << " are no " << to.buffer;
  }
  return success();
}

LogicalResult verifyGather(ComputeOp op) {
  const DividedBuffer from(op.getInputs()[0].getType()), places(op.getInputs()[1].getType());
  const DividedBuffer to(op.getOutputs().front().getType());
  if (!places.shape().getElementType().isSignlessInteger(64) || !isGatherOf(to, from, places)) {
    return op.emitOpError("C5: takes of ")
           << from.buffer << " at places " << places.buffer << " no " << to.buffer;
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
                           3 * DividedBuffer(getInputs().front().getType()).rank();
    break;
  case Action::Concat:
    fits = inputs > 0 && getOutputs().size() == 1 && parameters.size() == 1 && parameters[0] >= 0;
    break;
  case Action::Gather:
    fits = inputs == 2 && getOutputs().size() == 1 && parameters.empty();
    break;
  }
  if (!fits) {
    return emitOpError("C2: other inputs or parameters than those of ")
           << stringifyAction(getAction());
  }
  return getAction() == Action::Slice    ? verifySlice(*this)
         : getAction() == Action::Concat ? verifyConcat(*this)
         : getAction() == Action::Gather ? verifyGather(*this)
                                         : success();
}
