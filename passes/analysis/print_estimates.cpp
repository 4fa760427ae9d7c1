// A pass that says what the analyses know: for tests and for --explain.
#include "passes/analysis/print_estimates.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/analysis/ranges.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;

namespace {

std::string decimalText(Int128 value) {
  APInt bits(128, {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)});
  return llvm::toString(bits, 10, /*Signed=*/true);
}

struct PrintEstimatesPass : PassWrapper<PrintEstimatesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintEstimatesPass)
  StringRef getArgument() const override { return "analysis-print-estimates"; }
  StringRef getDescription() const override { return "print rows and value ranges of every table"; }

  void runOnOperation() override {
    RangeAnalysis ranges;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults()) {
        if (isa<frame::TableType>(result.getType())) {
          print(llvm::outs(), result, ranges);
        }
      }
    });
    markAllAnalysesPreserved();
  }

  static void print(llvm::raw_ostream &os, Value table, RangeAnalysis &ranges) {
    CardinalityAnalysis &cardinality = ranges.cardinality();
    Cardinality rows = cardinality.rowsOf(table);
    os << table.getDefiningOp()->getName() << " rows "
       << llvm::format("%.0f %.0f %.0f %.6g", rows.min, rows.expected, rows.p95, rows.max)
       << llvm::format(" bytes %.4g", cardinality.bytesPerRow(table)) << "\n";
    for (StringAttr name : cast<frame::TableType>(table.getType()).getNames()) {
      os << "  " << name.getValue()
         << llvm::format(" distinct %.0f", cardinality.columnOf(table, name).distinct);
      if (std::optional<Range> range = ranges.rangeOf(table, name)) {
        os << " in [" << decimalText(range->low) << ", " << decimalText(range->high) << "]";
      }
      os << "\n";
    }
  }
};

} // namespace

std::unique_ptr<Pass> headrace::analysis::createPrintEstimatesPass() {
  return std::make_unique<PrintEstimatesPass>();
}

void headrace::analysis::registerAnalysisPasses() { PassRegistration<PrintEstimatesPass>(); }
