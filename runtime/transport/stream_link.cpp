// Partly written and partly read messages.
//
//   on the socket: | frame | body |
#include "runtime/transport/stream_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/clock.h"

namespace headrace {

namespace {

/// Messages read from one peer before the next is looked at.
constexpr int kMessagesInARow = 64;
/// Small messages come many at a time; of a large body, less than this is copied.
constexpr size_t kStagedBytes = 4096;

class StreamLink final : public Link {
public:
  StreamLink(int rank, std::string name, int socket)
      : rank_(rank), name_(std::move(name)), socket_(socket) {}
  ~StreamLink() override { close(socket_); }

  Expected<Room> write(std::deque<Outgoing> &queue) override {
    while (!queue.empty()) {
      Outgoing &message = queue.front();
      size_t total = sizeof(Frame) + message.frame.bodyBytes;
      while (written_ < total) {
        ssize_t written = writeSome(message);
        if (written >= 0) {
          written_ += static_cast<size_t>(written);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
          return Room::kNone;
        } else if (errno != EINTR) {
          return peerLeft(name_);
        }
      }
      written_ = 0;
      queue.pop_front();
      ++leftCount_;
    }
    return Room::kForMore;
  }

  const char *passageName() const override { return "sockets"; }

  uint64_t leftCount() override { return leftCount_; }
  bool drained() override { return true; }
  int descriptor() const override { return socket_; }

  Status take(Landing &landing) override {
    bool emptied = false; // the socket; it wakes again when there is more
    for (int count = 0;;) {
      if (received_ >= sizeof(Frame) && received_ == sizeof(Frame) + frame_.bodyBytes) {
        ++count;
        received_ = 0;
        HR_RETURN_IF_ERROR(landing.deliver(rank_, frame_, std::exchange(body_, BufferRef())));
      } else if (stagedFrom_ < stagedTo_) {
        HR_RETURN_IF_ERROR(takeStaged(landing));
      } else if (emptied || count >= kMessagesInARow) {
        return {};
      } else if (ssize_t got = fetch(emptied); got == 0 || (got < 0 && errno != EAGAIN)) {
        return peerLeft(name_);
      } else if (got < 0) {
        return {};
      }
    }
  }

  /// Closing a TCP socket with something unread in it drops what its machine has not yet sent: the
  /// last words of a run. A peer that takes in nothing is not waited for long.
  void finish(int64_t endNanoseconds) override {
    int unsent = 0; // other sockets than those of TCP do not know the question
    while (ioctl(socket_, SIOCOUTQNSD, &unsent) == 0 && unsent > 0 &&
           RealClock::instance().nowNanoseconds() < endNanoseconds) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

private:
  ssize_t writeSome(Outgoing &message) const {
    iovec parts[2];
    size_t count = 0;
    size_t bodyWritten = written_ < sizeof(Frame) ? 0 : written_ - sizeof(Frame);
    if (written_ < sizeof(Frame)) {
      parts[count++] = {reinterpret_cast<char *>(&message.frame) + written_,
                        sizeof(Frame) - written_};
    }
    if (bodyWritten < message.frame.bodyBytes) {
      // The socket only reads it.
      parts[count++] = {const_cast<std::byte *>(message.body.data()) + bodyWritten,
                        message.frame.bodyBytes - bodyWritten};
    }
    msghdr call{};
    call.msg_iov = parts;
    call.msg_iovlen = count;
    return sendmsg(socket_, &call, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  /// Reads into the body if much of it is to come, else into what is staged.
  ssize_t fetch(bool &emptied) {
    char *target = staged_.data();
    size_t room = staged_.size();
    bool intoBody = false;
    if (received_ >= sizeof(Frame) && body_) {
      size_t left = sizeof(Frame) + frame_.bodyBytes - received_;
      intoBody = left >= kStagedBytes;
      if (intoBody) {
        room = left;
        target = reinterpret_cast<char *>(body_.mutableData()) + received_ - sizeof(Frame);
      }
    }
    ssize_t got = 0;
    do {
      got = recv(socket_, target, room, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
      emptied = static_cast<size_t>(got) < room;
      if (intoBody) {
        received_ += static_cast<size_t>(got);
      } else {
        stagedFrom_ = 0;
        stagedTo_ = static_cast<size_t>(got);
      }
    }
    return got;
  }

  /// Into the frame, or into the body.
  Status takeStaged(Landing &landing) {
    bool inFrame = received_ < sizeof(Frame);
    size_t end = inFrame ? sizeof(Frame) : sizeof(Frame) + frame_.bodyBytes;
    size_t bytes = std::min(stagedTo_ - stagedFrom_, end - received_);
    char *target = inFrame ? reinterpret_cast<char *>(&frame_) + received_
                   : body_
                       ? reinterpret_cast<char *>(body_.mutableData()) + received_ - sizeof(Frame)
                       : nullptr;
    if (target) {
      std::memcpy(target, staged_.data() + stagedFrom_, bytes);
    }
    stagedFrom_ += bytes;
    received_ += bytes;
    if (inFrame && received_ == sizeof(Frame)) {
      HR_ASSIGN_OR_RETURN(body_, landing.bufferFor(frame_));
    }
    return {};
  }

  int rank_;
  std::string name_;
  int socket_;

  // Of who sends.
  size_t written_ = 0; ///< of the message at the front
  uint64_t leftCount_ = 0;

  // Of who receives.
  Frame frame_;
  size_t received_ = 0; ///< of frame and body
  BufferRef body_;      ///< null if there is none, or if its bytes are passed over
  std::array<char, kStagedBytes> staged_;
  size_t stagedFrom_ = 0;
  size_t stagedTo_ = 0;
};

} // namespace

std::unique_ptr<Link> makeStreamLink(int rank, std::string name, int socket) {
  return std::make_unique<StreamLink>(rank, std::move(name), socket);
}

} // namespace headrace
