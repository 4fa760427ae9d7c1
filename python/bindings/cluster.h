// The class `_runtime.Cluster`.
#pragma once

#include <nanobind/nanobind.h>

namespace headrace::python {

void addCluster(nanobind::module_ &module);

} // namespace headrace::python
