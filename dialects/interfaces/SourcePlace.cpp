// Where in a user's program an op comes from.
#include "dialects/interfaces/SourcePlace.h"

using namespace mlir;

std::string headrace::sourcePlace(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    auto query = dyn_cast<FileLineColLoc>(name.getChildLoc());
    bool known = query && query.getFilename().getValue() == kQueryFile;
    std::string text = name.getName().str();
    if (known) {
      text += (text.empty() ? "" : ", ") + std::to_string(query.getLine()) + ":" +
              std::to_string(query.getColumn());
    }
    return text;
  }
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    return file.getFilename().str() + ":" + std::to_string(file.getLine());
  }
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    return sourcePlace(call.getCallee());
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      if (std::string text = sourcePlace(part); !text.empty()) {
        return text;
      }
    }
  }
  return "";
}
