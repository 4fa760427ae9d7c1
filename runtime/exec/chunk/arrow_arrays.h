// Arrow arrays that hold on to what they are made of, and those of lists, structs and maps.
#pragma once

#include "runtime/base/status.h"
#include "runtime/exec/chunk/arrow_abi.h"
#include "runtime/exec/chunk/chunk.h"

#include <string>
#include <vector>

namespace headrace::exec {

/// How a column leaves: Arrow's format string and the bytes of one value (0: strings, bools and
/// what is nested).
struct ArrowType {
  std::string format;
  uint32_t width = 0;
  std::vector<ArrowType> children; ///< of a list, struct or map
  std::string name = "l";          ///< of a child; an element is called as DuckDB calls it
  bool nullable = true;            ///< of a child
  uint32_t size = 0;               ///< of an array: how many elements each has
  bool isUnsigned128 = false;      ///< bytes, of which the format's integers are made
  std::vector<std::string> values; ///< of an enum: its dictionary, into which integers point
};

/// The format of intervals: months, days and nanoseconds.
inline constexpr const char *kArrowInterval = "tin";
/// The format of integers of 128 bits, some of which have a digit more than it says.
inline constexpr const char *kArrowHugeint = "d:38,0";

/// The format of UUIDs, 16 bytes each, which an extension says that they are.
inline constexpr const char *kArrowUuid = "w:16";

/// What an array points to.
struct ArrayHolder {
  ChunkHandle chunk;
  std::vector<uint8_t> converted, validity, texts;
  const void *buffers[3] = {};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray *> pointers;
  ArrowArray dictionary = {}; ///< of an enum
};

/// Makes the array own the holder, whose buffers and children are set.
void fillArray(ArrowArray &array, ArrayHolder *holder, uint32_t rows, int64_t buffers);

/// The packed lists, structs, maps, intervals, ui128 or UUIDs of a chunk's column as an array.
/// Fails with kData for one that Arrow does not hold; the array is there all the same.
Status exportNested(const HrSegment &segment, uint32_t rows, const ArrowType &type,
                    ArrowArray &out);

} // namespace headrace::exec
