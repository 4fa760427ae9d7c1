// What rank 0 asks all ranks to run, and what they answer, as text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/settings.h"
#include "runtime/base/status.h"
#include "runtime/exec/table_paths.h"

namespace headrace::session {

/// Plans and kernels come from rank 0 alone.
struct Order {
  std::string call;        ///< what is called; the same on all ranks
  std::string plan;        ///< JSON
  std::string kernels;     ///< object file; empty if the plan has none
  std::string manifest;    ///< JSON, as in a plan's directory; empty: files are not compared
  exec::TablePaths tables; ///< by slot; paths that all ranks see
  /// Tables and tensors in memory, which each rank has itself: a print of their content, by slot;
  /// of a tensor that lies on the ranks, its identity.
  std::map<std::string, std::string> prints;
  /// Those that have to be the same on all ranks, by name.
  std::map<std::string, std::string> settings;
  std::string sink; ///< where the rows of a resident result go, for Part::keep; empty: they stay

  std::string pack() const;
  static Expected<Order> unpack(std::string_view text);

  /// Takes rank 0's values of them.
  Status setShared(const Settings &settings);
  /// A rank's settings with the values that are shared.
  Expected<Settings> applied(Settings own) const;
};

/// Texts one after another, each with its length.
std::string packTexts(const std::vector<std::string> &texts);
std::vector<std::string> unpackTexts(std::string_view packed);

/// Kind, message and place.
std::vector<std::string> textsOf(const Status &status);
Status statusOf(const std::vector<std::string> &texts);

} // namespace headrace::session
