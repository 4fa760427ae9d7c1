// Names and text of errors.
#include "runtime/base/status.h"

namespace headrace {

const char *errorKindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::kOk:
    return "ok";
  case ErrorKind::kUser:
    return "user";
  case ErrorKind::kData:
    return "data";
  case ErrorKind::kMemory:
    return "memory";
  case ErrorKind::kUnsupported:
    return "unsupported";
  case ErrorKind::kIo:
    return "io";
  case ErrorKind::kCorrupt:
    return "corrupt";
  case ErrorKind::kMismatch:
    return "mismatch";
  case ErrorKind::kCancelled:
    return "cancelled";
  case ErrorKind::kInternal:
    return "internal";
  }
  return "unknown";
}

Status stoppedByUser() { return makeError(ErrorKind::kCancelled, "stopped by the user"); }

const std::string &Status::emptyText() {
  static const std::string empty;
  return empty;
}

std::string Status::toString() const {
  if (ok()) {
    return "ok";
  }
  std::string text = std::string(errorKindName(kind())) + " error: " + message();
  if (!place().empty()) {
    text += " (at " + place() + ")";
  }
  return text;
}

} // namespace headrace
