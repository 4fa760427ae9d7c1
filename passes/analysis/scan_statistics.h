// What the statistics at a scan say of a column, and how storage will keep its pages.
#ifndef HEADRACE_PASSES_ANALYSIS_SCAN_STATISTICS_H
#define HEADRACE_PASSES_ANALYSIS_SCAN_STATISTICS_H

#include "dialects/frame/FrameOps.h"
#include "model/plan/page_form.h"

#include <optional>

namespace headrace::analysis {

/// Bytes of a string of which nothing is known.
inline constexpr double kUnknownStringBytes = 16;

/// A field of a dictionary (may be null) as a number.
std::optional<double> numberOf(mlir::DictionaryAttr statistics, llvm::StringRef field);
/// Those of a column by its name in the file; null if there are none.
mlir::DictionaryAttr statisticsOf(frame::ScanOp scan, llvm::StringRef fileColumn);

/// Whether rows come in the order of the column that these statistics (may be null) are of.
bool isOrdered(mlir::DictionaryAttr column);

/// Of the rows of a table that is stored in the order of a column (by its name there), the share
/// that one of so many ranks reads if it has an equal stretch of each `cycle` of keys: row groups
/// with rows of two ranks are read by both. 1 of a table that is stored otherwise.
double readOfStretches(frame::ScanOp scan, mlir::StringAttr column, double cycle, double ranks);

/// The pages of a column, as kernels will read them.
struct ColumnPages {
  plan::PageForm form = plan::PageForm::kValues;
  double bytes = 0;     ///< of a row
  double textBytes = 0; ///< of a string; 0 for other types
  double fileBytes = 0; ///< of a row, as the file has it
  double tried = 0;     ///< entries of its dictionary tried for each row, if rows are its codes
};
/// `width`: bytes of a value in a kernel, if it is no string. Without statistics: values.
ColumnPages pagesOf(frame::ScanOp scan, llvm::StringRef fileColumn, mlir::Type type, double width);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_SCAN_STATISTICS_H
