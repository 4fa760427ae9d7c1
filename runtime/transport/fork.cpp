// Starts ranks as forked processes and collects how they ended.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/transport/fork.h"
#include "runtime/transport/stream_transport.h"

namespace headrace {

namespace {

/// All ranks agree on the end of a run: who has not ended soon after a failure will not.
constexpr double kGraceSecondsAfterFailure = 3;

/// A rank's outcome on its way to the parent: kind, then message and place, each ended by a zero.
std::string packStatus(const Status &status) {
  std::string text(1, static_cast<char>(status.kind()));
  text += status.message();
  text += '\0';
  text += status.place();
  text += '\0';
  return text;
}

/// The child's own words; nothing, if it ended before it could say them.
bool unpackStatus(const std::string &text, int rank, Status &status) {
  size_t end = text.find('\0', 1);
  if (text.empty() || text.back() != '\0' || (end == std::string::npos && text[0] != 0)) {
    return false;
  }
  auto kind = static_cast<ErrorKind>(text[0]);
  if (kind == ErrorKind::kOk) {
    status = {};
    return true;
  }
  status = Status(kind, "rank " + std::to_string(rank) + ": " + text.substr(1, end - 1),
                  text.substr(end + 1, text.size() - end - 2));
  return true;
}

void closeAll(std::vector<std::vector<int>> &sockets) {
  for (std::vector<int> &row : sockets) {
    for (int &socket : row) {
      if (socket >= 0) {
        close(socket);
        socket = -1;
      }
    }
  }
}

/// Runs a child's body; does not return.
[[noreturn]] void runChild(int rank, std::vector<int> sockets, int report, const RankBody &body,
                           const ForkOptions &options) {
  // A rank that hangs dies of SIGALRM; the others see its link go down.
  alarm(static_cast<unsigned>(std::ceil(options.timeoutSeconds)));
  Status status;
  {
    std::unique_ptr<Transport> transport =
        makeStreamTransport({.rank = rank, .sockets = std::move(sockets)});
    status = body(*transport);
  }
  std::string text = packStatus(status);
  size_t written = 0;
  while (written < text.size()) {
    ssize_t count = write(report, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) {
      break;
    }
    written += count > 0 ? static_cast<size_t>(count) : 0;
  }
  std::fflush(nullptr);
  // Not exit(): what the parent registered to happen at exit is the parent's.
  _exit(0);
}

struct Child {
  int rank = 0;
  pid_t process = -1;
  int report = -1;
  std::string text;
  bool killed = false;
};

/// Reads the reports until all children have closed theirs; who has not when the grace is over is
/// killed, which ends a stopped process too.
void collect(std::vector<Child> &children, double graceSeconds) {
  const Clock &clock = RealClock::instance();
  int64_t end = graceSeconds > 0 ? clock.nowNanoseconds() + static_cast<int64_t>(graceSeconds * 1e9)
                                 : INT64_MAX;
  size_t open = children.size();
  while (open > 0) {
    int64_t left = end - clock.nowNanoseconds();
    if (left <= 0) {
      for (Child &child : children) {
        if (child.report >= 0) {
          child.killed = kill(child.process, SIGKILL) == 0;
        }
      }
      end = INT64_MAX;
      continue;
    }
    std::vector<pollfd> waits;
    for (const Child &child : children) {
      waits.push_back({child.report, POLLIN, 0});
    }
    int64_t milliseconds = end == INT64_MAX ? -1 : std::min<int64_t>(left / 1'000'000 + 1, 60'000);
    int ready = poll(waits.data(), waits.size(), static_cast<int>(milliseconds));
    for (size_t index = 0; index < children.size() && ready > 0; ++index) {
      if (children[index].report < 0 || waits[index].revents == 0) {
        continue;
      }
      char text[1024];
      ssize_t count = read(children[index].report, text, sizeof(text));
      if (count > 0) {
        children[index].text.append(text, static_cast<size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        close(children[index].report);
        children[index].report = -1;
        --open;
      }
    }
  }
}

Status outcome(const Child &child) {
  int code = 0;
  while (waitpid(child.process, &code, 0) < 0 && errno == EINTR) {
  }
  Status status;
  if (unpackStatus(child.text, child.rank, status)) {
    return status;
  }
  if (child.killed) {
    return makeError(ErrorKind::kInternal, "did not end when rank 0 had, and was killed: rank ",
                     child.rank);
  }
  if (WIFSIGNALED(code)) {
    return makeError(ErrorKind::kInternal, "rank ", child.rank, " died of signal ", WTERMSIG(code),
                     ": ", strsignal(WTERMSIG(code)));
  }
  return makeError(ErrorKind::kInternal, "rank ", child.rank, " ended without a result, code ",
                   WEXITSTATUS(code));
}

} // namespace

Status forkRanks(int size, const RankBody &body, ForkOptions options) {
  HR_CHECK(size >= 1);
  auto count = static_cast<size_t>(size);
  std::vector<std::vector<int>> sockets(count, std::vector<int>(count, -1));
  for (size_t low = 0; low < count; ++low) {
    for (size_t high = low + 1; high < count; ++high) {
      int ends[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        closeAll(sockets);
        // no test: it takes a process without file descriptors
        return makeError(ErrorKind::kIo, "no sockets between ranks: ", std::strerror(errno));
      }
      for (int end : ends) {
        int bytes = 1 << 20; // a hint: with less, large bodies only need more calls
        setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
      }
      sockets[low][high] = ends[0];
      sockets[high][low] = ends[1];
    }
  }
  // Otherwise a child would write again what the parent has not yet written.
  std::fflush(nullptr);
  std::vector<Child> children;
  Status launched;
  for (int rank = 1; rank < size && launched.ok(); ++rank) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
      // no test: it takes a process without file descriptors
      launched = makeError(ErrorKind::kIo, "no pipe for a rank: ", std::strerror(errno));
      break;
    }
    pid_t process = fork();
    if (process == 0) {
      std::vector<int> own = std::exchange(sockets[static_cast<size_t>(rank)], {});
      closeAll(sockets);
      close(report[0]);
      for (const Child &child : children) {
        close(child.report);
      }
      runChild(rank, std::move(own), report[1], body, options);
    }
    close(report[1]);
    if (process < 0) {
      // no test: it takes a machine without processes
      launched = makeError(ErrorKind::kIo, "no process for a rank: ", std::strerror(errno));
      close(report[0]);
      break;
    }
    children.push_back({rank, process, report[0], {}, false});
  }
  std::vector<int> own = std::exchange(sockets[0], {});
  closeAll(sockets);
  Status status = launched;
  {
    // If a rank could not be started, the others see this link close and stop.
    std::unique_ptr<Transport> transport =
        makeStreamTransport({.rank = 0, .sockets = std::move(own)});
    if (launched.ok()) {
      status = body(*transport);
    }
  }
  collect(children, status.ok() || options.graceSeconds == 0
                        ? options.graceSeconds
                        : std::min(options.graceSeconds, kGraceSecondsAfterFailure));
  for (const Child &child : children) {
    Status ended = outcome(child);
    if (status.ok()) {
      status = ended;
    }
  }
  return status;
}

} // namespace headrace
