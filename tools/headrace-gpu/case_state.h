// CaseState: a state of a program in the device's memory, and its rows as JSON.
#pragma once

#include "tools/headrace-gpu/case_file.h"

namespace headrace::gpu {

/// Purpose: memory of a state as runtime/abi/device_kernel.h says, for so many rows; for joins
/// first the buffer of rows, then the table that a kernel links. Ownership: the memory is the
/// arena's.
class CaseState {
public:
  /// `layout` is the manifest's, and outlives this.
  CaseState(DeviceArena &arena, const Json &layout, uint64_t capacity);

  const std::string &name() const { return name_; }
  uint64_t capacity() const { return capacity_; }
  /// What HrArgs.states has.
  uint64_t head() const { return head_; }
  bool needsLink() const { return isJoin_ && !linked_; }
  /// Makes the rows gathered so far a table, whose directory the kernel link_NAME fills.
  void makeTable();
  /// Rows gathered; reads the device.
  uint64_t count();
  /// HrMorsel.stateRows.
  uint64_t rowPointers();
  /// Its rows, of these fields each, as valueOf gives them.
  std::vector<Json> rows(const std::vector<std::string> &fields);
  /// The combine of a field ("sum"), or an empty text if there is no such field.
  std::string combineOf(const std::string &field) const;

private:
  DeviceArena &arena_;
  const Json &layout_;
  const std::string name_;
  const uint64_t capacity_, rowBytes_;
  const bool isScalar_, isGroup_, isJoin_;
  bool linked_ = false;
  uint64_t rows_ = 0, store_ = 0, head_ = 0;
};

/// A value in the device's form as JSON: integers and texts as strings (128 bits fit no number of
/// JSON's), floats as numbers.
Json valueOf(DeviceArena &arena, HrType type, const std::byte *value);

} // namespace headrace::gpu
