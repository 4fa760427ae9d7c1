// What scans, states and streams hold and carry.
#include "passes/analysis/source_rows.h"

#include "passes/analysis/physical.h"

using namespace mlir;

namespace headrace::analysis {

static plan::Cardinality counted(uint64_t rows) { return {rows, rows, rows, rows}; }

static std::optional<plan::Cardinality> told(pipe::CardinalityAttr rows) {
  return rows ? std::optional(cardinalityOf(rows)) : std::nullopt;
}

std::optional<plan::Cardinality> rowsOfSource(Operation &source, SymbolTable &symbols) {
  if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
    return scan.getHolds() ? std::optional(counted(*scan.getHolds())) : std::nullopt;
  }
  if (auto values = dyn_cast<pipe::ValuesOp>(source)) {
    return counted(values.getCells().size());
  }
  if (auto read = dyn_cast<pipe::ReadOp>(source)) {
    auto state = symbols.lookup<pipe::StateOp>(read.getState());
    return state ? told(state.getHoldsAttr()) : std::nullopt;
  }
  auto stream = symbols.lookup<pipe::StreamOp>(cast<pipe::ReceiveOp>(source).getStream());
  return stream ? told(stream.getCarriesAttr()) : std::nullopt;
}

} // namespace headrace::analysis
