// Kernels with their work, and states with their layout.
#include "passes/schedule/plan_emitter.h"

#include "passes/analysis/physical.h"
#include "passes/schedule/plan_enums.h"

namespace headrace::schedule {

namespace {

plan::Literal literalOf(sched::LiteralAttr described) {
  plan::Literal literal;
  literal.offset = static_cast<uint32_t>(described.getOffset());
  if (auto text = dyn_cast<StringAttr>(described.getValue())) {
    literal.kind = plan::LiteralKind::kString;
    literal.text = text.str();
  } else if (auto real = dyn_cast<FloatAttr>(described.getValue())) {
    literal.kind = plan::LiteralKind::kReal;
    literal.real = real.getValueAsDouble();
  } else {
    APInt value = cast<IntegerAttr>(described.getValue()).getValue();
    bool wide = value.getBitWidth() > 64;
    literal.kind = wide ? plan::LiteralKind::kI128 : plan::LiteralKind::kInteger;
    literal.integer = static_cast<int64_t>(value.extractBitsAsZExtValue(64, 0));
    literal.high = wide ? static_cast<int64_t>(value.extractBitsAsZExtValue(64, 64)) : 0;
  }
  return literal;
}

plan::Kernel kernelOf(sched::KernelOp op) {
  plan::Kernel kernel;
  kernel.symbol = op.getSymName().str();
  kernel.contentHash = op.getContent().value_or("").str();
  kernel.scratchBytes = static_cast<uint32_t>(op.getScratchBytes().value_or(0));
  kernel.literalBytes = static_cast<uint32_t>(op.getLiteralBytes().value_or(0));
  kernel.threads = static_cast<uint32_t>(op.getThreads().value_or(0));
  if (ArrayAttr literals = op.getLiteralsAttr()) {
    for (auto literal : literals.getAsRange<sched::LiteralAttr>()) {
      kernel.literals.push_back(literalOf(literal));
    }
  }
  if (ArrayAttr work = op.getWorkAttr()) {
    for (auto each : work.getAsRange<sched::WorkAttr>()) {
      kernel.work.push_back({planKind(each.getKind()), static_cast<uint32_t>(each.getLevel()),
                             each.getAmount().getValueAsDouble(),
                             static_cast<int32_t>(each.getState())});
    }
  }
  ArrayRef<double> selectivity = op.getSelectivity().value_or(ArrayRef<double>());
  ArrayRef<int32_t> operators = op.getStageOperators().value_or(ArrayRef<int32_t>());
  kernel.selectivity.assign(selectivity.begin(), selectivity.end());
  kernel.stageOperators.assign(operators.begin(), operators.end());
  return kernel;
}

} // namespace

void PlanEmitter::addKernels(sched::KernelsOp kernels) {
  if (!kernels.getGpu()) {
    plan_.isa = kernels.getIsa().str();
  }
  llvm::StringMap<int32_t> &byName = kernels.getGpu() ? deviceKernels_ : kernels_;
  for (auto op : kernels.getBody().getOps<sched::KernelOp>()) {
    auto index = static_cast<int32_t>(plan_.kernels.size());
    plan::Kernel kernel = kernelOf(op);
    if (ArrayAttr places = op.getPlacesAttr()) {
      for (StringAttr text : places.getAsRange<StringAttr>()) {
        kernel.places.push_back(static_cast<int32_t>(plan_.places.size()));
        plan_.places.push_back({text.str(), "expression"});
      }
    }
    byName[op.getSymName()] = index;
    if (op.getLinks()) {
      links_[*op.getLinks()] = index;
    }
    plan_.kernels.push_back(std::move(kernel));
  }
}

int32_t PlanEmitter::kernelNamed(StringRef symbol) {
  auto found = kernels_.find(symbol);
  return found == kernels_.end() ? plan::kNone : found->second;
}

/// What a user calls the operation that a state belongs to.
static std::string operationOf(pipe::StateKind kind) {
  switch (kind) {
  case pipe::StateKind::Scalar:
  case pipe::StateKind::Group:
    return "aggregate";
  case pipe::StateKind::Join:
    return "join build";
  case pipe::StateKind::Sort:
    return "sort";
  case pipe::StateKind::Rows:
    return "rows kept for a join";
  case pipe::StateKind::Window:
    return "window";
  }
  llvm_unreachable("unknown state kind");
}

void PlanEmitter::addStates() {
  llvm::StringMap<StringRef> merges; // state -> the pipeline that merges its copies
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    if (std::optional<StringRef> state = pipeline.getMerges()) {
      merges[*state] = pipeline.getSymName();
    }
  }
  for (auto op : module_.getOps<pipe::StateOp>()) {
    plan::State state = layoutState(op);
    state.mergeKernel = kernelNamed(merges.lookup(op.getSymName()));
    if (auto link = links_.find(op.getSymName()); link != links_.end()) {
      state.linkKernel = link->second;
    }
    state.place = place(op.getLoc(), operationOf(op.getKind()));
    states_[op.getSymName()] = static_cast<int32_t>(plan_.states.size());
    plan_.states.push_back(std::move(state));
  }
}

} // namespace headrace::schedule
