// The table of functions the loader hands to every kernel object, made from imports.def.
#pragma once

#include "runtime/abi/kernel.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

extern "C" {
/// One pointer per entry of imports.def, in its order. Filled by exec; never changes while kernels
/// run. A member is named after its function with a trailing underscore (memcpy_ …).
struct HrImports {
#define HR_IMPORT(result, name, parameters) result(*name##_) parameters;
#include "runtime/abi/imports.def"
#undef HR_IMPORT
};
}

namespace headrace::abi {

/// What the compiler needs to call an import: its name, its slot in the table, and its types as
/// codes: v void, i 32-bit, l 64-bit, q 128-bit integer, d double, p pointer. codes[0] is the
/// result.
struct Import {
  const char *name;
  size_t slot;
  char codes[12];
};

namespace detail {
template <typename T> constexpr char typeCode() {
  if constexpr (std::is_void_v<T>) {
    return 'v';
  } else if constexpr (std::is_pointer_v<T>) {
    return 'p';
  } else if constexpr (std::is_same_v<T, double>) {
    return 'd';
  } else {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
    return sizeof(T) == 4 ? 'i' : sizeof(T) == 8 ? 'l' : 'q';
  }
}
template <typename R, typename... A>
constexpr Import makeImport(const char *name, size_t slot, R (*)(A...)) {
  return Import{name, slot, {typeCode<R>(), typeCode<A>()..., '\0'}};
}
} // namespace detail

inline constexpr Import kImports[] = {
#define HR_IMPORT(result, name, parameters)                                                        \
  detail::makeImport(#name, offsetof(HrImports, name##_) / sizeof(void *),                         \
                     static_cast<result(*) parameters>(nullptr)),
#include "runtime/abi/imports.def"
#undef HR_IMPORT
};

/// Hash of names, order and types: a plan records the one it was compiled against.
constexpr uint64_t importsHash() {
  uint64_t hash = 0xcbf29ce484222325ull ^ HR_ABI_VERSION;
  for (const Import &entry : kImports) {
    for (const char *text : {entry.name, entry.codes}) {
      for (; *text; ++text) {
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3ull;
      }
      hash = (hash ^ 0xff) * 0x100000001b3ull;
    }
  }
  return hash;
}

} // namespace headrace::abi
