// What one rank has of a result, for those who write it where it lies.
#pragma once

#include "runtime/exec/arrow_export.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

namespace headrace::python {

/// Chunks of a rank's rows, for Python. Immutable.
struct PartRows {
  std::shared_ptr<const exec::ResultRows> rows;
  int threads = 1; ///< that the rank has for them
  exec::ChunkRange chunks = {};
};

/// Has Python write the rows as `sink` says; what it tells of them. Without the GIL. Errors are
/// those that it raises, with their kind.
Expected<std::string> writePart(const std::string &sink, int rank, PartRows rows,
                                const nanobind::object &poll);

void bindPartRows(nanobind::module_ &module);

} // namespace headrace::python
