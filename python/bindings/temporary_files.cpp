// A file that is written piece by piece, and read by its descriptor.
#include "python/bindings/temporary_files.h"

#include "python/bindings/process.h"
#include "runtime/base/temporary_space.h"
#include "runtime/storage/files/open_file.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace headrace::python {

void useTemporarySpace(const std::map<std::string, std::string> &settings) {
  const Settings told = settingsOf({}, settings, {}, {});
  TemporarySpace::instance().use(told.spillDirectory, told.spillLimit);
}

void bindTemporaryFiles(nb::module_ &module) {
  nb::class_<storage::TemporaryFile>(module, "TemporaryFile",
                                     "A file without a name that counts against spillLimit.")
      .def_static(
          "make",
          [](std::string path, const std::map<std::string, std::string> &settings) {
            useTemporarySpace(settings);
            return valueOf(storage::TemporaryFile::make(std::move(path)));
          },
          nb::arg("path"), nb::arg("settings"), "path: of the file that it is a copy of.")
      .def(
          "write",
          [](storage::TemporaryFile &file, nb::handle bytes) {
            Py_buffer view;
            if (PyObject_GetBuffer(bytes.ptr(), &view, PyBUF_SIMPLE) != 0) {
              throw nb::python_error();
            }
            const Status status = [&] {
              nb::gil_scoped_release release;
              return file.append(
                  {static_cast<const char *>(view.buf), static_cast<size_t>(view.len)});
            }();
            PyBuffer_Release(&view);
            if (!status.ok()) {
              raise(status);
            }
          },
          nb::arg("bytes"), "Behind what was written before. bytes: anything that has some.")
      .def_prop_ro("descriptor", &storage::TemporaryFile::descriptor,
                   "The file is gone when this object is, and all that maps it.");
}

} // namespace headrace::python
