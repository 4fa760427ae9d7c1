// What a pipeline makes of one text of its scan alone is taken out of its filters and maps, so that
// it is computed for each entry of the text's dictionary in place of each row.
#pragma once

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace headrace::lower {

/// A copy of a pipeline, to be emitted. Directly behind its scan are maps of one text each, for its
/// entries; what they make has names that no other column has, and is not nullable. What can fail
/// stays where it was: it reads whether an entry is wrong, so an entry that no row has is not.
struct PipelineWithEntryMaps {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< around it, with the mesh of the original's
  pipe::PipelineOp pipeline;
  llvm::SmallVector<pipe::MapOp> maps;
  /// Keys that are texts, with the columns of their hashes.
  llvm::StringMap<std::string> keyHashes;
};

pipe::RowsType withoutColumn(pipe::RowsType rows, llvm::StringRef name);

/// Conditions on a text alone in filters that the scan's rows come to first are always taken out,
/// hashes of keys and all else where the statistics say that fewer entries than rows would be
/// computed.
PipelineWithEntryMaps takeOutEntryMaps(pipe::PipelineOp pipeline, mlir::SymbolTable &symbols);

} // namespace headrace::lower
