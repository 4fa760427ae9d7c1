// Quick code takes a sixth of the time to make and up to 5 ns a row longer to run. A bound of rows
// keeps what it costs each run below what anyone notices, since plans are kept and run often.
#include "passes/lower/effort.h"

#include "passes/analysis/estimated_rows.h"

#include "llvm/Support/MathExtras.h"

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
std::optional<double> likelyRows(Operation *op, StringRef attribute) {
  auto rows = op ? op->getAttrOfType<DictionaryAttr>(attribute) : DictionaryAttr();
  auto p95 = rows ? rows.getAs<IntegerAttr>("p95") : IntegerAttr();
  return p95 ? std::optional<double>(p95.getInt()) : std::nullopt;
}

std::optional<double> sourceRows(Operation *source, SymbolTable &symbols) {
  if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
    return scan.getExpectedRows() ? std::optional<double>(*scan.getExpectedRows()) : std::nullopt;
  }
  if (auto values = dyn_cast<pipe::ValuesOp>(source)) {
    return values.getCells().size();
  }
  if (auto read = dyn_cast<pipe::ReadOp>(source)) {
    return likelyRows(symbols.lookup(read.getState()), "rows");
  }
  if (auto receive = dyn_cast<pipe::ReceiveOp>(source)) {
    return likelyRows(symbols.lookup(receive.getStream()), kEstimatedRowsAttr);
  }
  return std::nullopt;
}

} // namespace

Effort effortFor(pipe::PipelineOp pipeline, SymbolTable &symbols) {
  auto branch = pipeline->getAttrOfType<StringAttr>("branch");
  if (branch && branch.getValue() == "many") { // runs if there are more rows than were thought
    return effortForRows(std::nullopt);
  }
  Block &body = pipeline.getBody().front();
  std::optional<double> rows = sourceRows(&body.front(), symbols);
  double most = rows.value_or(0);
  for (Operation &stage : body) {
    auto share = stage.getAttrOfType<FloatAttr>("selectivity");
    if (rows && isa<pipe::LookupOp>(stage)) {
      rows = share ? std::optional(*rows * share.getValueAsDouble()) : std::nullopt;
      most = std::max(most, rows.value_or(0));
    }
  }
  return effortForRows(rows ? std::optional(most) : std::nullopt);
}

Effort effortFor(pipe::StateOp sorted) {
  std::optional<double> rows = likelyRows(sorted, "rows");
  return effortForRows(rows ? std::optional(*rows * (1 + llvm::Log2_64_Ceil(1 + *rows)))
                            : std::nullopt);
}

} // namespace headrace::lower
