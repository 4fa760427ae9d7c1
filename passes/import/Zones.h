// Time zones by their names, read from files (TZif) as they are asked for.
#ifndef HEADRACE_PASSES_IMPORT_ZONES_H
#define HEADRACE_PASSES_IMPORT_ZONES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>

namespace headrace::import {

class Zones {
public:
  Zones() = default;
  /// `session`: the name of the session's zone; empty: UTC.
  Zones(std::string folder, std::string session)
      : folder_(std::move(folder)), session_(std::move(session)) {}

  /// The rules (runtime/base/zone_rules.h) of a name in any case; nothing if there is none.
  std::optional<std::string> rulesOf(llvm::StringRef name);
  /// Those of all names, as `packedZones` has them.
  const std::string &all();
  /// The name of the session's zone as it is spelt; empty: its clocks show UTC.
  llvm::StringRef session();

private:
  /// Likewise, from its file.
  std::optional<std::string> rulesRead(llvm::StringRef name);
  /// Names as they are spelt, by those in small letters.
  const llvm::StringMap<std::string> &names();

  std::string folder_, session_, all_;
  std::optional<std::string> spelt_;
  llvm::StringMap<std::string> names_;
  llvm::StringMap<std::optional<std::string>> rules_; ///< that were asked for
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_ZONES_H
