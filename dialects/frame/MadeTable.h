// What follows for a table from the op that makes it.
#ifndef HEADRACE_DIALECTS_FRAME_MADETABLE_H
#define HEADRACE_DIALECTS_FRAME_MADETABLE_H

#include "dialects/frame/RelationalOps.h"

namespace headrace::frame {

/// More rows than this it cannot have, whatever the data; nothing: no bound.
std::optional<uint64_t> mostRows(mlir::Value table);
/// Gives the op's result columns new names as well as all that it says of them (renameColumns).
void renameResult(RelationalOpInterface op, NewName newName);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_MADETABLE_H
