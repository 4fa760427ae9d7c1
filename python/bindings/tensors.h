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

/// Of a tensor that stays on the ranks, what is in this process.
struct KeptTensor {
  std::string identity; ///< the same on all ranks that have a part
  plan::Element element = plan::Element::kF32;
  std::vector<int64_t> shape;          ///< of the whole
  std::vector<exec::TensorPart> parts; ///< of the ranks of this process, in their order
};

/// The tensors of a resident result.
std::vector<KeptTensor> keptOf(const exec::RunResult &result);

/// Throws Error if it is no tensor that stays on the ranks.
const KeptTensor &keptTensorOf(nanobind::handle object, const std::string &name);

/// A NumPy array that shares the result's memory.
nanobind::object arrayOf(const exec::TensorResult &tensor);

} // namespace headrace::python
