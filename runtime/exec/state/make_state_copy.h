// The copies of states, by kind.
#pragma once

#include "runtime/exec/rows/state_copy.h"

namespace headrace::exec {

/// `state` must outlive the copy. Those of row buffers are made by their KeptRows.
Expected<std::unique_ptr<StateCopy>> makeStateCopy(const plan::State &state,
                                                   std::shared_ptr<MemoryAccount> account,
                                                   Copies copies = Copies::kOne);

} // namespace headrace::exec
