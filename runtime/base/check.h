// HR_CHECK: a broken invariant ends the process, in release builds too.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace headrace {
/// The rank and task a thread works for, named when it dies. Set by exec; plain text, may be null.
inline thread_local const char *currentWork = nullptr;

[[noreturn]] inline void checkFailed(const char *condition, const char *file, int line) {
  std::fprintf(stderr, "headrace: broken invariant at %s:%d: %s%s%s\n", file, line, condition,
               currentWork ? " while working on " : "", currentWork ? currentWork : "");
  std::abort();
}
} // namespace headrace

#define HR_CHECK(condition)                                                                        \
  ((condition) ? static_cast<void>(0) : ::headrace::checkFailed(#condition, __FILE__, __LINE__))
