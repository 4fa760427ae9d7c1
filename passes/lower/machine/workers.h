// Threads that the phase may use beside its own. Those of the driver survive what kills a compiler.
#pragma once

#include <cstddef>
#include <functional>

namespace headrace::lower {

class Workers {
public:
  virtual ~Workers() = default;
  /// `piece` runs once, on any thread, at the latest in `finish`; heavy ones before light ones.
  /// What it refers to must be its own: it may outlive its maker, if that dies.
  virtual void add(size_t weight, std::function<void()> piece) = 0;
  /// Takes part in what is left, and waits for the rest. False: a piece died, and what it worked on
  /// is half done, or was left out since nobody waits for it any more.
  virtual bool finish() = 0;
};

} // namespace headrace::lower
