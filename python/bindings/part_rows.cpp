// The writers themselves are Python's: part_files.py.
#include "python/bindings/part_rows.h"

#include "python/bindings/arrow_stream.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace headrace::python {
namespace {

Status statusOf(const nb::python_error &error) {
  if (nb::hasattr(error.value(), "kind")) {
    const auto name = nb::cast<std::string>(error.value().attr("kind"));
    if (const ErrorKind kind = errorKindNamed(name); kind != ErrorKind::kOk) {
      return {kind, nb::str(error.value()).c_str()};
    }
  }
  return makeError(error.matches(PyExc_KeyboardInterrupt) ? ErrorKind::kCancelled
                                                          : ErrorKind::kInternal,
                   error.what());
}

} // namespace

Expected<std::string> writePart(const std::string &sink, int rank, PartRows rows,
                                const nb::object &poll) {
  nb::gil_scoped_acquire acquire;
  try {
    nb::object write = nb::module_::import_("headrace._src.part_files").attr("write_part");
    return nb::cast<std::string>(write(sink, rank, std::move(rows), poll));
  } catch (const nb::python_error &error) {
    return statusOf(error);
  }
}

void bindPartRows(nb::module_ &module) {
  nb::class_<PartRows>(module, "Rows",
                       "What one rank has of a result; take it with pyarrow.table(rows).")
      .def(
          "__arrow_c_stream__",
          [](const PartRows &part, nb::handle) { return exportCapsule(part.rows, part.chunks); },
          nb::arg("requested_schema") = nb::none())
      .def_prop_ro(
          "count", [](const PartRows &part) { return part.rows->rowCount(); },
          "How many rows it has.")
      .def_prop_ro(
          "chunks", [](const PartRows &part) { return part.rows->chunkCount(); },
          "How many batches it has.")
      .def_ro("threads", &PartRows::threads, "How many threads the rank has for them.")
      .def(
          "slice",
          [](const PartRows &part, size_t begin, size_t end) {
            return PartRows{part.rows, 1, {begin, end}};
          },
          nb::arg("begin"), nb::arg("end"), "Batches of all of it, by their numbers.");
}

} // namespace headrace::python
