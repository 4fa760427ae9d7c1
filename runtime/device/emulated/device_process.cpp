// The host's side of an emulated device's process.
#include "runtime/device/emulated/device_process.h"

#include "runtime/base/check.h"
#include "runtime/device/emulated/device_messages.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headrace::emulated {

namespace {
constexpr int kTimeoutMilliseconds = 120'000;
}

bool readAll(int descriptor, void *data, size_t bytes) {
  auto *next = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t got = read(descriptor, next, bytes);
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      return false;
    }
    next += std::max<ssize_t>(got, 0);
    bytes -= std::max<ssize_t>(got, 0);
  }
  return true;
}

bool writeAll(int descriptor, const void *data, size_t bytes) {
  const auto *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t put = send(descriptor, next, bytes, MSG_NOSIGNAL);
    if (put < 0 && errno != EINTR) {
      return false;
    }
    next += std::max<ssize_t>(put, 0);
    bytes -= std::max<ssize_t>(put, 0);
  }
  return true;
}

DeviceProcess::DeviceProcess(int64_t bytes, uint64_t seed) : bytes_(bytes) {
  int memory = memfd_create("device memory", 0);
  HR_CHECK(memory >= 0 && ftruncate(memory, bytes) == 0);
  // The device's addresses are taken, so that nothing else of the host comes to lie there.
  void *taken = mmap(reinterpret_cast<void *>(kDeviceBase), bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  HR_CHECK(taken == reinterpret_cast<void *>(kDeviceBase)); // one emulated device at a time
  void *alias = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  HR_CHECK(alias != MAP_FAILED);
  alias_ = static_cast<std::byte *>(alias);
  int ends[2];
  HR_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  socket_ = ends[0];
  std::string words[] = {kProcessName, std::to_string(ends[1]), std::to_string(memory),
                         std::to_string(bytes), std::to_string(seed)};
  char *arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                       words[3].data(), words[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  HR_CHECK(posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  close(memory);
}

DeviceProcess::~DeviceProcess() {
  end();
  munmap(alias_, bytes_);
  munmap(reinterpret_cast<void *>(kDeviceBase), bytes_);
}

void DeviceProcess::end() {
  if (socket_ >= 0) {
    close(std::exchange(socket_, -1)); // at the end of the stream it ends
    if (lost_ == Outcome::kTimedOut) {
      kill(process_, SIGKILL);
    }
    waitpid(process_, nullptr, 0);
  }
}

Outcome DeviceProcess::ask(const Request &request, std::span<const std::byte> tail,
                           Answer *answer) {
  std::lock_guard lock(mutex_);
  if (lost_ != Outcome::kDone) {
    return lost_;
  }
  Answer received{Outcome::kTrapped, {}};
  Request sent = request;
  sent.tailBytes = tail.size();
  if (writeAll(socket_, &sent, sizeof sent) && writeAll(socket_, tail.data(), tail.size())) {
    pollfd wanted{socket_, POLLIN, 0};
    int ready;
    do {
      ready = poll(&wanted, 1, kTimeoutMilliseconds);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
      received.outcome = Outcome::kTimedOut;
    } else if (!readAll(socket_, &received, sizeof received)) {
      received.outcome = Outcome::kTrapped;
    }
  }
  if (received.outcome > Outcome::kNotFound) {
    lost_ = received.outcome;
    end();
  }
  if (answer != nullptr) {
    *answer = received;
  }
  return received.outcome;
}

Outcome DeviceProcess::protect(uint64_t address, uint64_t bytes, bool accessible) {
  return ask({.task = Task::kProtect, .arguments = {address, bytes}, .accessible = accessible}, {});
}

Outcome DeviceProcess::load(uint32_t module, std::span<const std::byte> image) {
  return ask({.task = Task::kLoad, .module = module}, image);
}

Outcome DeviceProcess::find(uint32_t module, const std::string &symbol, HrEmulatedShape &shape) {
  Answer answer;
  Outcome outcome =
      ask({.task = Task::kFind, .module = module}, std::as_bytes(std::span(symbol)), &answer);
  shape = answer.shape;
  return outcome;
}

Outcome DeviceProcess::launch(uint32_t module, const std::string &symbol, uint32_t blocks,
                              uint32_t threads, const uint64_t (&arguments)[2]) {
  return ask({.task = Task::kLaunch,
              .module = module,
              .blocks = blocks,
              .threads = threads,
              .arguments = {arguments[0], arguments[1]}},
             std::as_bytes(std::span(symbol)));
}

} // namespace headrace::emulated
