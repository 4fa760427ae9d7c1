// A morsel has its decompressed pages, and while it is loaded those of the file.
#include "passes/schedule/scan_pieces.h"

#include "dialects/pipe/PipeDialect.h"
#include "model/plan/plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace headrace::schedule {

namespace {
/// Of a rank's memory: what one morsel of each scan may take together.
constexpr double kMorselsShare = 0.25;
/// Smaller pieces save nothing where pages have as many rows.
constexpr uint32_t kPieceRowsMin = 8 << 10;

double bytesOfRow(pipe::ScanOp scan) {
  double bytes = 0;
  for (auto column : scan.getColumns().getAsRange<pipe::ScanColumnAttr>()) {
    bytes += column.pageBytes() + column.fileBytes();
    if (column.getPages() == pipe::PageForm::Values) { // else they are in the dictionary
      bytes += column.textBytes();
    }
  }
  return bytes;
}
} // namespace

void cutScans(sched::ProgramOp program, double memoryBytes) {
  SmallVector<sched::LoadOp> loads;
  program.walk([&](sched::LoadOp load) { loads.push_back(load); });
  const double each = memoryBytes * kMorselsShare / static_cast<double>(loads.size());
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  for (sched::LoadOp load : loads) {
    auto pipeline = symbols.lookup<pipe::PipelineOp>(load.getScan());
    const double bytes = bytesOfRow(cast<pipe::ScanOp>(pipeline.getBody().front().front()));
    uint32_t rows = plan::Slot().pieceRows;
    while (rows > kPieceRowsMin && rows * bytes > each) {
      rows /= 2;
    }
    if (rows < plan::Slot().pieceRows) {
      load.setPieceRows(rows);
    }
  }
}

} // namespace headrace::schedule
