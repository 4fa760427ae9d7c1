// Arrow's writer behind a Status.
#include "runtime/storage/arrow/ipc_file.h"

#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>

namespace headrace::storage {
namespace {

arrow::Status write(ArrowArrayStream *stream, const std::string &path) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ImportRecordBatchReader(stream));
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::FileOutputStream::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(file, reader->schema()));
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (!batch) {
      break;
    }
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return file->Close();
}

} // namespace

Status writeIpcFile(ArrowArrayStream *stream, const std::string &path) {
  arrow::Status status = write(stream, path);
  return status.ok() ? Status()
                     : makeError(ErrorKind::kIo, "cannot write ", path, ": ", status.message());
}

} // namespace headrace::storage
