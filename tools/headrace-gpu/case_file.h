// Case: one program of the bundle, with its inputs and what must come out, read from its folder.
//
//   NAME/case.json     what it is, the kernels' manifest, tables, steps, expectations, figure
//   NAME/kernels.ptx   for GPUs
//   NAME/kernels.so    for the emulation
//   NAME/data.bin      columns and tensors, by offsets in case.json
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"
#include "tools/headrace-gpu/device_arena.h"

namespace headrace::gpu {

using Json = nlohmann::ordered_json;

/// Values of a column, in the case's data: of the physical type, texts as offsets and bytes.
struct CaseColumn {
  std::string name;
  HrType type;
  Bytes data;
  Bytes heap;
  Bytes validity; ///< a bit a row; empty: all valid
};

struct CaseTable {
  uint32_t rows = 0;
  std::vector<CaseColumn> columns;
  const CaseColumn *find(const std::string &name) const;
};

/// Purpose: a case as it was written. Ownership: owns its data; tables point into it.
struct Case {
  std::string name;
  Json document;
  std::vector<std::byte> data;
  std::vector<std::byte> ptx, emulation;
  std::map<std::string, CaseTable> tables;

  /// The entry of this name in a list of the manifest ("kernels" by "symbol", "states" by "name").
  const Json *kernel(const std::string &symbol) const;
  const Json *state(const std::string &name) const;
  Bytes slice(const Json &entry, const char *offset, const char *bytes) const;
};

Expected<std::unique_ptr<Case>> readCase(const std::filesystem::path &folder);
Expected<std::vector<std::byte>> readFile(const std::filesystem::path &path);
/// Names of all cases of a bundle, in order.
std::vector<std::string> caseNames(const std::filesystem::path &bundle);

} // namespace headrace::gpu
