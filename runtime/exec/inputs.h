// What users bind to table slots, as sources of exec: Parquet files and Arrow tables.
#pragma once

#include "runtime/exec/task/task.h"
#include "runtime/storage/arrow/arrow_table.h"
#include "runtime/storage/storage.h"

#include <memory>
#include <string>
#include <vector>

namespace headrace::exec {

/// The rows of these Parquet files. `manifest`: what the plan was compiled against, or empty (see
/// Storage::scan). Keeps the storage alive.
OpenSource openFiles(std::shared_ptr<storage::Storage> storage, std::vector<std::string> paths,
                     std::vector<storage::FileIdentity> manifest = {});

/// The rows of an Arrow table. Keeps the table alive for as long as the OpenSource is.
OpenSource openArrow(std::shared_ptr<const storage::ArrowTable> table);

} // namespace headrace::exec
