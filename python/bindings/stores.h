// `headrace._runtime`: files in stores, for what reads and writes them in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace headrace::python {

void bindStores(nanobind::module_ &module);

} // namespace headrace::python
