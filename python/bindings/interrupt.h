// Python's part in what takes long: it is asked now and then whether to go on.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

namespace headrace::python {

/// Python's signal handlers run on the main thread when it is asked, and so does `poll`, unless it
/// is None. What they raise stays set on this thread, and is to be thrown behind what it stops.
/// `poll` outlives it.
std::function<bool()> interruptedBy(const nanobind::object &poll);

} // namespace headrace::python
