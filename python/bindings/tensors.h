// Tensors in and out of Python without copies: DLPack or the buffer protocol in, NumPy arrays out.
#pragma once

#include "runtime/exec/program.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace headrace::python {

using TensorArgument = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// The caller's elements; valid while `array` lives. Throws Error for other elements than f32, f64,
/// i64.
exec::TensorView viewOf(const TensorArgument &array, const std::string &name);

/// A NumPy array that shares the result's memory.
nanobind::object arrayOf(const exec::TensorResult &tensor);

} // namespace headrace::python
