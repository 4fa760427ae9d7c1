// CaseRun: the steps of a case on a device, and whether what came out is what was expected.
#pragma once

#include "tools/headrace-gpu/case_state.h"
#include "tools/headrace-gpu/place_columns.h"

namespace headrace::gpu {

/// How a case is run: threads 0 are the most of each kernel.
struct CaseShape {
  Form form = Form::kPlain;
  uint32_t blocks = 1;
  uint32_t threads = 0;
  std::string text() const;
};

/// A kernel of a case, ready to be launched as often as one likes.
struct PreparedLaunch {
  Kernel kernel;
  uint32_t threads = 0;
  uint64_t args = 0;   ///< HrArgs in the device
  uint64_t device = 0; ///< HrDevice in the device
};

/// Purpose: one run of a case, in an arena of its own. Lifetime: within the case's and the
/// module's.
class CaseRun {
public:
  /// `pages` are for columns in pages.
  CaseRun(const Case &example, KernelModule &module, const PageKernels &pages, DeviceArena &arena,
          CaseShape shape, uint64_t repeated = 1)
      : case_(example), module_(module), pages_(pages), arena_(arena), shape_(shape),
        repeated_(repeated) {}

  /// All steps, then the comparison. An empty text, or what is wrong.
  Expected<std::string> run();
  /// One kernel of the manifest over its table or state, with states made as they are first named.
  Expected<PreparedLaunch> prepare(const Json &step);
  Status launch(const PreparedLaunch &prepared);
  /// What differs from what is expected of states, now.
  Expected<std::string> difference();

private:
  Expected<std::string> runTensor(const Json &step);
  Expected<std::string> runStep(const Json &step);
  Expected<CaseState *> stateFor(const std::string &layout, const std::string &name,
                                 uint64_t capacity);
  Status link(CaseState &state);
  uint64_t putLiterals(const Json &kernel, Bytes given = {});
  Expected<uint64_t> placeOutputs(const Json &kernel, uint64_t capacity);
  Status readOutputs(const Json &kernel, uint64_t capacity, uint64_t rows);
  uint64_t rowsOf(const Json &kernel, const Json &step);
  std::string errorOf(uint64_t device);

  const Case &case_;
  KernelModule &module_;
  const PageKernels &pages_;
  DeviceArena &arena_;
  const CaseShape shape_;
  const uint64_t repeated_;
  std::map<std::string, std::unique_ptr<CaseState>> states_;
  uint64_t outputColumns_ = 0, output_ = 0, outputRoom_ = 0;
  std::vector<Json> outputRows_;
};

} // namespace headrace::gpu
