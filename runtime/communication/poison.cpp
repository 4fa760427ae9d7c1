// The poison board: a small all-to-all protocol on its own channel.
//
//   kCredits:          the board is open; nothing with a body is sent to a peer before
//   kAlive:            a sign of life
//   kPoison, kSettled: sequence = failing task, rows = row, tag = rank << 8 | error kind (0: none),
//                      body = message, zero, place
#include "runtime/communication/poison.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "runtime/base/check.h"
#include "runtime/base/log.h"

namespace headrace {

namespace {

constexpr int64_t kTextBytesMax = 4096;
/// Failures that a rank tells at once; smaller ones found after that many go with kSettled.
constexpr int kBroadcastsMax = 4;

std::string packText(const Poison &poison) {
  std::string message = poison.message.substr(0, kTextBytesMax - 512);
  std::string place = poison.place.substr(0, 500);
  return message + '\0' + place;
}

} // namespace

Status Poison::statusOn(int otherRank) const {
  if (otherRank == rank) {
    return status();
  }
  if (kind == ErrorKind::kCancelled) {
    return status();
  }
  return Status(kind, "stopped because rank " + std::to_string(rank) + " failed: " + message,
                place);
}

bool Poison::earlier(const Poison &left, const Poison &right) {
  return std::tuple(left.task, left.rank, left.row) < std::tuple(right.task, right.rank, right.row);
}

Expected<std::unique_ptr<PoisonBoard>> PoisonBoard::open(Transport &transport, BlockPool &blocks,
                                                         Doorbell *doorbell,
                                                         HeartbeatOptions heartbeat) {
  int64_t received = static_cast<int64_t>(transport.size()) * (kBroadcastsMax + 1);
  HR_ASSIGN_OR_RETURN(
      auto sendPool,
      BufferPool::create(blocks, {.bufferBytes = kTextBytesMax, .buffersMax = kBroadcastsMax + 1}));
  HR_ASSIGN_OR_RETURN(auto receivePool, BufferPool::create(blocks, {.bufferBytes = kTextBytesMax,
                                                                    .buffersMax = received}));
  HR_RETURN_IF_ERROR(transport.open(kPoisonChannel, receivePool.get()));
  std::unique_ptr<PoisonBoard> board(
      new PoisonBoard(transport, std::move(sendPool), std::move(receivePool), doorbell, heartbeat));
  MessageHeader open;
  open.kind = MessageKind::kCredits;
  open.channel = kPoisonChannel.value;
  open.source = static_cast<uint32_t>(transport.rank());
  for (int peer = 0; peer < transport.size(); ++peer) {
    if (peer != transport.rank()) {
      // A peer that is gone is noticed by settle().
      (void)transport.send(peer, kPoisonChannel, encodeHeader(open), BufferRef());
    }
  }
  return board;
}

int64_t PoisonBoard::memoryBytes(int ranks) {
  return kTextBytesMax * (kBroadcastsMax + 1) * (static_cast<int64_t>(ranks) + 1);
}

PoisonBoard::PoisonBoard(Transport &transport, std::unique_ptr<BufferPool> sendPool,
                         std::unique_ptr<BufferPool> receivePool, Doorbell *doorbell,
                         HeartbeatOptions heartbeat)
    : transport_(transport), sendPool_(std::move(sendPool)), receivePool_(std::move(receivePool)),
      doorbell_(doorbell), ready_(static_cast<size_t>(transport.size()), false),
      settled_(static_cast<size_t>(transport.size()), false), heartbeat_(transport, heartbeat) {}

PoisonBoard::~PoisonBoard() { transport_.close(kPoisonChannel); }

void PoisonBoard::raise(Poison poison) {
  poison.rank = transport_.rank();
  std::lock_guard lock(mutex_);
  HR_CHECK(!announced_ && poison.kind != ErrorKind::kOk);
  if (poison_ && !Poison::earlier(poison, *poison_)) {
    return;
  }
  log(LogLevel::kWarning, "rank ", poison.rank, " failed: ", poison.message);
  mergeLocked(std::move(poison));
  if (broadcasts_ < kBroadcastsMax) {
    broadcastLocked(MessageKind::kPoison);
  }
}

void PoisonBoard::raise(const Status &status, TaskId task, int64_t row) {
  // What came from the board is not a new failure of this rank.
  Status known = this->status();
  if (status.ok() ||
      (!known.ok() && known.kind() == status.kind() && known.message() == status.message())) {
    return;
  }
  raise(Poison{status.kind(), transport_.rank(), task, row, status.message(), status.place()});
}

void PoisonBoard::cancel(std::string reason) {
  raise(Poison{ErrorKind::kCancelled, transport_.rank(), {}, -1, std::move(reason), {}});
}

Status PoisonBoard::status() const {
  if (!poisoned()) {
    return {};
  }
  std::lock_guard lock(mutex_);
  return poison_->statusOn(transport_.rank());
}

std::optional<Poison> PoisonBoard::poison() const {
  std::lock_guard lock(mutex_);
  return poison_;
}

void PoisonBoard::mergeLocked(Poison poison) {
  if (!poison_ || Poison::earlier(poison, *poison_)) {
    poison_ = std::move(poison);
    poisoned_.store(true, std::memory_order_release);
    if (doorbell_) {
      doorbell_->ring();
    }
  }
}

void PoisonBoard::broadcastLocked(MessageKind kind) {
  ++broadcasts_;
  std::vector<int> peers;
  for (int peer = 0; peer < transport_.size(); ++peer) {
    if (ready_[static_cast<size_t>(peer)]) {
      peers.push_back(peer);
    }
  }
  sendLocked(kind, peers);
}

void PoisonBoard::sendLocked(MessageKind kind, const std::vector<int> &peers) {
  MessageHeader header;
  header.kind = kind;
  header.channel = kPoisonChannel.value;
  header.source = static_cast<uint32_t>(transport_.rank());
  BufferRef body;
  if (poison_) {
    header.sequence = poison_->task.value;
    header.rows = static_cast<uint64_t>(poison_->row);
    header.tag = static_cast<uint64_t>(poison_->rank) << 8 | static_cast<uint64_t>(poison_->kind);
    std::string text = packText(*poison_);
    // One buffer serves all peers; there are enough for all that this rank may ever send.
    body = sendPool_->tryTake();
    HR_CHECK(body);
    body.resize(static_cast<int64_t>(text.size()));
    std::memcpy(body.mutableData(), text.data(), text.size());
    body.seal();
    header.bytes = text.size();
    header.checksum = bodyChecksum(body, Checksums::kOn);
  }
  HeaderBytes bytes = encodeHeader(header);
  for (int peer : peers) {
    // A peer that is gone needs no telling; settle() sees that it is gone.
    (void)transport_.send(peer, kPoisonChannel, bytes, body);
  }
}

void PoisonBoard::takeInLocked() {
  while (std::optional<Arrival> arrival = transport_.receive(kPoisonChannel)) {
    heartbeat_.heard(arrival->source);
    // Whatever came, and be it damaged: its sender has opened its board.
    if (!ready_[static_cast<size_t>(arrival->source)]) {
      ready_[static_cast<size_t>(arrival->source)] = true;
      if (announced_) {
        sendLocked(MessageKind::kSettled, {arrival->source});
      } else if (broadcasts_ > 0) {
        sendLocked(MessageKind::kPoison, {arrival->source});
      }
    }
    Expected<MessageHeader> header = decodeHeader(*arrival, kPoisonChannel);
    if (!header.ok()) {
      mergeLocked(
          {header.status().kind(), transport_.rank(), {}, -1, header.status().message(), {}});
      // It may have been its last word: do not wait for another.
      settled_[static_cast<size_t>(arrival->source)] = true;
      continue;
    }
    if (header->kind == MessageKind::kSettled) {
      settled_[static_cast<size_t>(arrival->source)] = true;
      if (doorbell_) {
        doorbell_->ring();
      }
    }
    auto kind = static_cast<ErrorKind>(header->tag & 0xff);
    if (kind == ErrorKind::kOk) {
      continue;
    }
    std::string text;
    if (arrival->body) {
      text.assign(reinterpret_cast<const char *>(arrival->body.data()),
                  static_cast<size_t>(arrival->body.size()));
    }
    size_t end = std::min(text.find('\0'), text.size());
    mergeLocked({kind, static_cast<int>(header->tag >> 8),
                 TaskId(static_cast<uint32_t>(header->sequence)),
                 static_cast<int64_t>(header->rows), text.substr(0, end),
                 end < text.size() ? text.substr(end + 1) : std::string()});
  }
}

void PoisonBoard::beatLocked() {
  if (heartbeat_.due()) {
    MessageHeader alive;
    alive.kind = MessageKind::kAlive;
    alive.channel = kPoisonChannel.value;
    alive.source = static_cast<uint32_t>(transport_.rank());
    for (int peer : heartbeat_.peers()) {
      (void)transport_.send(peer, kPoisonChannel, encodeHeader(alive), BufferRef());
    }
  }
  auto patience = poison_ ? Heartbeat::Patience::kLittle : Heartbeat::Patience::kFull;
  for (int peer : heartbeat_.silent(patience)) {
    if (settled_[static_cast<size_t>(peer)]) {
      continue; // it has said its last word
    }
    Status why = heartbeat_.why(peer);
    log(LogLevel::kWarning, "rank ", transport_.rank(), " gives up: ", why.message());
    transport_.giveUp(peer, why);
    mergeLocked({why.kind(), transport_.rank(), {}, -1, why.message(), {}});
    if (!announced_ && broadcasts_ < kBroadcastsMax) {
      broadcastLocked(MessageKind::kPoison);
    }
  }
}

void PoisonBoard::poll() {
  transport_.progress();
  std::lock_guard lock(mutex_);
  takeInLocked();
  beatLocked();
}

PollState PoisonBoard::settle() {
  transport_.progress();
  std::lock_guard lock(mutex_);
  beatLocked();
  // Asked before the messages are taken in: what a peer sent before it left has then arrived.
  std::vector<Status> links;
  for (int peer = 0; peer < transport_.size(); ++peer) {
    links.push_back(transport_.peerStatus(peer));
  }
  takeInLocked();
  if (!announced_) {
    announced_ = true;
    settled_[static_cast<size_t>(transport_.rank())] = true;
    broadcastLocked(MessageKind::kSettled);
  }
  bool all = true;
  for (int peer = 0; peer < transport_.size(); ++peer) {
    if (settled_[static_cast<size_t>(peer)]) {
      continue;
    }
    const Status &link = links[static_cast<size_t>(peer)];
    if (link.ok()) {
      all = false;
    } else {
      mergeLocked({link.kind(), transport_.rank(), {}, -1, link.message(), {}});
      settled_[static_cast<size_t>(peer)] = true;
    }
  }
  if (!all || !transport_.drained()) {
    return PollState::kPending;
  }
  return poison_ ? PollState::kFailed : PollState::kDone;
}

} // namespace headrace
