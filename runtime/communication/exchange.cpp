// The exchange's protocol: data against credits, an end per peer.
//
//   receiver -> source: kCredits, rows = how many
//   source -> receiver: kData, sequence 0, 1, … ; then kEnd, sequence = how many there were
#include "runtime/communication/exchange.h"

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/base/readable.h"
#include "runtime/communication/members.h"

namespace headrace {

Expected<std::unique_ptr<Exchange>> Exchange::open(Transport &transport, PoisonBoard &board,
                                                   Doorbell *doorbell, ExchangeOptions options) {
  HR_CHECK(options.receivePool && options.window >= 1 && options.channel.valid());
  options.members = membersOr(std::move(options.members), transport);
  HR_ASSIGN_OR_RETURN(int own, placeOf(transport.rank(), options.members, options.channel));
  const bool receives = options.receivers == Receivers::kAll || own == 0;
  if (receives &&
      options.receivePool->buffersMax() < static_cast<int64_t>(options.members.size())) {
    return makeError(ErrorKind::kInternal, "an exchange needs a receive buffer a member, ",
                     options.members.size(), ", got: ", options.receivePool->buffersMax());
  }
  HR_RETURN_IF_ERROR(transport.open(options.channel, options.receivePool));
  options.receivePool->setDoorbell(doorbell);
  std::unique_ptr<Exchange> exchange(
      new Exchange(transport, board, doorbell, receives, std::move(options)));
  std::lock_guard lock(exchange->mutex_);
  exchange->grant();
  return exchange;
}

Exchange::Exchange(Transport &transport, PoisonBoard &board, Doorbell *doorbell, bool receives,
                   ExchangeOptions options)
    : transport_(transport), board_(board), doorbell_(doorbell), options_(std::move(options)),
      receives_(receives), peers_(options_.members.size()),
      endsLeft_(receives ? peers_.size() : 0) {
  for (Peer &peer : peers_) {
    peer.ended = !receives_; // nothing comes from it
  }
}

Exchange::~Exchange() {
  transport_.close(options_.channel);
  options_.receivePool->setDoorbell(nullptr);
}

void Exchange::fail(const Status &status) {
  if (phase_ == Phase::kFailed) {
    return;
  }
  phase_ = Phase::kFailed;
  board_.raise(status, options_.task);
  arrived_.clear();
}

Status Exchange::sendControl(int peer, MessageKind kind, uint64_t value) {
  MessageHeader header;
  header.kind = kind;
  header.channel = options_.channel.value;
  header.source = static_cast<uint32_t>(transport_.rank());
  if (kind == MessageKind::kEnd) {
    header.last = 1;
    header.sequence = value;
  } else {
    header.rows = value;
  }
  return transport_
      .send(rankOf(static_cast<size_t>(peer)), options_.channel, encodeHeader(header), BufferRef())
      .status();
}

void Exchange::grant() {
  if (!receives_) {
    return;
  }
  // Asked for first: a buffer that comes back after the count below then rings.
  options_.receivePool->wantBuffer();
  const int64_t free = options_.receivePool->freeBuffers();
  if (!short_) {
    grantToOwed(free - granted_);
  }
  const int64_t available = free - granted_; // less what was just granted
  if (short_ && (mayGrant_ || available != availableSeen_)) {
    grantToAll(available);
  }
}

/// There are buffers for the windows of all: only those whose messages were taken have less.
void Exchange::grantToOwed(int64_t available) {
  for (; !owed_.empty(); owed_.pop_back()) {
    Peer &peer = peers_[static_cast<size_t>(owed_.back())];
    const int64_t wanted = peer.ended ? 0 : options_.window - peer.granted - peer.queued;
    if (wanted > available) {
      short_ = mayGrant_ = true;
      return;
    }
    if (wanted > 0) {
      available -= wanted;
      grantTo(owed_.back(), wanted);
    }
  }
}

/// A peer that is gone is noticed by advance(), and only if it is still needed.
void Exchange::grantTo(int peer, int64_t credits) {
  peers_[static_cast<size_t>(peer)].granted += credits;
  granted_ += credits;
  (void)sendControl(peer, MessageKind::kCredits, static_cast<uint64_t>(credits));
}

void Exchange::grantToAll(int64_t available) {
  // A granted message needs a pool buffer when it comes, so grants never exceed the free ones. The
  // last ones are kept for peers without any grant: otherwise a silent peer could hold what the
  // others wait for.
  mayGrant_ = false;
  int size = peerCount();
  int64_t waiting = std::ranges::count_if(
      peers_, [](const Peer &peer) { return !peer.ended && peer.granted == 0; });
  std::vector<int64_t> more(peers_.size(), 0);
  bool granted = true;
  while (granted && available > 0) {
    granted = false;
    for (int step = 0; step < size && available > 0; ++step) {
      auto index = static_cast<size_t>((nextGrant_ + step) % size);
      const Peer &peer = peers_[index];
      if (peer.ended || peer.granted + more[index] + peer.queued >= options_.window) {
        continue;
      }
      if (peer.granted + more[index] == 0) {
        --waiting;
      } else if (available <= waiting) {
        continue;
      }
      ++more[index];
      --available;
      granted = true;
    }
  }
  nextGrant_ = (nextGrant_ + 1) % size;
  availableSeen_ = available; // as many as were just granted may come back
  short_ = false;
  owed_.clear();
  for (int index = 0; index < size; ++index) {
    if (int64_t credits = more[static_cast<size_t>(index)]; credits > 0) {
      grantTo(index, credits);
    }
    const Peer &peer = peers_[static_cast<size_t>(index)];
    short_ |= !peer.ended && peer.granted + peer.queued < options_.window;
  }
}

Status Exchange::accept(Arrival arrival) {
  HR_ASSIGN_OR_RETURN(MessageHeader header, decodeHeader(arrival, options_.channel));
  HR_ASSIGN_OR_RETURN(int position, placeOf(arrival.source, options_.members, options_.channel));
  Peer &peer = peers_[static_cast<size_t>(position)];
  auto corrupt = [&](const char *what, uint64_t expected, uint64_t got) {
    return makeError(ErrorKind::kCorrupt, what, " from rank ", arrival.source, " on channel ",
                     options_.channel, ": expected ", expected, ", got: ", got);
  };
  switch (header.kind) {
  case MessageKind::kCredits:
    peer.credits += static_cast<int64_t>(header.rows);
    if (peer.refused) {
      peer.refused = false;
      if (doorbell_) {
        doorbell_->ring();
      }
    }
    return {};
  case MessageKind::kData:
    if (header.sequence != peer.nextReceive || peer.ended) {
      return corrupt("messages were lost", peer.nextReceive, header.sequence);
    }
    if (peer.granted == 0) {
      return corrupt("a message beyond the credits", peer.nextReceive, header.sequence);
    }
    mayGrant_ = true;
    ++peer.nextReceive;
    --peer.granted;
    --granted_;
    ++peer.queued;
    ++numbers_.messagesReceived;
    numbers_.rowsReceived += static_cast<int64_t>(header.rows);
    numbers_.bytesReceived += static_cast<int64_t>(header.bytes);
    arrived_.push_back(
        {position, static_cast<int64_t>(header.rows), header.tag, std::move(arrival.body)});
    return {};
  case MessageKind::kEnd:
    if (header.sequence != peer.nextReceive || peer.ended) {
      return corrupt("messages were lost before the end", header.sequence, peer.nextReceive);
    }
    peer.ended = true;
    mayGrant_ = true;
    --endsLeft_;
    // Its grants will not be used.
    granted_ -= peer.granted;
    peer.granted = 0;
    return {};
  default:
    return corrupt("an unexpected kind of message", static_cast<uint64_t>(MessageKind::kData),
                   static_cast<uint64_t>(header.kind));
  }
}

void Exchange::takeIn() {
  while (phase_ != Phase::kFailed) {
    std::optional<Arrival> arrival = transport_.receive(options_.channel);
    if (!arrival) {
      return;
    }
    if (Status status = accept(std::move(*arrival)); !status.ok()) {
      fail(status);
    }
  }
}

void Exchange::advance() {
  if (phase_ == Phase::kDone || phase_ == Phase::kFailed) {
    return;
  }
  if (board_.poisoned()) {
    fail(board_.status());
    return;
  }
  // Asked before the messages are taken in: what a peer sent before it left has then arrived.
  std::vector<std::pair<size_t, Status>> down;
  const size_t watched = receives_ ? peers_.size() : 1;
  for (size_t peer = 0; peer < watched && transport_.mayBeDown(); ++peer) {
    if (Status link = transport_.peerStatus(rankOf(peer)); !link.ok()) {
      down.emplace_back(peer, std::move(link));
    }
  }
  takeIn();
  if (phase_ == Phase::kFailed) {
    return;
  }
  for (const auto &[peer, link] : down) {
    // A peer leaves once it has our end and all others'; before, we still need it.
    if (phase_ == Phase::kOpen || !peers_[peer].ended) {
      fail(link);
      return;
    }
  }
  grant();
  if (phase_ == Phase::kFinishing && endsLeft_ == 0 && arrived_.empty()) {
    phase_ = Phase::kDone;
  }
}

int64_t Exchange::credits(int peer) {
  std::lock_guard lock(mutex_);
  takeIn();
  return phase_ == Phase::kOpen ? peers_[static_cast<size_t>(peer)].credits : 0;
}

SendResult Exchange::trySend(ExchangeMessage &message) {
  HR_CHECK(message.peer >= 0 && message.peer < peerCount() && message.rows >= 0 &&
           (!message.body || message.body.sealed()));
  // Outside the lock: it reads the whole body.
  uint64_t checksum = 0;
  {
    std::lock_guard lock(mutex_);
    if (phase_ == Phase::kOpen && peers_[static_cast<size_t>(message.peer)].credits == 0) {
      takeIn();
    }
    if (phase_ == Phase::kFailed || board_.poisoned()) {
      advance();
      return SendResult::kFailed;
    }
    HR_CHECK(phase_ == Phase::kOpen);
    Peer &peer = peers_[static_cast<size_t>(message.peer)];
    if (peer.credits == 0) {
      peer.refused = true;
      ++numbers_.refusedSends;
      return SendResult::kNoCredit;
    }
    --peer.credits;
  }
  int target = rankOf(static_cast<size_t>(message.peer));
  checksum = bodyChecksum(message.body, checksumsTo(transport_, target, options_.checksums));
  std::lock_guard lock(mutex_);
  if (phase_ == Phase::kFailed) {
    return SendResult::kFailed;
  }
  HR_CHECK(phase_ == Phase::kOpen);
  Peer &peer = peers_[static_cast<size_t>(message.peer)];
  int64_t bytes = message.body ? message.body.size() : 0;
  if (bytes > options_.receivePool->bufferBytes()) {
    fail(makeError(ErrorKind::kUnsupported, "a message of ", formatBytes(bytes),
                   " does not fit an exchange buffer of ",
                   formatBytes(options_.receivePool->bufferBytes()), "; raise --exchange-buffer"));
    return SendResult::kFailed;
  }
  MessageHeader header;
  header.kind = MessageKind::kData;
  header.channel = options_.channel.value;
  header.source = static_cast<uint32_t>(transport_.rank());
  header.sequence = peer.nextSend;
  header.rows = static_cast<uint64_t>(message.rows);
  header.bytes = static_cast<uint64_t>(bytes);
  header.checksum = checksum;
  header.tag = message.tag;
  Expected<SendTicket> ticket =
      transport_.send(target, options_.channel, encodeHeader(header), std::move(message.body));
  if (!ticket.ok()) {
    fail(ticket.status());
    return SendResult::kFailed;
  }
  ++peer.nextSend;
  ++numbers_.messagesSent;
  numbers_.rowsSent += message.rows;
  numbers_.bytesSent += bytes;
  return SendResult::kAccepted;
}

void Exchange::finish() {
  std::lock_guard lock(mutex_);
  if (phase_ != Phase::kOpen) {
    HR_CHECK(phase_ == Phase::kFailed);
    return;
  }
  phase_ = Phase::kFinishing;
  const int receivers = options_.receivers == Receivers::kAll ? peerCount() : 1;
  for (int peer = 0; peer < receivers; ++peer) {
    Status status =
        sendControl(peer, MessageKind::kEnd, peers_[static_cast<size_t>(peer)].nextSend);
    if (!status.ok()) {
      fail(status);
      return;
    }
  }
}

std::optional<ExchangeMessage> Exchange::receive() {
  std::lock_guard lock(mutex_);
  takeIn();
  if (phase_ == Phase::kFailed) {
    return std::nullopt;
  }
  if (arrived_.empty()) {
    if (!owed_.empty()) {
      grant(); // bodies that were handed over come from no pool of ours: nothing rings for them
    }
    return std::nullopt;
  }
  ExchangeMessage message = std::move(arrived_.front());
  arrived_.pop_front();
  --peers_[static_cast<size_t>(message.peer)].queued;
  mayGrant_ = true;
  owed_.push_back(message.peer);
  if (!message.body) {
    grant(); // else once its buffer is back, which rings
  }
  return message;
}

bool Exchange::ended(int source) {
  std::lock_guard lock(mutex_);
  takeIn();
  const Peer &peer = peers_[static_cast<size_t>(source)];
  return peer.ended && peer.queued == 0;
}

PollState Exchange::poll() {
  board_.poll();
  std::lock_guard lock(mutex_);
  advance();
  switch (phase_) {
  case Phase::kDone:
    return PollState::kDone;
  case Phase::kFailed:
    return PollState::kFailed;
  default:
    return PollState::kPending;
  }
}

Exchange::Phase Exchange::phase() const {
  std::lock_guard lock(mutex_);
  return phase_;
}

Status Exchange::status() const {
  std::lock_guard lock(mutex_);
  // The board knows best: a smaller failure may have come after ours.
  return phase_ == Phase::kFailed ? board_.status() : Status();
}

Exchange::Numbers Exchange::numbers() const {
  std::lock_guard lock(mutex_);
  return numbers_;
}

} // namespace headrace
