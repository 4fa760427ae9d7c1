// The poison board: a small all-to-all protocol on its own channel.
//
//   kCredits:          what failed, and why? The board is open: to a peer that has said nothing
//                      no text is sent
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

constexpr int64_t kTextBytesMax = 4096, kTextBytesMin = 256;
/// Of all buffers for the texts of others, if that leaves the least for each.
constexpr int64_t kPoolBytes = 4 << 20;
/// Failures that a rank tells at once; smaller ones found after that many go with kSettled.
constexpr int kBroadcastsMax = 4;

/// So begins what a rank reports of another's failure.
const std::string kStopped = "stopped because rank ";

/// The same on all ranks.
int64_t textBytes(int ranks) {
  int64_t each = kPoolBytes / ((kBroadcastsMax + 1) * (static_cast<int64_t>(ranks) + 1));
  return std::clamp(each / 64 * 64, kTextBytesMin, kTextBytesMax);
}

std::string packText(const Poison &poison, int64_t bytes) {
  const auto most = static_cast<size_t>(bytes);
  std::string place = poison.place.substr(0, most / 8);
  return poison.message.substr(0, most - most / 8 - 1) + '\0' + place;
}

} // namespace

Status Poison::statusOn(int otherRank) const {
  if (otherRank == rank) {
    return status();
  }
  if (kind == ErrorKind::kCancelled) {
    return status();
  }
  return Status(kind, kStopped + std::to_string(rank) + " failed: " + message, place);
}

bool Poison::earlier(const Poison &left, const Poison &right) {
  return std::tuple(left.task, left.rank, left.row) < std::tuple(right.task, right.rank, right.row);
}

Expected<std::unique_ptr<PoisonBoard>> PoisonBoard::open(Transport &transport, BlockPool &blocks,
                                                         Doorbell *doorbell,
                                                         HeartbeatOptions heartbeat) {
  int64_t received = static_cast<int64_t>(transport.size()) * (kBroadcastsMax + 1);
  const int64_t bytes = textBytes(transport.size());
  HR_ASSIGN_OR_RETURN(
      auto sendPool,
      BufferPool::create(blocks, {.bufferBytes = bytes, .buffersMax = kBroadcastsMax + 1}));
  HR_ASSIGN_OR_RETURN(auto receivePool,
                      BufferPool::create(blocks, {.bufferBytes = bytes, .buffersMax = received}));
  HR_RETURN_IF_ERROR(transport.open(kPoisonChannel, receivePool.get()));
  return std::unique_ptr<PoisonBoard>(
      new PoisonBoard(transport, std::move(sendPool), std::move(receivePool), doorbell, heartbeat));
}

int64_t PoisonBoard::memoryBytes(int ranks) {
  return textBytes(ranks) * (kBroadcastsMax + 1) * (static_cast<int64_t>(ranks) + 1);
}

PoisonBoard::PoisonBoard(Transport &transport, std::unique_ptr<BufferPool> sendPool,
                         std::unique_ptr<BufferPool> receivePool, Doorbell *doorbell,
                         HeartbeatOptions heartbeat)
    : transport_(transport), sendPool_(std::move(sendPool)), receivePool_(std::move(receivePool)),
      doorbell_(doorbell), ready_(static_cast<size_t>(transport.size()), false),
      settled_(static_cast<size_t>(transport.size()), false), awaited_(transport.size()),
      heartbeat_(transport, heartbeat) {}

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
  // What came from the board is not a new failure of this rank; its text may have come since.
  Status known = this->status();
  if (status.ok() || (!known.ok() && known.kind() == status.kind() &&
                      (known.message() == status.message() || status.message().empty() ||
                       status.message().starts_with(kStopped)))) {
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
  } else if (poison_->message.empty() && !Poison::earlier(*poison_, poison)) {
    poison_ = std::move(poison); // the same, with its text
  }
}

void PoisonBoard::broadcastLocked(MessageKind kind) {
  ++broadcasts_;
  if (poison_) {
    // There are enough for all broadcasts of this rank, and each serves all peers, late ones too.
    told_ = poison_;
    toldText_ = sendPool_->tryTake();
    HR_CHECK(toldText_);
    std::string text = packText(*told_, sendPool_->bufferBytes());
    toldText_.resize(static_cast<int64_t>(text.size()));
    std::memcpy(toldText_.mutableData(), text.data(), text.size());
    toldText_.seal();
  }
  for (int peer = 0; peer < transport_.size(); ++peer) {
    if (peer != transport_.rank()) {
      sendLocked(kind, peer);
    }
  }
}

/// What the last broadcast said; without its text if the peer's board may not be open yet.
void PoisonBoard::sendLocked(MessageKind kind, int peer) {
  MessageHeader header;
  header.kind = kind;
  header.channel = kPoisonChannel.value;
  header.source = static_cast<uint32_t>(transport_.rank());
  if (told_) {
    header.sequence = told_->task.value;
    header.rows = static_cast<uint64_t>(told_->row);
    header.tag = static_cast<uint64_t>(told_->rank) << 8 | static_cast<uint64_t>(told_->kind);
  }
  BufferRef text;
  if (told_ && ready_[static_cast<size_t>(peer)]) {
    text = toldText_;
    header.bytes = static_cast<uint64_t>(text.size());
    header.checksum = bodyChecksum(text, Checksums::kOn);
  }
  // A peer that is gone needs no telling; settle() sees that it is gone.
  (void)transport_.send(peer, kPoisonChannel, encodeHeader(header), std::move(text));
}

/// The peer has said of a failure without its text.
void PoisonBoard::askLocked(int peer) {
  MessageHeader ask;
  ask.kind = MessageKind::kCredits;
  ask.channel = kPoisonChannel.value;
  ask.source = static_cast<uint32_t>(transport_.rank());
  (void)transport_.send(peer, kPoisonChannel, encodeHeader(ask), BufferRef());
  asked_.push_back(peer);
}

/// Whether this rank knows why the run has failed, as far as it ever will. Only then it says so to
/// the others: whoever has said the last is gone from then on.
bool PoisonBoard::knowsWhyLocked() {
  if (!poison_ || !poison_->message.empty()) {
    return true;
  }
  std::erase_if(asked_, [&](int peer) {
    Status link = transport_.peerStatus(peer);
    lost_ = link.ok() ? lost_ : link.message();
    return !link.ok();
  });
  if (!asked_.empty()) {
    return false;
  }
  poison_->message = lost_; // with the link to who knew
  return true;
}

void PoisonBoard::settledLocked(int peer) {
  awaited_ -= !settled_[static_cast<size_t>(peer)];
  settled_[static_cast<size_t>(peer)] = true;
}

void PoisonBoard::takeInLocked() {
  while (std::optional<Arrival> arrival = transport_.receive(kPoisonChannel)) {
    heartbeat_.heard(arrival->source);
    // Whatever came, and be it damaged: its sender has opened its board.
    if (!ready_[static_cast<size_t>(arrival->source)]) {
      ready_[static_cast<size_t>(arrival->source)] = true;
      if (told_) {
        sendLocked(announced_ ? MessageKind::kSettled : MessageKind::kPoison, arrival->source);
      }
    }
    Expected<MessageHeader> header = decodeHeader(*arrival, kPoisonChannel);
    if (!header.ok()) {
      mergeLocked(
          {header.status().kind(), transport_.rank(), {}, -1, header.status().message(), {}});
      if (poison_->message.empty() && std::erase(asked_, arrival->source) > 0) {
        poison_->message = header.status().message(); // it was the text
      }
      // It may have been its last word: do not wait for another.
      settledLocked(arrival->source);
      continue;
    }
    auto kind = static_cast<ErrorKind>(header->tag & 0xff);
    const bool lacksText = kind != ErrorKind::kOk && !arrival->body;
    if (lacksText) {
      askLocked(arrival->source);
    } else if (kind != ErrorKind::kOk) {
      std::erase(asked_, arrival->source);
    }
    if (!lacksText && header->kind == MessageKind::kSettled) {
      settledLocked(arrival->source);
      if (doorbell_) {
        doorbell_->ring();
      }
    }
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
  std::vector<std::pair<int, Status>> down;
  for (int peer = 0; peer < transport_.size() && transport_.mayBeDown(); ++peer) {
    if (Status link = transport_.peerStatus(peer); !link.ok()) {
      down.emplace_back(peer, std::move(link));
    }
  }
  takeInLocked();
  if (!announced_ && !knowsWhyLocked()) {
    return PollState::kPending;
  }
  if (!announced_) {
    announced_ = true;
    settledLocked(transport_.rank());
    broadcastLocked(MessageKind::kSettled);
  }
  for (const auto &[peer, link] : down) {
    if (!settled_[static_cast<size_t>(peer)]) {
      mergeLocked({link.kind(), transport_.rank(), {}, -1, link.message(), {}});
      if (poison_->message.empty()) {
        poison_->message = link.message(); // it may have been the one who knew
      }
      settledLocked(peer);
    }
  }
  if (awaited_ > 0 || !transport_.drained()) {
    return PollState::kPending;
  }
  return poison_ ? PollState::kFailed : PollState::kDone;
}

} // namespace headrace
