// A pass that says what the analyses know: for tests and for --explain.
#ifndef HEADRACE_PASSES_ANALYSIS_PRINTESTIMATES_H
#define HEADRACE_PASSES_ANALYSIS_PRINTESTIMATES_H

#include "mlir/Pass/Pass.h"

namespace headrace::analysis {

/// `analysis-print-estimates`: one line per table value on stdout, in program order: op, rows (min,
/// expected, p95, max), bytes per row, and per column its distinct values and range.
std::unique_ptr<mlir::Pass> createPrintEstimatesPass();
void registerAnalysisPasses();

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_PRINTESTIMATES_H
