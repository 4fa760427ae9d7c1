// Copies of files for readers of Python, where those of the runtime lie.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>

namespace headrace::python {

/// From now on copies lie where settings by name have it, over those of the environment. Throws
/// Error.
void useTemporarySpace(const std::map<std::string, std::string> &settings);

void bindTemporaryFiles(nanobind::module_ &module);

} // namespace headrace::python
