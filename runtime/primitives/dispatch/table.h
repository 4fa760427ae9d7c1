// What one instruction set provides. Each of isa/{baseline,v3,v4}.cpp defines one of these from the
// same bodies.
#pragma once

#include "runtime/abi/imports.h"
#include "runtime/primitives/dispatch/isa.h"

namespace headrace::primitives {

struct SnappyBlock;
struct IntegerRange;
enum class StoredInteger : uint8_t;

struct IsaPrimitives {
  /// Sets the entries of decode, select and string search.
  void (*fill)(HrImports *table);
  bool (*snappy)(const SnappyBlock *blocks, uint64_t count);
  IntegerRange (*narrow)(StoredInteger stored, const void *values, uint64_t count, HrType target,
                         void *out);
  bool (*isUtf8)(const uint8_t *bytes, uint64_t count);
};

extern const IsaPrimitives kBaselinePrimitives;
extern const IsaPrimitives kV3Primitives;
/// Needs AVX-512 VBMI and VBMI2 beyond x86-64-v4.
extern const IsaPrimitives kV4Primitives;

/// The table that serves an Isa on this processor (v4 without VBMI is served by v3's).
const IsaPrimitives &isaPrimitives(Isa isa);

} // namespace headrace::primitives
