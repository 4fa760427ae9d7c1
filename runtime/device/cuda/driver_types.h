// The part of the CUDA driver API that headrace uses, declared anew so that it builds without the
// toolkit. test/python/gpu/test_driver_header.py compares it with cuda.h where that is installed.
#pragma once

#include <cstddef>

namespace headrace::cuda {

using Result = int; ///< CUresult
constexpr Result kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kDeinitialized = 4,
                 kNoDevice = 100, kInvalidContext = 201, kEccUncorrectable = 214, kInvalidPtx = 218,
                 kNvlinkUncorrectable = 220, kInvalidHandle = 400, kNotFound = 500, kNotReady = 600,
                 kIllegalAddress = 700, kLaunchTimeout = 702, kContextIsDestroyed = 709,
                 kAssert = 710, kHardwareStackError = 714, kIllegalInstruction = 715,
                 kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718,
                 kLaunchFailed = 719, kNotSupported = 801, kUnknown = 999;

using DeviceNumber = int;                   ///< CUdevice
using Address = unsigned long long;         ///< CUdeviceptr
using Context = struct ContextRecord *;     ///< CUcontext
using Module = struct ModuleRecord *;       ///< CUmodule
using Function = struct FunctionRecord *;   ///< CUfunction
using Stream = struct StreamRecord *;       ///< CUstream
using Signal = struct SignalRecord *;       ///< CUevent
using Pool = struct PoolRecord *;           ///< CUmemoryPool
using Graph = struct GraphRecord *;         ///< CUgraph
using GraphExec = struct GraphExecRecord *; ///< CUgraphExec

/// CUdevice_attribute
enum class DeviceAttribute : int {
  kMultiprocessors = 16,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMemoryPools = 115,
};
/// CUfunction_attribute
enum class FunctionAttribute : int {
  kThreadsMax = 0,
  kSharedBytes = 1,
  kLocalBytes = 3,
  kRegisters = 4
};
/// CUjit_option
enum class JitOption : int { kErrorLog = 5, kErrorLogBytes = 6 };
/// CUmemPool_attribute
enum class PoolAttribute : int { kReleaseThreshold = 4 };

constexpr unsigned kStreamNonBlocking = 1;  ///< CU_STREAM_NON_BLOCKING
constexpr unsigned kEventWithoutTiming = 2; ///< CU_EVENT_DISABLE_TIMING
constexpr int kCaptureThreadLocal = 1;      ///< CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

/// CUmemPoolProps
struct PoolProperties {
  int allocationType = 1; ///< CU_MEM_ALLOCATION_TYPE_PINNED
  int handleTypes = 0;
  int locationType = 1; ///< CU_MEM_LOCATION_TYPE_DEVICE
  int locationId = 0;
  void *securityAttributes = nullptr;
  size_t maxSize = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

} // namespace headrace::cuda
