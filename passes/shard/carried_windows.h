// Windows without partition keys on many ranks, each of which has a range of their order: what a
// rank must know of the others' rows.
#ifndef HEADRACE_PASSES_SHARD_CARRIED_WINDOWS_H
#define HEADRACE_PASSES_SHARD_CARRIED_WINDOWS_H

#include "dialects/frame/FrameOps.h"

namespace headrace::shard {

/// What a function's value takes beside what it gives over the rank's own rows.
enum class Carry : uint8_t {
  kNothing, ///< the frame ends within the row's peers
  kPlaces,  ///< how many rows, or groups of peers, the ranks before have, or all
  kBefore,  ///< what the rows of the ranks before fold to
  kAfter,   ///< likewise of those behind
  kAll,     ///< what all rows fold to
  kFirst,   ///< the value of the very first row
  kLast,    ///< likewise of the last
  kKnown,   ///< the first value, or the last, that is not NULL of the ranks before, behind, or all
  kNear,    ///< a constant number of rows before the rank's first, or behind its last
  kHalo,    ///< rows of other ranks that its rows may see, which depend on the data
};

/// Nothing: the function needs all rows on one rank.
std::optional<Carry> carryOf(frame::WindowFunctionAttr function, mlir::ArrayAttr order,
                             mlir::Type result);
/// Of kNear: how far a row looks back and ahead.
struct NearRows {
  int64_t before = 0;
  int64_t after = 0;
};
NearRows nearRowsOf(frame::WindowFunctionAttr function);
/// Which rows of a rank the others' may see, of kHalo.
enum class Halo : uint8_t {
  kRange,    ///< those between the least start of a frame behind and the greatest end before
  kGroups,   ///< some of the first groups of peers, and of the last
  kKnown,    ///< some of the first rows whose value is not NULL, and of the last
  kFirst,    ///< some of the first rows, or of those whose value is not NULL
  kDistinct, ///< one of each value
};
std::optional<Halo> haloOf(frame::WindowFunctionAttr function, mlir::ArrayAttr order);
/// Of kGroups and kKnown: how many groups, or values, a row looks back and ahead. Of kFirst: how
/// many rows are looked at, as `after`.
NearRows haloRowsOf(frame::WindowFunctionAttr function, Halo halo);

/// Whether rows, with some of other ranks, are put in order once more than their own.
bool isComputedTwice(frame::WindowOp window);

/// Whether the window can be computed where each rank has a range of its order; without an order,
/// any of the rows.
bool canBeCarried(frame::WindowOp window);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_CARRIED_WINDOWS_H
