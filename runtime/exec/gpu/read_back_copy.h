// ReadBackCopy: a state that a GPU has filled, on the host.
#pragma once

#include "runtime/exec/gpu/device_state.h"
#include "runtime/exec/rows/state_copy.h"

#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: a copy as lanes fill them, to be merged, sorted and read like those; nobody adds rows.
/// Its rows lie in pinned memory, as the device had them.
class ReadBackCopy final : public StateCopy {
public:
  /// `image` has arrived. `account` pays for it.
  ReadBackCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account,
               DeviceState::Image image);
  ~ReadBackCopy() override;

  /// Strings of rows [first, first + count) point to the device until then. kCorrupt if one points
  /// to where no strings are.
  Status adopt(uint64_t first, uint64_t count);

  void *abi() override;
  uint64_t rowCount() const override { return image_.rows; }
  std::vector<RowSpan> spans() const override { return {{image_.rowBegin(), image_.rows}}; }

private:
  DeviceState::Image image_;
  HrScalarState scalar_{};
  HrGroupTable group_{};
  HrRowBuffer rows_{};
};

} // namespace headrace::exec
