// Engine: what moves the bytes of several links at once.
#pragma once

#include "runtime/transport/landing.h"

namespace headrace {

/// Thread-safety: poll() of one thread at a time, beside the links that it serves.
class Engine {
public:
  virtual ~Engine() = default;
  /// Readable when poll() is wanted.
  virtual int descriptor() const = 0;
  /// Moves what can be moved, and takes in what has come.
  virtual void poll(Landing &landing) = 0;
};

} // namespace headrace
