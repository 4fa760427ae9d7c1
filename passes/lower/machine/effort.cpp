// Quick code takes a sixth of the time to make and up to 5 ns a row longer to run. A bound of rows
// keeps what it costs each run below what anyone notices, since plans are kept and run often.
#include "passes/lower/machine/effort.h"

#include "passes/analysis/source_rows.h"

#include <cstdlib>
#include <optional>

using namespace mlir;

namespace headrace::lower {

namespace {

/// Kernels with no more rows are quick: 50,000, or HEADRACE_QUICK_ROWS.
double quickRows() {
  double rows = 50'000;
  if (const char *wanted = std::getenv("HEADRACE_QUICK_ROWS")) {
    StringRef(wanted).getAsDouble(rows); // the front end has refused what is no number
  }
  return rows;
}

Effort effortForRows(std::optional<double> rows) {
  return rows && *rows <= quickRows() ? Effort::kQuick : Effort::kNormal;
}

/// Nineteen times of twenty not more than that; nothing if nobody says.
std::optional<double> likelyRows(Operation &source, SymbolTable &symbols) {
  std::optional<plan::Cardinality> rows = analysis::rowsOfSource(source, symbols);
  return rows ? std::optional(static_cast<double>(rows->p95)) : std::nullopt;
}

} // namespace

Effort effortFor(pipe::PipelineOp pipeline, SymbolTable &symbols) {
  if (pipeline.getBranch() == pipe::Branch::Many) { // runs if there are more rows than were thought
    return effortForRows(std::nullopt);
  }
  Block &body = pipeline.getBody().front();
  std::optional<double> rows = likelyRows(body.front(), symbols);
  double most = rows.value_or(0);
  for (Operation &stage : body) {
    auto lookup = dyn_cast<pipe::LookupOp>(stage);
    auto expand = dyn_cast<pipe::ExpandOp>(stage);
    if (rows && (lookup || expand)) {
      std::optional<APFloat> share = lookup ? lookup.getSelectivity() : expand.getSelectivity();
      rows = share ? std::optional(*rows * share->convertToDouble()) : std::nullopt;
      most = std::max(most, rows.value_or(0));
    }
  }
  return effortForRows(rows ? std::optional(most) : std::nullopt);
}

} // namespace headrace::lower
