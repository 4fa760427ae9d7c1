// plan::Kernel to sched.kernel, field by field.
#include "passes/lower/code/describe_kernels.h"

#include "dialects/sched/SchedDialect.h"
#include "model/plan/names.h"

using namespace mlir;

namespace headrace::lower {

namespace {

Attribute valueOf(OpBuilder &b, const plan::Literal &literal) {
  switch (literal.kind) {
  case plan::LiteralKind::kInteger:
    return b.getI64IntegerAttr(literal.integer);
  case plan::LiteralKind::kI128: {
    uint64_t words[] = {static_cast<uint64_t>(literal.integer),
                        static_cast<uint64_t>(literal.high)};
    return b.getIntegerAttr(b.getIntegerType(128), APInt(128, words));
  }
  case plan::LiteralKind::kReal:
    return b.getF64FloatAttr(literal.real);
  case plan::LiteralKind::kString:
    return b.getStringAttr(literal.text);
  }
  llvm_unreachable("unknown kind of literal");
}

sched::WorkAttr workOf(OpBuilder &b, const plan::Work &work) {
  // Both enums have the same names, which a test compares.
  std::optional<sched::WorkKind> kind = sched::symbolizeWorkKind(plan::nameOf(work.kind));
  return sched::WorkAttr::get(b.getContext(), *kind, work.level, b.getF64FloatAttr(work.amount),
                              work.state);
}

void describe(OpBuilder &b, Location location, const KernelDescription &description) {
  const plan::Kernel &kernel = description.kernel;
  SmallVector<Attribute> literals, work;
  for (const plan::Literal &literal : kernel.literals) {
    literals.push_back(
        sched::LiteralAttr::get(b.getContext(), literal.offset, valueOf(b, literal)));
  }
  for (const plan::Work &each : kernel.work) {
    work.push_back(workOf(b, each));
  }
  SmallVector<StringRef> places(description.places.begin(), description.places.end());
  auto made = sched::KernelOp::create(b, location, b.getStringAttr(kernel.symbol));
  if (!kernel.contentHash.empty()) {
    made.setContent(kernel.contentHash);
  }
  if (kernel.scratchBytes > 0) {
    made.setScratchBytes(kernel.scratchBytes);
  }
  if (kernel.literalBytes > 0) {
    made.setLiteralBytes(kernel.literalBytes);
  }
  if (kernel.threads > 0) {
    made.setThreads(kernel.threads);
  }
  if (!description.links.empty()) {
    made.setLinks(description.links);
  }
  if (!literals.empty()) {
    made.setLiteralsAttr(b.getArrayAttr(literals));
  }
  if (!places.empty()) {
    made.setPlacesAttr(b.getStrArrayAttr(places));
  }
  if (!work.empty()) {
    made.setWorkAttr(b.getArrayAttr(work));
  }
  if (!kernel.selectivity.empty()) {
    made.setSelectivity(kernel.selectivity);
    made.setStageOperators(kernel.stageOperators);
  }
}

void describeAll(ModuleOp module, UnitAttr gpu, StringRef isa,
                 const std::vector<KernelDescription> &kernels) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto all = sched::KernelsOp::create(b, module.getLoc(), gpu, b.getStringAttr(isa));
  b.setInsertionPointToEnd(&all.getBody().emplaceBlock());
  for (const KernelDescription &kernel : kernels) {
    describe(b, module.getLoc(), kernel);
  }
}

} // namespace

void describeKernels(ModuleOp module, StringRef isa,
                     const std::vector<KernelDescription> &kernels) {
  for (auto old : llvm::make_early_inc_range(module.getOps<sched::KernelsOp>())) {
    old.erase();
  }
  describeAll(module, UnitAttr(), isa, kernels);
}

void describeDeviceKernels(ModuleOp module, StringRef isa,
                           const std::vector<KernelDescription> &kernels) {
  describeAll(module, UnitAttr::get(module.getContext()), isa, kernels);
}

} // namespace headrace::lower
