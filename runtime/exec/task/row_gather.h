// Rows of a tensor at places that another tensor has, cut into morsels for the workers.
#pragma once

#include "runtime/exec/task/tensor_buffer.h"
#include "runtime/exec/work/phased_job.h"

namespace headrace::exec {

/// The phase that copies what `from`, whole along its first dimension, has at each of the places;
/// negative ones count from the end. kData if one is out of bounds.
JobPhase gatherPhase(const TensorBuffer &from, const TensorBuffer &places, const TensorBuffer &to);

} // namespace headrace::exec
