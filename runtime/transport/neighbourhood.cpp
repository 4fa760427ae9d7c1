// Hands descriptors over.
//
//   each to each:  | 1 byte: whether it shares | with it: the segment's descriptor, the bell's |
//   each to each:  | 1 byte: whether it could map the other's |
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/transport/shared_link.h"
#include "runtime/transport/shared_ring.h"

namespace headrace {

namespace {

constexpr char kShares = 'S';
constexpr char kSharesNothing = 'N';

using Descriptors = std::array<int, 2>;

bool send(int socket, char word, const Descriptors *descriptors) {
  iovec part{&word, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(Descriptors))] = {};
  msghdr call{};
  call.msg_iov = &part;
  call.msg_iovlen = 1;
  if (descriptors) {
    call.msg_control = room;
    call.msg_controllen = sizeof(room);
    cmsghdr *control = CMSG_FIRSTHDR(&call);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(Descriptors));
    std::memcpy(CMSG_DATA(control), descriptors, sizeof(Descriptors));
  }
  return sendmsg(socket, &call, MSG_NOSIGNAL) == 1;
}

/// The word, and descriptors if it comes with any; nothing if it does not come.
std::optional<char> receive(int socket, int64_t end, Descriptors *descriptors) {
  pollfd ready{socket, POLLIN, 0};
  int64_t left = (end - RealClock::instance().nowNanoseconds()) / 1'000'000;
  if (::poll(&ready, 1, static_cast<int>(std::max<int64_t>(left, 0))) <= 0) {
    return std::nullopt;
  }
  char word = 0;
  iovec part{&word, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(Descriptors))];
  msghdr call{};
  call.msg_iov = &part;
  call.msg_iovlen = 1;
  call.msg_control = room;
  call.msg_controllen = sizeof(room);
  if (recvmsg(socket, &call, MSG_CMSG_CLOEXEC) != 1) {
    return std::nullopt;
  }
  for (cmsghdr *at = CMSG_FIRSTHDR(&call); at; at = CMSG_NXTHDR(&call, at)) {
    if (descriptors && at->cmsg_type == SCM_RIGHTS &&
        at->cmsg_len == CMSG_LEN(sizeof(Descriptors))) {
      std::memcpy(descriptors, CMSG_DATA(at), sizeof(Descriptors));
    }
  }
  return word;
}

void closeBoth(const Descriptors &descriptors) {
  for (int descriptor : descriptors) {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
}

/// The neighbour's memory, if it is what it should be.
std::optional<Neighbourhood::Neighbour> attach(Descriptors descriptors, size_t ranks) {
  if (descriptors[0] < 0 || descriptors[1] < 0) {
    closeBoth(descriptors);
    return std::nullopt;
  }
  auto segment = SharedSegment::attach(descriptors[0]);
  if (!segment.ok() || (*segment)->size() < static_cast<int64_t>(ranks) * kSharedLinkBytes) {
    log(LogLevel::kWarning, segment.ok() ? "the shared memory of a neighbour is too small"
                                         : segment.status().message());
    close(descriptors[1]);
    return std::nullopt;
  }
  return Neighbourhood::Neighbour{*segment, descriptors[1]};
}

Status gone(size_t rank) {
  return makeError(ErrorKind::kIo,
                   "a neighbour left, or said nothing, before it was heard what it "
                   "shares: rank ",
                   rank);
}

/// This rank's memory, with room for the links; if there is none, it does without.
void makeOwn(Neighbourhood &own, size_t ranks, int64_t bytes) {
  int64_t links = static_cast<int64_t>(ranks) * kSharedLinkBytes;
  auto segment = SharedSegment::create((links + bytes + 4095) / 4096 * 4096);
  if (!segment.ok()) {
    log(LogLevel::kWarning, segment.status().message());
    return;
  }
  own.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (own.bell >= 0) {
    own.segment = *segment;
    own.segment->take(links, 4096);
  }
}

} // namespace

Expected<Neighbourhood> meetNeighbours(std::span<const int> sockets, int64_t bytes,
                                       double patienceSeconds) {
  int64_t end =
      RealClock::instance().nowNanoseconds() + static_cast<int64_t>(patienceSeconds * 1e9);
  Neighbourhood own;
  makeOwn(own, sockets.size(), bytes);
  Descriptors offered{own.segment ? own.segment->descriptorForReading() : -1, own.bell};
  bool shares = offered[0] >= 0 && offered[1] >= 0;
  Status failed;
  for (size_t rank = 0; rank < sockets.size() && failed.ok(); ++rank) {
    if (sockets[rank] >= 0 &&
        !send(sockets[rank], shares ? kShares : kSharesNothing, shares ? &offered : nullptr)) {
      failed = gone(rank);
    }
  }
  if (offered[0] >= 0) {
    close(offered[0]);
  }
  for (size_t rank = 0; rank < sockets.size() && failed.ok(); ++rank) {
    if (sockets[rank] < 0) {
      continue;
    }
    Descriptors theirs{-1, -1};
    std::optional<char> word = receive(sockets[rank], end, &theirs);
    auto neighbour = attach(theirs, sockets.size());
    bool both = shares && neighbour.has_value();
    if (neighbour) {
      own.neighbours.emplace(static_cast<int>(rank), std::move(*neighbour));
    }
    if (!word || !send(sockets[rank], both ? kShares : kSharesNothing, nullptr)) {
      failed = gone(rank);
    }
  }
  for (size_t rank = 0; rank < sockets.size() && failed.ok(); ++rank) {
    if (sockets[rank] < 0) {
      continue;
    }
    std::optional<char> word = receive(sockets[rank], end, nullptr);
    auto found = own.neighbours.find(static_cast<int>(rank));
    if (!word) {
      failed = gone(rank);
    } else if (found != own.neighbours.end() && (*word != kShares || !shares)) {
      close(found->second.bell);
      own.neighbours.erase(found);
    }
  }
  if (failed.ok()) {
    return own;
  }
  for (auto &[rank, neighbour] : own.neighbours) {
    close(neighbour.bell);
  }
  if (own.bell >= 0) {
    close(own.bell);
  }
  return failed;
}

} // namespace headrace
