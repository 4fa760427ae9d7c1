// Quick code takes a sixth of the time to make and up to 5 ns a row longer to run. A bound of rows
// keeps what it costs each run below what anyone notices, since plans are kept and run often.
#include "passes/lower/machine/effort.h"

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
std::optional<double> likelyRows(pipe::CardinalityAttr rows) {
  return rows ? std::optional(static_cast<double>(rows.getP95())) : std::nullopt;
}

std::optional<double> sourceRows(Operation *source, SymbolTable &symbols) {
  if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
    return scan.getHolds() ? std::optional<double>(*scan.getHolds()) : std::nullopt;
  }
  if (auto values = dyn_cast<pipe::ValuesOp>(source)) {
    return values.getCells().size();
  }
  if (auto read = dyn_cast<pipe::ReadOp>(source)) {
    auto state = symbols.lookup<pipe::StateOp>(read.getState());
    return state ? likelyRows(state.getHoldsAttr()) : std::nullopt;
  }
  auto stream = symbols.lookup<pipe::StreamOp>(cast<pipe::ReceiveOp>(source).getStream());
  return stream ? likelyRows(stream.getCarriesAttr()) : std::nullopt;
}

} // namespace

Effort effortFor(pipe::PipelineOp pipeline, SymbolTable &symbols) {
  if (pipeline.getBranch() == pipe::Branch::Many) { // runs if there are more rows than were thought
    return effortForRows(std::nullopt);
  }
  Block &body = pipeline.getBody().front();
  std::optional<double> rows = sourceRows(&body.front(), symbols);
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
