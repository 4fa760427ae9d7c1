// The first error of an import, and the locations of what it makes.
#include "passes/import/ImportContext.h"

#include "dialects/interfaces/SourcePlace.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::import;

std::string ImportError::text() const {
  return place.empty() ? message : message + ", at " + place;
}

LogicalResult ImportContext::fail(Location at, const Twine &message, ImportError::Kind kind) {
  if (hasError()) {
    return failure();
  }
  firstError.kind = kind;
  firstError.message = message.str();
  // The innermost place; what is around it are rendered expressions.
  Location place = at;
  while (auto name = dyn_cast<NameLoc>(place)) {
    if (isa<UnknownLoc>(name.getChildLoc())) {
      firstError.place = name.getName().str();
      return failure();
    }
    place = name.getChildLoc();
  }
  if (auto file = dyn_cast<FileLineColLoc>(place)) {
    auto stretch = stretches.find(LocationAttr(file));
    if (stretch != stretches.end()) {
      firstError.position = stretch->second.position;
      firstError.length = stretch->second.length;
    }
    firstError.place = std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  }
  return failure();
}

Location ImportContext::queryLocation(unsigned line, unsigned column, uint64_t position,
                                      uint64_t length) {
  auto location = FileLineColLoc::get(StringAttr::get(mlirContext, kQueryFile), line, column);
  stretches.try_emplace(LocationAttr(location), Stretch{position, length});
  return location;
}

Location ImportContext::named(StringRef text, Location place) const {
  // A long expression is told apart by its beginning; the place says the rest.
  constexpr size_t kTextMax = 200;
  size_t end = std::min(kTextMax, text.size());
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end; // not inside of a character
  }
  return NameLoc::get(StringAttr::get(mlirContext, text.take_front(end)), place);
}

LogicalResult NestingGuard::check(ImportContext &context, Location at) const {
  if (depth <= kDepthMax) {
    return success();
  }
  return context.fail(at,
                      "the query is nested too deeply, more than " + Twine(kDepthMax) + " levels");
}
