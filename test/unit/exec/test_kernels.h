// Kernels written by hand against the ABI, on columns of 64-bit integers.
#pragma once

#include "runtime/exec/kernel/kernels.h"

#include <cstdint>
#include <memory>

namespace headrace::exec {
/// Symbols (states and columns in the order of the kernel's arguments):
///   sum          column 0 -> scalar {sum, count}            merge_sum, emit_sum (-> sum, count)
///   group        key, value -> group table {key, sum}       merge_group, emit_group (-> key, sum)
///   build        key, payload -> join table {key, payload}
///   probe        key; join table -> key, payload
///   partition    key, value -> output of the rank of key
///   copy         column 0, column 1 -> the same
///   sort         column 0 -> sort buffer {key}              emit_sort (-> key)
///   fail         like copy; HR_ERROR_DIVISION_BY_ZERO, place 1, where column 0 is 13
///   misbehave    what no kernel does, by column 0: 1 another result, 2 another output is full,
///                3 an error that nobody set
///   describe     key -> key, string "row <key>" or NULL where key % 3 == 0, bool key is odd
///   undescribe   those three columns -> key, value: the string's number (-1 for NULL) * 2 + bool
///   twice        tensor kernel: column 1 = 2 * column 0 (f64)
std::shared_ptr<const KernelLibrary> testKernels();
uint64_t testHash(uint64_t key);
} // namespace headrace::exec
