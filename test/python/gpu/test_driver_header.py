"""What runtime/device/cuda declares of the CUDA driver is what cuda.h declares."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TYPES = "runtime/device/cuda/driver_types.h"

#: Constants of driver_types.h, in namespace headrace::cuda, beside those of cuda.h.
CONSTANTS = {
    "kSuccess": "CUDA_SUCCESS",
    "kInvalidValue": "CUDA_ERROR_INVALID_VALUE",
    "kOutOfMemory": "CUDA_ERROR_OUT_OF_MEMORY",
    "kDeinitialized": "CUDA_ERROR_DEINITIALIZED",
    "kNoDevice": "CUDA_ERROR_NO_DEVICE",
    "kInvalidContext": "CUDA_ERROR_INVALID_CONTEXT",
    "kEccUncorrectable": "CUDA_ERROR_ECC_UNCORRECTABLE",
    "kInvalidPtx": "CUDA_ERROR_INVALID_PTX",
    "kNvlinkUncorrectable": "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "kInvalidHandle": "CUDA_ERROR_INVALID_HANDLE",
    "kNotFound": "CUDA_ERROR_NOT_FOUND",
    "kNotReady": "CUDA_ERROR_NOT_READY",
    "kIllegalAddress": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "kLaunchTimeout": "CUDA_ERROR_LAUNCH_TIMEOUT",
    "kContextIsDestroyed": "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "kAssert": "CUDA_ERROR_ASSERT",
    "kHardwareStackError": "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "kIllegalInstruction": "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "kMisalignedAddress": "CUDA_ERROR_MISALIGNED_ADDRESS",
    "kInvalidAddressSpace": "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "kInvalidPc": "CUDA_ERROR_INVALID_PC",
    "kLaunchFailed": "CUDA_ERROR_LAUNCH_FAILED",
    "kNotSupported": "CUDA_ERROR_NOT_SUPPORTED",
    "kUnknown": "CUDA_ERROR_UNKNOWN",
    "kStreamNonBlocking": "CU_STREAM_NON_BLOCKING",
    "kCaptureThreadLocal": "CU_STREAM_CAPTURE_MODE_THREAD_LOCAL",
    "kEventWithoutTiming": "CU_EVENT_DISABLE_TIMING",
    "DeviceAttribute::kMultiprocessors": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
    "DeviceAttribute::kMemoryClockKilohertz": "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE",
    "DeviceAttribute::kMemoryBusBits": "CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH",
    "DeviceAttribute::kCapabilityMajor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "DeviceAttribute::kCapabilityMinor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "DeviceAttribute::kMemoryPools": "CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED",
    "FunctionAttribute::kThreadsMax": "CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK",
    "FunctionAttribute::kSharedBytes": "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES",
    "FunctionAttribute::kLocalBytes": "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
    "FunctionAttribute::kRegisters": "CU_FUNC_ATTRIBUTE_NUM_REGS",
    "JitOption::kErrorLog": "CU_JIT_ERROR_LOG_BUFFER",
    "JitOption::kErrorLogBytes": "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES",
    "PoolAttribute::kReleaseThreshold": "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD",
}

#: Signatures are alike if each parameter is of the same size and both or neither are pointers.
PROGRAM = """
#define __CUDA_API_VERSION_INTERNAL // the plain names are the first versions, as libcuda exports them
#include <cuda.h>
#include <type_traits>
#include "runtime/device/cuda/driver_types.h"
template <class A, class B> constexpr bool kAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class A, class B> constexpr bool kSame = false;
template <class... A, class... B> constexpr bool kSame<CUresult (*)(A...), int (*)(B...)> = [] {
  if constexpr (sizeof...(A) == sizeof...(B)) { return (kAlike<A, B> && ...); }
  return false;
}();
namespace headrace::cuda {
"""


@pytest.fixture(scope="module")
def header() -> Path:
    spec = importlib.util.find_spec("nvidia.cu13") if importlib.util.find_spec("nvidia") else None
    for folder in (spec and spec.submodule_search_locations) or []:
        if (Path(folder) / "include" / "cuda.h").exists():
            return Path(folder) / "include"
    pytest.skip("no cuda.h")


def test_all_constants_are_compared() -> None:
    text = (ROOT / TYPES).read_text()
    declared = set(re.findall(r"\bk[A-Z]\w+(?= = )", text))
    assert declared == {name.split("::")[-1] for name in CONSTANTS}


def compiles(program: str, header: Path, tmp_path: Path) -> str:
    source = tmp_path / "compare.cpp"
    source.write_text(program)
    command = ["clang++-22", "-std=c++20", "-fsyntax-only", f"-I{ROOT}", "-isystem", str(header), str(source)]
    return subprocess.run(command, check=False, capture_output=True, text=True).stderr


def comparison() -> str:
    lines = [f"static_assert(long({ours}) == long({theirs}));" for ours, theirs in CONSTANTS.items()]
    calls = (ROOT / "runtime/device/cuda/driver.def").read_text()
    found = re.findall(r"^HR_DRIVER_CALL\((\w+), (\w+), \((.*)\)\)$", calls, re.MULTILINE)
    assert len(found) > 40
    lines += [
        f"static_assert(kSame<decltype(&::{symbol}), Result (*)({parameters})>);"
        for _, symbol, parameters in found
    ]
    lines += ["static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));"]
    for ours, theirs in [
        ("allocationType", "allocType"),
        ("locationType", "location"),
        ("maxSize", "maxSize"),
        ("usage", "usage"),
    ]:
        lines.append(
            f"static_assert(__builtin_offsetof(PoolProperties, {ours}) == "
            f"__builtin_offsetof(CUmemPoolProps, {theirs}));"
        )
    lines += [
        "static_assert(PoolProperties().allocationType == CU_MEM_ALLOCATION_TYPE_PINNED);",
        "static_assert(PoolProperties().locationType == CU_MEM_LOCATION_TYPE_DEVICE);",
    ]
    return PROGRAM + "\n".join(lines) + "\n}\n"


def test_declarations_are_those_of_the_toolkit(header: Path, tmp_path: Path) -> None:
    assert compiles(comparison(), header, tmp_path) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("long(kNotReady)", "long(kNotFound)"),
        ("(int *version)", "(int version)"),
        ("(size_t *bytes, DeviceNumber device)", "(size_t *bytes)"),
    ],
)
def test_the_comparison_finds_a_difference(right: str, wrong: str, header: Path, tmp_path: Path) -> None:
    assert right in comparison()
    assert "static assertion failed" in compiles(comparison().replace(right, wrong), header, tmp_path)
