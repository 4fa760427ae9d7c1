// PyCapsules around ArrowArrayStream.
#include "python/bindings/arrow_stream.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

constexpr const char *kCapsuleName = "arrow_array_stream";

void destroyCapsule(PyObject *capsule) {
  auto *stream = static_cast<ArrowArrayStream *>(PyCapsule_GetPointer(capsule, kCapsuleName));
  if (stream->release) {
    stream->release(stream);
  }
  delete stream;
}

} // namespace

namespace {

/// What `read` makes of the stream of an object that has `__arrow_c_stream__`.
template <typename Read> auto valueOfStream(nb::handle object, Read read) {
  nb::object capsule = object.attr("__arrow_c_stream__")();
  auto *stream = static_cast<ArrowArrayStream *>(PyCapsule_GetPointer(capsule.ptr(), kCapsuleName));
  if (!stream) {
    throw nb::python_error();
  }
  // A producer in Python takes the GIL itself when it is asked for batches.
  auto made = [&] {
    nb::gil_scoped_release release;
    return read(stream);
  }();
  if (!made.ok()) {
    raise(made.status());
  }
  return *made;
}

} // namespace

std::shared_ptr<const storage::ArrowTable> importStream(nb::handle object) {
  return valueOfStream(object, &storage::ArrowTable::import);
}

Expected<std::shared_ptr<const storage::ArrowTable>>
importRows(std::shared_ptr<const exec::ResultRows> rows) {
  ArrowArrayStream stream;
  HR_RETURN_IF_ERROR(exec::exportStream(std::move(rows), &stream));
  return storage::ArrowTable::import(&stream);
}

uint64_t writeCsv(nb::handle object, const storage::CsvOutput &output) {
  return valueOfStream(object,
                       [&](ArrowArrayStream *stream) { return storage::writeCsv(stream, output); });
}

ErrorKind errorKindNamed(std::string_view name) {
  for (int each = 1; each <= static_cast<int>(ErrorKind::kInternal); ++each) {
    if (name == errorKindName(static_cast<ErrorKind>(each))) {
      return static_cast<ErrorKind>(each);
    }
  }
  return ErrorKind::kOk;
}

nb::capsule exportCapsule(std::shared_ptr<const exec::ResultRows> table, exec::ChunkRange chunks) {
  auto stream = std::make_unique<ArrowArrayStream>();
  if (Status status = exec::exportStream(std::move(table), stream.get(), chunks); !status.ok()) {
    raise(status);
  }
  PyObject *capsule = PyCapsule_New(stream.release(), kCapsuleName, destroyCapsule);
  if (!capsule) {
    throw nb::python_error();
  }
  return nb::steal<nb::capsule>(capsule);
}

} // namespace headrace::python
