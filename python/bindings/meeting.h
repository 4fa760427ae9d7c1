// The class `_runtime.Meeting`.
#pragma once

#include <nanobind/nanobind.h>

namespace headrace::python {

void addMeeting(nanobind::module_ &module);

} // namespace headrace::python
