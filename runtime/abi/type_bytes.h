// How many bytes a value of a physical type takes inside kernels and states.
#pragma once

#include "runtime/abi/kernel.h"

namespace headrace::abi {

/// 0 for what is no HrType.
constexpr uint32_t bytesOf(HrType type) {
  switch (type) {
  case HR_BOOL:
  case HR_I8:
    return 1;
  case HR_I16:
    return 2;
  case HR_I32:
  case HR_F32:
    return 4;
  case HR_I64:
  case HR_F64:
    return 8;
  case HR_I128:
  case HR_STRING:
    return 16;
  }
  return 0;
}

} // namespace headrace::abi
