// The way back is a jump: from LLVM's handler of fatal errors, or from a signal handler on a stack
// of its own. (A child process would be safer after a fault, and costs each process that compiles
// 20 ms and 40 MB: docs/decisions/2026-11-22-containment.md.)
#include "passes/driver/containment.h"

#include "runtime/base/check.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <time.h>

namespace headrace::driver {

namespace {

/// Address space, of which only what is touched becomes memory.
constexpr size_t kStackBytes = size_t{1} << 30;
/// Where address space is limited.
constexpr size_t kSmallStackBytes = size_t{64} << 20;
constexpr size_t kSignalStackBytes = size_t{64} << 10;

/// One contained piece of work.
struct Attempt {
  llvm::function_ref<void()> work;
  sigjmp_buf back;
  const char *stackBegin = nullptr; ///< lowest address
  bool died = false;
  char reason[1024] = {};
  const char *workedOn = nullptr; ///< currentWork at that time
};

/// The attempt of this thread. Initial-exec: a signal handler may read it without an allocation.
thread_local Attempt *current __attribute__((tls_model("initial-exec"))) = nullptr;

[[noreturn]] void jumpBack(Attempt &attempt) {
  attempt.died = true;
  attempt.workedOn = currentWork;
  siglongjmp(attempt.back, 1);
}

void onFatalError(void *, const char *reason, bool) {
  if (Attempt *attempt = current) {
    std::snprintf(attempt->reason, sizeof(attempt->reason), "%s", reason);
    jumpBack(*attempt);
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCatchSignals = false;
#elif defined(__has_feature)
constexpr bool kCatchSignals =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kCatchSignals = true;
#endif

constexpr std::array<int, 5> kSignals = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// The handlers are the process's: set by the first attempt, put back by the last.
class ProcessHandlers {
public:
  void add() {
    std::lock_guard lock(mutex_);
    if (attempts_++ > 0) {
      return;
    }
    llvm::install_fatal_error_handler(onFatalError);
    for (size_t index = 0; kCatchSignals && index < kSignals.size(); ++index) {
      struct sigaction action = {};
      action.sa_sigaction = onSignal;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      sigaction(kSignals[index], &action, &before_[index]);
    }
  }

  void remove() {
    std::lock_guard lock(mutex_);
    if (--attempts_ > 0) {
      return;
    }
    for (size_t index = 0; kCatchSignals && index < kSignals.size(); ++index) {
      sigaction(kSignals[index], &before_[index], nullptr);
    }
    llvm::remove_fatal_error_handler();
  }

private:
  static void onSignal(int signal, siginfo_t *info, void *context);
  void pass(int signal, siginfo_t *info, void *context);

  std::mutex mutex_;
  int attempts_ = 0;
  std::array<struct sigaction, kSignals.size()> before_;
};

ProcessHandlers handlers;

/// Another thread's trouble, as if this handler were not there.
void ProcessHandlers::pass(int signal, siginfo_t *info, void *context) {
  const auto *found = std::find(kSignals.begin(), kSignals.end(), signal);
  const struct sigaction &before = before_[static_cast<size_t>(found - kSignals.begin())];
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    sigaction(signal, &before, nullptr);
    raise(signal); // taken when this handler returns
  }
}

void ProcessHandlers::onSignal(int signal, siginfo_t *info, void *context) {
  Attempt *attempt = current;
  if (!attempt) {
    handlers.pass(signal, info, context);
    return;
  }
  const char *address = static_cast<const char *>(info->si_addr);
  constexpr ptrdiff_t kNear = 1 << 20; // the guard page, and frames that step over it
  bool overflow = signal == SIGSEGV && address < attempt->stackBegin + kNear &&
                  address > attempt->stackBegin - kNear;
  const char *name = overflow ? "the program is nested too deeply" : sigdescr_np(signal);
  std::snprintf(attempt->reason, sizeof(attempt->reason), "%s", name);
  jumpBack(*attempt);
}

void *run(void *argument) {
  auto *attempt = static_cast<Attempt *>(argument);
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *begin = nullptr;
    size_t bytes = 0;
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    attempt->stackBegin = static_cast<const char *>(begin);
  }
  auto signalStack = std::make_unique<char[]>(kSignalStackBytes);
  stack_t stack = {signalStack.get(), 0, kSignalStackBytes};
  stack_t stackBefore = {};
  if (kCatchSignals) {
    sigaltstack(&stack, &stackBefore);
  }
  if (sigsetjmp(attempt->back, /*savemask=*/1) == 0) {
    current = attempt;
    attempt->work();
  }
  current = nullptr;
  if (kCatchSignals) {
    sigaltstack(&stackBefore, nullptr);
  }
  return nullptr;
}

bool startThread(pthread_t *thread, Attempt *attempt, size_t stackBytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  bool started = pthread_create(thread, &attributes, run, attempt) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

void join(pthread_t thread, llvm::function_ref<void()> meanwhile) {
  constexpr int64_t kWaitNanoseconds = 50'000'000, kSecond = 1'000'000'000;
  while (meanwhile) {
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t nanoseconds = until.tv_nsec + kWaitNanoseconds;
    until.tv_sec += nanoseconds / kSecond;
    until.tv_nsec = nanoseconds % kSecond;
    if (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until) == 0) {
      return;
    }
    meanwhile();
  }
  pthread_join(thread, nullptr);
}

} // namespace

bool runContained(llvm::function_ref<void()> work, std::string &death,
                  llvm::function_ref<void()> meanwhile) {
  Attempt attempt{work};
  handlers.add();
  pthread_t thread;
  bool started = startThread(&thread, &attempt, kStackBytes) ||
                 startThread(&thread, &attempt, kSmallStackBytes);
  if (started) {
    join(thread, meanwhile);
  }
  handlers.remove();
  if (!started) {
    death = "no thread could be started for the compiler";
    return false;
  }
  if (attempt.died) {
    death = attempt.reason;
    if (attempt.workedOn) {
      death += std::string(" (in ") + attempt.workedOn + ")";
    }
  }
  return !attempt.died;
}

} // namespace headrace::driver
