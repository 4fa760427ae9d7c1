// Rows of the source times what each op before the state lets through.
#include "passes/form/waiting_bytes.h"

#include "dialects/topo/TopoDialect.h"
#include "passes/analysis/physical.h"
#include "passes/analysis/source_rows.h"
#include "passes/analysis/state_bytes.h"
#include "passes/form/piece_order.h"

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {

namespace {

/// Of a rank.
double sourceRows(Operation &source, SymbolTable &symbols) {
  std::optional<plan::Cardinality> rows = analysis::rowsOfSource(source, symbols);
  auto scan = dyn_cast<ScanOp>(source);
  const auto ranks = scan ? topo::ranksAlong(scan, scan.getSplitAttr()) : 1;
  return rows ? static_cast<double>(rows->expected) / static_cast<double>(ranks) : 0;
}

/// Of those that come into an op, how many come out of it.
double passed(Operation &op) {
  auto share = isa<FilterOp, LookupOp, ExpandOp>(op) ? op.getAttrOfType<FloatAttr>("selectivity")
                                                     : FloatAttr();
  return share ? share.getValueAsDouble() : 1;
}

double rowBytes(Operation &use) {
  auto rows = cast<RowsType>(use.getOperand(0).getType());
  auto texts = use.getAttrOfType<FloatAttr>("text_bytes");
  return static_cast<double>(analysis::bytesOf(schemaOf(rows, {}))) +
         (texts ? texts.getValueAsDouble() : 0);
}

} // namespace

double waitingBytes(ModuleOp program, SymbolTable &symbols, StateOp state) {
  double bytes = 0;
  for (auto pipeline : program.getOps<PipelineOp>()) {
    if (pipeline.getMerges()) {
      continue;
    }
    Block &body = pipeline.getBody().front();
    double rows = sourceRows(body.front(), symbols);
    for (Operation &op : body) {
      FlatSymbolRefAttr used = stateOf(op);
      if (used && used.getValue() == state.getSymName() && !isa<ReadOp>(op)) {
        bytes += rows * rowBytes(op);
      }
      rows *= passed(op);
    }
  }
  return bytes;
}

} // namespace headrace::form
