// The columns that a map makes of a text's entries, while a kernel is emitted.
#pragma once

#include "passes/lower/cpu/kernel_emitter.h"

namespace headrace::lower {

/// A column that a map makes.
struct KernelEmitter::EntryColumn {
  Column column;
  mlir::Value cursor;
  mlir::Value described; ///< its HrColumn: the text's, with another dictionary
  int64_t before;        ///< bytes of an entry in the arrays in front of its own
};

/// A map of a text's entries.
struct KernelEmitter::EntryMap {
  EntryMap(mlir::Block &body, uint32_t number)
      : expression(std::make_shared<Expression>(body)), number(number) {
    expression->addInput(text);
  }

  llvm::SmallVector<mlir::Value> cursors() const {
    return llvm::map_to_vector(columns, [](const EntryColumn &made) { return made.cursor; });
  }

  std::shared_ptr<ColumnValue> text = std::make_shared<ColumnValue>(); ///< what the body reads
  std::shared_ptr<Expression> expression;
  uint32_t number;        ///< of the map in the kernel
  uint32_t bytes = 0;     ///< of an entry
  mlir::Value isMade;     ///< pointer to an i64, not 0 if the morsel's map is there
  mlir::Value isLookedUp; ///< likewise, if the tile's rows look it up
  std::vector<EntryColumn> columns;
};

} // namespace headrace::lower
