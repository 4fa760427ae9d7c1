// Tables in and out of Python through the Arrow C stream interface (PyCapsules).
#pragma once

#include "runtime/exec/arrow_export.h"
#include "runtime/exec/program.h"
#include "runtime/storage/arrow/arrow_table.h"
#include "runtime/storage/csv/csv_writer.h"
#include "runtime/storage/parquet/write/file_writer.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>

namespace headrace::python {

/// Reads what has `__arrow_c_stream__` to its end. Throws Error (see runtime_module.cpp).
std::shared_ptr<const storage::ArrowTable> importStream(nanobind::handle object);

/// The rows as a table, not copied. Without the GIL.
Expected<std::shared_ptr<const storage::ArrowTable>>
importRows(std::shared_ptr<const exec::ResultRows> rows);

/// Writes what has `__arrow_c_stream__` as CSV; the number of rows. Throws Error.
uint64_t writeCsv(nanobind::handle object, const storage::CsvOutput &output);

/// Writes what has `__arrow_c_stream__` as a Parquet file to a path, or to an object with `write`;
/// the number of rows. name: of the file in messages. Throws Error, or what `write` raises.
uint64_t writeParquet(nanobind::handle object, nanobind::handle target, const std::string &name,
                      const storage::ParquetOutput &output);

/// A capsule "arrow_array_stream" over the table, or these chunks of it. Throws Error.
nanobind::capsule exportCapsule(std::shared_ptr<const exec::ResultRows> table,
                                exec::ChunkRange chunks = {});

/// The kind of error of this name, which Python's exceptions carry; kOk of others.
ErrorKind errorKindNamed(std::string_view name);

/// Raises the status as the module's Error, with `kind` and `place`.
[[noreturn]] void raise(const Status &status);

} // namespace headrace::python
