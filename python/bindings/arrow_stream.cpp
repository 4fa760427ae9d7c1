// PyCapsules around ArrowArrayStream.
#include "python/bindings/arrow_stream.h"

#include <nanobind/stl/string.h>
#include <optional>
#include <utility>

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

/// An object of Python with `write`. What it raises is kept for the caller.
class ObjectSink final : public storage::ByteSink {
public:
  explicit ObjectSink(nb::handle target) : target_(target) {}

  Status write(std::string_view bytes) override {
    nb::gil_scoped_acquire hold;
    try {
      target_.attr("write")(nb::bytes(bytes.data(), bytes.size()));
      return Status();
    } catch (nb::python_error &error) {
      raised_.emplace(std::move(error));
      // no test: what was raised is shown in its place
      return makeError(ErrorKind::kIo, "the target did not take the bytes");
    }
  }
  void rethrow() {
    if (raised_) {
      throw nb::python_error(std::move(*raised_));
    }
  }

private:
  nb::handle target_;
  std::optional<nb::python_error> raised_;
};

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

uint64_t writeParquet(nb::handle object, nb::handle target, const std::string &name,
                      const storage::ParquetOutput &output) {
  if (!nb::isinstance<nb::str>(target)) {
    ObjectSink sink(target);
    const auto rows = [&](ArrowArrayStream *stream) {
      return storage::writeParquet(stream, sink, output);
    };
    try {
      return valueOfStream(object, rows);
    } catch (...) {
      sink.rethrow();
      throw;
    }
  }
  const auto path = nb::cast<std::string>(target);
  return valueOfStream(object, [&](ArrowArrayStream *stream) -> Expected<uint64_t> {
    HR_ASSIGN_OR_RETURN(const auto file, storage::FileSink::open(path, name));
    HR_ASSIGN_OR_RETURN(const uint64_t rows, storage::writeParquet(stream, *file, output));
    HR_RETURN_IF_ERROR(file->close());
    return rows;
  });
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
