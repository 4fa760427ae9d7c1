// What programs that print times share.
#pragma once

#include "runtime/base/status.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace headrace {

inline double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] inline void fail(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}

template <typename T> T take(Expected<T> result) {
  if (!result.ok()) {
    fail(result.status().toString());
  }
  return std::move(*result);
}

} // namespace headrace
