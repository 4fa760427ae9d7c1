// Rings in shared memory. Who writes wakes the other only if that has taken all before, and who
// takes wakes the other only if that waits: both first say what they have done, and then look at
// what the other has done, so that one of two that cross sees the other.
#include "runtime/transport/shared_link.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/transport/shared_ring.h"

namespace headrace {

namespace {

/// Messages taken from one peer before the next is looked at.
constexpr int kMessagesInARow = 64;

uint64_t filledUp(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

/// The ring's bytes from a position on; they may go on at its beginning.
void copyIn(std::byte *ring, uint64_t position, const void *from, uint64_t bytes) {
  uint64_t at = position % kSharedRingBytes;
  uint64_t first = std::min(bytes, kSharedRingBytes - at);
  std::memcpy(ring + at, from, first);
  std::memcpy(ring, static_cast<const std::byte *>(from) + first, bytes - first);
}

void copyOut(const std::byte *ring, uint64_t position, void *to, uint64_t bytes) {
  uint64_t at = position % kSharedRingBytes;
  uint64_t first = std::min(bytes, kSharedRingBytes - at);
  std::memcpy(to, ring + at, first);
  std::memcpy(static_cast<std::byte *>(to) + first, ring, bytes - first);
}

class SharedLink final : public Link {
public:
  SharedLink(int own, int rank, std::string name, int socket,
             std::shared_ptr<SharedSegment> segment, Neighbourhood::Neighbour neighbour)
      : rank_(rank), name_(std::move(name)), socket_(socket), segment_(std::move(segment)),
        theirSegment_(std::move(neighbour.segment)), theirBell_(neighbour.bell) {
    std::byte *link = segment_->data() + rank * kSharedLinkBytes;
    const std::byte *theirLink = theirSegment_->data() + own * kSharedLinkBytes;
    control_ = reinterpret_cast<SharedLinkControl *>(link);
    theirs_ = reinterpret_cast<const SharedLinkControl *>(theirLink);
    ring_ = link + kSharedControlBytes;
    theirRing_ = theirLink + kSharedControlBytes;
  }

  ~SharedLink() override {
    // What the peer has not taken stays in the file, and the file with the peer.
    segment_->leaveToReaders();
    close(socket_);
    close(theirBell_);
  }

  // ---- sending ----

  Expected<Room> write(std::deque<Outgoing> &queue) override {
    HR_RETURN_IF_ERROR(lookWhatIsTaken());
    bool wake = false;
    while (!queue.empty()) {
      Outgoing &message = queue.front();
      uint64_t bodyBytes = message.frame.bodyBytes;
      bool isInline = bodyBytes <= kInlineBodyBytesMax;
      uint64_t bytes = sizeof(SharedRecord) + (isInline ? filledUp(bodyBytes) : 0);
      if (written_ + bytes - taken_ > kSharedRingBytes) {
        control_->waits.store(1);
        HR_RETURN_IF_ERROR(lookWhatIsTaken());
        if (written_ + bytes - taken_ > kSharedRingBytes) {
          break;
        }
        continue;
      }
      SharedRecord record{message.frame, kPlacedInline};
      if (!isInline) {
        HR_CHECK(segment_->contains(message.body.data()));
        record.place = static_cast<uint64_t>(message.body.data() - segment_->data());
      } else if (bodyBytes > 0) {
        copyIn(ring_, written_ + sizeof(SharedRecord), message.body.data(), bodyBytes);
      }
      copyIn(ring_, written_, &record, sizeof(record));
      uint64_t before = std::exchange(written_, written_ + bytes);
      ++messages_;
      if (!isInline) {
        control_->waits.store(1);
        underWay_.push_back({written_, messages_, std::move(message.body)});
      }
      queue.pop_front();
      control_->written.store(written_);
      wake = wake || theirs_->taken.load() == before;
    }
    if (wake) {
      ring();
    }
    if (queue.empty() && underWay_.empty()) {
      control_->waits.store(0, std::memory_order_relaxed);
    }
    return queue.empty() ? Room::kForMore : Room::kNone;
  }

  const char *passageName() const override { return "shared memory"; }

  uint64_t leftCount() override {
    return underWay_.empty() ? messages_ : underWay_.front().number - 1;
  }
  bool drained() override { return underWay_.empty(); }

  void giveUp() override {
    control_->givenUp.store(1);
    underWay_.clear();
    ring(); // who waits for messages is told that none will come
  }

  void finish(int64_t endNanoseconds) override {
    while (!underWay_.empty() && RealClock::instance().nowNanoseconds() < endNanoseconds &&
           lookWhatIsTaken().ok()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  // ---- receiving ----

  int descriptor() const override { return socket_; }

  /// Nothing is sent over the socket: it is at its end.
  Status take(Landing &landing) override {
    char byte = 0;
    if (recv(socket_, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR)) {
      return {};
    }
    while (theirs_->written.load() != takenHere_) {
      HR_RETURN_IF_ERROR(poll(landing)); // what it had said before it left
    }
    return peerLeft(name_);
  }

  bool polled() const override { return true; }

  Status poll(Landing &landing) override {
    int count = 0;
    for (; count < kMessagesInARow; ++count) {
      uint64_t there = theirs_->written.load() - takenHere_;
      if (there == 0) {
        break;
      }
      if (there < sizeof(SharedRecord) || there > kSharedRingBytes) {
        return makeError(ErrorKind::kCorrupt, "a ring of shared memory holds no messages: ", there,
                         " bytes of ", name_);
      }
      HR_RETURN_IF_ERROR(takeMessage(landing, there));
    }
    if (count > 0) {
      ringIfWaiting();
    }
    if (count == kMessagesInARow) {
      landing.inbox().ring(); // there may be more, of which nobody tells
    } else if (theirs_->givenUp.load() != 0 && theirs_->written.load() == takenHere_) {
      return peerLeft(name_);
    }
    return {};
  }

private:
  struct UnderWay {
    uint64_t end;    ///< position in the ring
    uint64_t number; ///< of the message
    BufferRef body;
  };

  void ring() const {
    uint64_t one = 1;
    // Fails only when the counter is full, which is as good as written.
    [[maybe_unused]] ssize_t written = ::write(theirBell_, &one, sizeof(one));
  }

  void ringIfWaiting() const {
    if (theirs_->waits.load() != 0) {
      ring();
    }
  }

  Status lookWhatIsTaken() {
    uint64_t taken = theirs_->taken.load();
    if (taken - taken_ > written_ - taken_) {
      return makeError(ErrorKind::kCorrupt, "more was taken of a ring than is in it, by ", name_);
    }
    taken_ = taken;
    while (!underWay_.empty() && underWay_.front().end <= taken_) {
      underWay_.pop_front();
    }
    return {};
  }

  /// The peer may change all of it at any time: what is looked at is a copy.
  Status takeMessage(Landing &landing, uint64_t there) {
    SharedRecord record;
    copyOut(theirRing_, takenHere_, &record, sizeof(record));
    HR_ASSIGN_OR_RETURN(BufferRef body, landing.bufferFor(record.frame));
    uint64_t bodyBytes = record.frame.bodyBytes;
    uint64_t bytes = sizeof(record);
    if (record.place != kPlacedInline) {
      auto room = static_cast<uint64_t>(theirSegment_->size());
      if (bodyBytes > room || record.place > room - bodyBytes) {
        return makeError(ErrorKind::kCorrupt, "a body is beyond the memory that is shared by ",
                         name_, ", at: ", record.place);
      }
      if (body) {
        std::memcpy(body.mutableData(), theirSegment_->data() + record.place, bodyBytes);
      }
      if (theirs_->givenUp.load() != 0) {
        return peerLeft(name_); // whose buffer it was in may have taken that back meanwhile
      }
    } else {
      bytes += bodyBytes > kInlineBodyBytesMax ? there : filledUp(bodyBytes);
      if (bytes > there) {
        return makeError(ErrorKind::kCorrupt, "a body is longer than what is in the ring of ",
                         name_, ": ", bodyBytes);
      }
      if (body) {
        copyOut(theirRing_, takenHere_ + sizeof(record), body.mutableData(), bodyBytes);
      }
    }
    takenHere_ += bytes;
    control_->taken.store(takenHere_);
    if (record.place != kPlacedInline) {
      ringIfWaiting(); // the buffer is wanted for the next body
    }
    return landing.deliver(rank_, record.frame, std::move(body));
  }

  int rank_;
  std::string name_;
  int socket_;
  std::shared_ptr<SharedSegment> segment_;
  std::shared_ptr<const SharedSegment> theirSegment_;
  int theirBell_;
  SharedLinkControl *control_;
  const SharedLinkControl *theirs_;
  std::byte *ring_;
  const std::byte *theirRing_;

  // Of who sends.
  uint64_t written_ = 0;
  uint64_t taken_ = 0; ///< by the peer, when last looked
  uint64_t messages_ = 0;
  std::deque<UnderWay> underWay_; ///< bodies that the peer has yet to take

  // Of who receives.
  uint64_t takenHere_ = 0;
};

} // namespace

std::unique_ptr<Link> makeSharedLink(int own, int rank, std::string name, int socket,
                                     std::shared_ptr<SharedSegment> segment,
                                     Neighbourhood::Neighbour neighbour) {
  return std::make_unique<SharedLink>(own, rank, std::move(name), socket, std::move(segment),
                                      std::move(neighbour));
}

} // namespace headrace
