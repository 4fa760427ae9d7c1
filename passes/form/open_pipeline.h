// OpenPipeline: a pipeline under construction, and what is known of its columns.
#pragma once

#include "passes/analysis/scan_statistics.h"
#include "passes/form/expressions.h"

#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace headrace::form {

/// What the pipelines of a program say about one column in flight.
struct ColumnInfo {
  std::string name;
  mlir::Type type; ///< frame type without nullability
  bool nullable = false;
  std::optional<Range> range;
  mlir::Type body;                                  ///< type inside pipelines
  double textBytes = analysis::kUnknownStringBytes; ///< of a string, as estimated
};

/// A pipeline under construction: the rows that come out of its last op.
struct OpenPipeline {
  pipe::PipelineOp pipeline;
  mlir::Value rows;
  std::vector<ColumnInfo> columns;
  std::optional<uint64_t> rowsMax; ///< hard bound on the rows, from statistics
  bool ordered = false;
  std::string ordinals; ///< the column in whose order its source gives the rows; empty: none

  const ColumnInfo *find(llvm::StringRef name) const;
};

/// Where the rows of a program's table go: a stream @result to the caller, or a stream named like
/// the function, for a pipe.to_tensor.
enum class TableSink : uint8_t { kResult, kTensor };

} // namespace headrace::form
