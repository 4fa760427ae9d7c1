// Columns of a case as kernels read them, in the device's memory.
#pragma once

#include "tools/headrace-gpu/case_file.h"

namespace headrace::gpu {

/// How the values of a column lie there.
enum class Form : uint8_t {
  kPlain,  ///< values; texts as offsets and bytes
  kCodes,  ///< indices of a dictionary
  kViews,  ///< values; texts as HrString
  kPages,  ///< as kCodes, which the device decodes from a page of Parquet's, NULLs too
  kWide,   ///< as kPlain, integers of 64 bits in the page, which the device makes narrower
  kStored, ///< as Parquet files have them: kCodes, but kPlain where a dictionary would be long
};
const char *nameOf(Form form);
Form formOf(const std::string &name);

/// The kernels of runtime/device/decode.
struct PageKernels {
  Kernel decodeCodes, packLevels, countLevels, sumChunks, spreadValues;
};

/// Puts columns of a case into the device's memory. Errors are the arena's.
class ColumnPlacer {
public:
  ColumnPlacer(DeviceArena &arena, const PageKernels &kernels, Form form, uint64_t repeated)
      : arena_(arena), kernels_(kernels), form_(form), repeated_(repeated) {}

  /// HrColumn[] for the columns of a kernel. `repeated` times the rows, by copies within the
  /// device. Fails with the arena's status, or if the table lacks a column.
  Expected<uint64_t> place(const CaseTable &table, const Json &columns);

private:
  HrColumn placeColumn(const CaseColumn &column, uint32_t rows);
  uint64_t putRepeated(Bytes bytes);
  /// What the first `bytes` are, so many times, one after the other.
  void repeat(uint64_t address, uint64_t bytes);
  /// The codes as a page has them, decoded by the device.
  uint64_t decodePage(const std::vector<uint32_t> &codes);
  /// Values of the rows that have one to all rows; `validity` is null, or gets the bitmap.
  uint64_t spread(const CaseColumn &column, uint32_t rows, uint64_t values, uint32_t from,
                  uint32_t to, const uint8_t **validity);
  void launch(const Kernel &kernel, uint64_t parameters, uint64_t rows);

  DeviceArena &arena_;
  const PageKernels &kernels_;
  const Form form_;
  const uint64_t repeated_;
};

/// Bytes of a row that a kernel reads of these columns (codes are of 4 bytes), without
/// dictionaries.
uint64_t rowBytes(const CaseTable &table, const Json &columns, Form form);

} // namespace headrace::gpu
