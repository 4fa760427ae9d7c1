// Two pipes, a clock, and a kill.
#include "tools/headrace-gpu/child_process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace headrace::gpu {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kErrorsMost = 4000;

/// What is there now; false at the end.
bool drain(int descriptor, std::string &into) {
  char part[65536];
  ssize_t got = read(descriptor, part, sizeof part);
  if (got > 0) {
    into.append(part, got);
  }
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/// Waits for its end a while; how it ended, or an empty text if it did not.
std::string endOf(pid_t process, std::chrono::seconds patience) {
  for (auto end = Clock::now() + patience; Clock::now() < end;) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) {
      if (WIFSIGNALED(status)) {
        return std::string("ended by signal: ") + strsignal(WTERMSIG(status));
      }
      return "exit status " + std::to_string(WEXITSTATUS(status));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return "";
}

} // namespace

ChildResult runChild(const std::vector<std::string> &words, double seconds) {
  ChildResult result;
  std::vector<char *> arguments;
  for (const std::string &word : words) {
    arguments.push_back(const_cast<char *>(word.c_str()));
  }
  arguments.push_back(nullptr);
  int output[2], errors[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
    result.failure = std::string("cannot make a pipe: ") + std::strerror(errno);
    return result;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  pid_t process = 0;
  int failed =
      posix_spawn(&process, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  close(errors[1]);
  if (failed != 0) {
    result.failure = std::string("cannot start ") + words[0] + ": " + std::strerror(failed);
    close(output[0]);
    close(errors[0]);
    return result;
  }
  auto end = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  pollfd wanted[] = {{output[0], POLLIN, 0}, {errors[0], POLLIN, 0}};
  std::string *texts[] = {&result.output, &result.errors};
  while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      kill(process, SIGKILL);
      result.failure = "no end within " + std::to_string(static_cast<int>(seconds)) + " s: killed";
      break;
    }
    poll(wanted, 2, static_cast<int>(left));
    for (int i = 0; i < 2; ++i) {
      if (wanted[i].fd >= 0 && wanted[i].revents != 0 && !drain(wanted[i].fd, *texts[i])) {
        wanted[i].fd = -1;
      }
    }
  }
  close(output[0]);
  close(errors[0]);
  std::string ended = endOf(process, std::chrono::seconds(20));
  if (result.failure.empty() && ended != "exit status 0") {
    result.failure = ended.empty() ? "did not end after its output did" : ended;
  } else if (ended.empty()) {
    result.failure += ", but it does not end: left behind";
  }
  if (result.errors.size() > kErrorsMost) {
    result.errors.erase(0, result.errors.size() - kErrorsMost);
  }
  return result;
}

} // namespace headrace::gpu
