// Starting collectives, checking that all ranks start the same, and moving their messages.
//
//   to every peer of a collective: kAnnounce, sequence = its number, tag = hash of the calls so
//   far,
//                                  rows = the call, checksum = elements that will come
//   receiver -> sender:            kCredits, rows = pieces
//   sender -> receiver:            kData, rows = number of the piece
#include "runtime/communication/communicator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "runtime/base/check.h"
#include "runtime/base/content_hash.h"
#include "runtime/communication/collective_run.h"
#include "runtime/communication/members.h"
#include "runtime/communication/message.h"

namespace headrace {

namespace {
/// Finished collectives whose late announcements are still compared.
constexpr size_t kHistoryMax = 1024;
/// Messages for collectives that this rank has yet to start.
constexpr size_t kEarlyMax = 1 << 16;
} // namespace

struct Communicator::Impl {
  struct Active {
    std::shared_ptr<CollectiveRun> run;
    CollectiveRun::Link link;
  };
  struct Early {
    int peer;
    MessageHeader header;
  };

  Impl(Transport &transport, PoisonBoard &board, Doorbell *doorbell, CommunicatorOptions given)
      : transport(transport), board(board), doorbell(doorbell), options(std::move(given)) {}

  int size() const { return static_cast<int>(options.members.size()); }
  Collective start(Communicator *owner, const CollectiveCall &call, CollectiveRounds rounds,
                   const void *sendBase, void *receiveBase,
                   const std::function<void(CollectiveRun &)> &adjust = nullptr);
  void pump();

  Status sendHeader(int peer, MessageKind kind, const CollectiveRun &run, uint64_t rows,
                    uint64_t checksum, BufferRef body);
  Status begin(Active &active);
  Status takeIn();
  Status process(Active &active, int peer, const MessageHeader &header, BufferRef body);
  Status checkAnnounced(const CollectiveCall &own, uint64_t number, uint64_t chain, int peer,
                        const MessageHeader &header) const;
  Status advance();
  std::vector<std::pair<int, Status>> downLinks() const;
  Status checkLinks(const std::vector<std::pair<int, Status>> &down) const;
  void failAll(const Status &status);
  Active *find(uint64_t number);

  Transport &transport;
  PoisonBoard &board;
  Doorbell *doorbell;
  CommunicatorOptions options;
  int rank = -1; ///< position among the members
  std::unique_ptr<BufferPool> receivePool;
  std::vector<std::unique_ptr<BufferPool>> sendPools;

  std::mutex mutex;
  std::vector<int> freeSlots;
  std::deque<Active> active; ///< in starting order, the ones with a slot first
  uint64_t nextNumber = 0;
  uint64_t chain = 0;
  struct Past {
    CollectiveCall call;
    uint64_t chain;
  };
  std::deque<Past> history; ///< of the last numbers before nextNumber
  std::map<uint64_t, std::vector<Early>> early;
  size_t earlyCount = 0;
};

Expected<std::unique_ptr<Communicator>> Communicator::open(Transport &transport, PoisonBoard &board,
                                                           BlockPool &blocks, Doorbell *doorbell,
                                                           CommunicatorOptions options) {
  HR_CHECK(options.window >= 1 && options.concurrentMax >= 1 && options.bufferBytes >= 8);
  options.members = membersOr(std::move(options.members), transport);
  auto impl = std::make_unique<Impl>(transport, board, doorbell, std::move(options));
  const std::vector<int> &members = impl->options.members;
  auto self = std::find(members.begin(), members.end(), transport.rank());
  HR_CHECK(self != members.end());
  impl->rank = static_cast<int>(self - members.begin());
  bool alone = members.size() == 1;
  int64_t window = impl->options.window;
  int64_t concurrent = impl->options.concurrentMax;
  BufferPool::Options pool = {.bufferBytes = impl->options.bufferBytes,
                              .buffersMax = alone ? 1 : window * concurrent,
                              .doorbell = doorbell};
  HR_ASSIGN_OR_RETURN(impl->receivePool, BufferPool::create(blocks, pool));
  pool.buffersMax = alone ? 1 : window;
  std::shared_ptr<BlockPool> seen = transport.bodyBlocks();
  for (int64_t slot = 0; slot < (alone ? 1 : concurrent); ++slot) {
    HR_ASSIGN_OR_RETURN(auto sendPool, BufferPool::create(seen ? *seen : blocks, pool));
    sendPool->keep(seen);
    impl->sendPools.push_back(std::move(sendPool));
    impl->freeSlots.push_back(static_cast<int>(slot));
  }
  HR_RETURN_IF_ERROR(transport.open(impl->options.channel, impl->receivePool.get()));
  return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Communicator::~Communicator() {
  std::lock_guard lock(impl_->mutex);
  // The callers' buffers may go now; nothing must be under way but after a failure.
  HR_CHECK(impl_->active.empty() || impl_->board.poisoned());
  impl_->transport.close(impl_->options.channel);
}

int Communicator::rank() const { return impl_->rank; }
int Communicator::size() const { return impl_->size(); }

PollState Collective::poll() {
  HR_CHECK(run_);
  PollState state = run_->state.load(std::memory_order_acquire);
  if (state == PollState::kPending) {
    communicator_->poll();
    state = run_->state.load(std::memory_order_acquire);
  }
  return state;
}

Status Collective::status() const {
  HR_CHECK(run_);
  return run_->state.load(std::memory_order_acquire) == PollState::kFailed
             ? communicator_->impl_->board.status()
             : Status();
}

void Communicator::poll() {
  impl_->board.poll();
  std::lock_guard lock(impl_->mutex);
  impl_->pump();
}

Collective Communicator::Impl::start(Communicator *owner, const CollectiveCall &call,
                                     CollectiveRounds rounds, const void *sendBase,
                                     void *receiveBase,
                                     const std::function<void(CollectiveRun &)> &adjust) {
  auto run = std::make_shared<CollectiveRun>();
  run->call = call;
  run->rounds = std::move(rounds);
  run->sendBase = static_cast<const std::byte *>(sendBase);
  run->receiveBase = static_cast<std::byte *>(receiveBase);
  for (const CollectiveRound &round : run->rounds) {
    for (int peer : {round.sendPeer, round.receivePeer}) {
      if (peer >= 0) {
        run->peers.try_emplace(peer);
      }
    }
  }
  if (adjust) {
    adjust(*run);
  }
  std::lock_guard lock(mutex);
  run->number = nextNumber++;
  run->chain = chain = call.chain(chain);
  history.push_back({call, run->chain});
  if (history.size() > kHistoryMax) {
    history.pop_front();
  }
  CollectiveRun *raw = run.get();
  CollectiveRun::Link link;
  link.pieceBytes = options.bufferBytes;
  link.window = options.window;
  link.sendPool = nullptr; // with the slot
  link.sendPiece = [this, raw](int peer, uint64_t piece, BufferRef body) {
    int member = options.members[static_cast<size_t>(peer)];
    uint64_t checksum = bodyChecksum(body, checksumsTo(transport, member, options.checksums));
    return sendHeader(peer, MessageKind::kData, *raw, piece, checksum, std::move(body));
  };
  link.sendCredits = [this, raw](int peer, int64_t credits) {
    return sendHeader(peer, MessageKind::kCredits, *raw, static_cast<uint64_t>(credits), 0, {});
  };
  active.push_back({run, std::move(link)});
  pump();
  Collective handle;
  handle.communicator_ = owner;
  handle.run_ = std::move(run);
  return handle;
}

Status Communicator::Impl::sendHeader(int peer, MessageKind kind, const CollectiveRun &run,
                                      uint64_t rows, uint64_t checksum, BufferRef body) {
  MessageHeader header;
  header.kind = kind;
  header.channel = options.channel.value;
  header.source = static_cast<uint32_t>(transport.rank());
  header.sequence = run.number;
  header.rows = rows;
  header.bytes = body ? static_cast<uint64_t>(body.size()) : 0;
  header.checksum = checksum;
  header.tag = run.chain;
  return transport
      .send(options.members[static_cast<size_t>(peer)], options.channel, encodeHeader(header),
            std::move(body))
      .status();
}

Communicator::Impl::Active *Communicator::Impl::find(uint64_t number) {
  for (Active &each : active) {
    if (each.run->number == number) {
      return &each;
    }
  }
  return nullptr;
}

Status Communicator::Impl::checkAnnounced(const CollectiveCall &own, uint64_t number,
                                          uint64_t ownChain, int peer,
                                          const MessageHeader &header) const {
  if (header.tag == ownChain) {
    return {};
  }
  std::string theirs = CollectiveCall::unpack(header.rows).describe();
  if (header.rows == own.pack()) {
    return makeError(ErrorKind::kMismatch, "collective ", number, " (", theirs, ") on channel ",
                     options.channel, " has other counts, or follows other collectives, on rank ",
                     options.members[static_cast<size_t>(peer)], " than on rank ",
                     transport.rank());
  }
  return makeError(ErrorKind::kMismatch, "collective ", number, " on channel ", options.channel,
                   " differs: rank ", options.members[static_cast<size_t>(peer)], " started ",
                   theirs, ", rank ", transport.rank(), " started ", own.describe());
}

Status Communicator::Impl::process(Active &each, int peer, const MessageHeader &header,
                                   BufferRef body) {
  CollectiveRun &run = *each.run;
  CollectiveRun::Peer &state = run.peers[peer];
  if (header.kind == MessageKind::kAnnounce) {
    HR_RETURN_IF_ERROR(checkAnnounced(run.call, run.number, run.chain, peer, header));
    auto expected = static_cast<uint64_t>(run.receiveTotal(peer));
    if (header.checksum != expected) {
      return makeError(ErrorKind::kMismatch, "collective ", run.number, " (", run.call.describe(),
                       "): rank ", options.members[static_cast<size_t>(peer)],
                       " sends another count than rank ", transport.rank(), " expects, ", expected,
                       ", got: ", header.checksum);
    }
    return {};
  }
  if (header.tag != run.chain) {
    return makeError(ErrorKind::kCorrupt, "a message of another collective came for ", run.number);
  }
  if (header.kind == MessageKind::kCredits) {
    state.credits += static_cast<int64_t>(header.rows);
    return {};
  }
  if (header.kind != MessageKind::kData || header.rows != state.piecesReceived || !body) {
    return makeError(ErrorKind::kCorrupt, "pieces were lost of collective ", run.number,
                     " from rank ", options.members[static_cast<size_t>(peer)], ", expected ",
                     state.piecesReceived, ", got: ", header.rows);
  }
  ++state.piecesReceived;
  state.arrived.push_back(std::move(body));
  return {};
}

Status Communicator::Impl::takeIn() {
  while (std::optional<Arrival> arrival = transport.receive(options.channel)) {
    HR_ASSIGN_OR_RETURN(MessageHeader header, decodeHeader(*arrival, options.channel));
    HR_ASSIGN_OR_RETURN(int peer, placeOf(arrival->source, options.members, options.channel));
    uint64_t number = header.sequence;
    Active *each = find(number);
    if (each && each->run->phase == CollectiveRun::Phase::kRunning) {
      HR_RETURN_IF_ERROR(process(*each, peer, header, std::move(arrival->body)));
    } else if (each || number >= nextNumber) {
      // Data cannot be early: it needs credits of a started collective.
      if (header.kind == MessageKind::kData || ++earlyCount > kEarlyMax) {
        return makeError(ErrorKind::kCorrupt,
                         "messages for collectives not yet started on channel ", options.channel,
                         " from rank ", arrival->source);
      }
      early[number].push_back({peer, header});
    } else if (header.kind == MessageKind::kAnnounce && nextNumber - number <= history.size()) {
      const Past &past = history[history.size() - (nextNumber - number)];
      HR_RETURN_IF_ERROR(checkAnnounced(past.call, number, past.chain, peer, header));
    }
  }
  return {};
}

Status Communicator::Impl::begin(Active &each) {
  CollectiveRun &run = *each.run;
  run.slot = freeSlots.back();
  freeSlots.pop_back();
  run.phase = CollectiveRun::Phase::kRunning;
  each.link.sendPool = sendPools[static_cast<size_t>(run.slot)].get();
  for (const auto &[peer, state] : run.peers) {
    HR_RETURN_IF_ERROR(sendHeader(peer, MessageKind::kAnnounce, run, run.call.pack(),
                                  static_cast<uint64_t>(run.sendTotal(peer)), {}));
  }
  HR_RETURN_IF_ERROR(run.grant(each.link));
  if (auto found = early.find(run.number); found != early.end()) {
    std::vector<Early> messages = std::move(found->second);
    early.erase(found);
    earlyCount -= messages.size();
    for (const Early &message : messages) {
      HR_RETURN_IF_ERROR(process(each, message.peer, message.header, {}));
    }
  }
  return {};
}

Status Communicator::Impl::advance() {
  bool again = true;
  while (again) {
    again = false;
    for (size_t index = 0; index < active.size(); ++index) {
      if (active[index].run->phase == CollectiveRun::Phase::kQueued) {
        if (freeSlots.empty()) {
          break;
        }
        HR_RETURN_IF_ERROR(begin(active[index]));
      }
      HR_RETURN_IF_ERROR(active[index].run->advance(active[index].link));
      if (active[index].run->phase == CollectiveRun::Phase::kDone) {
        freeSlots.push_back(active[index].run->slot);
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(index));
        --index;
        again = true;
        if (doorbell) {
          doorbell->ring();
        }
      }
    }
  }
  return {};
}

/// Those of what runs now.
std::vector<std::pair<int, Status>> Communicator::Impl::downLinks() const {
  std::vector<std::pair<int, Status>> down;
  if (!transport.mayBeDown()) {
    return down;
  }
  for (const Active &each : active) {
    for (const auto &[peer, state] : each.run->peers) {
      Status link = transport.peerStatus(options.members[static_cast<size_t>(peer)]);
      if (!link.ok()) {
        down.emplace_back(peer, std::move(link));
      }
    }
  }
  return down;
}

Status Communicator::Impl::checkLinks(const std::vector<std::pair<int, Status>> &down) const {
  for (const Active &each : active) {
    for (const auto &[peer, link] : down) {
      if (each.run->needs(peer)) {
        return link;
      }
    }
  }
  return {};
}

void Communicator::Impl::failAll(const Status &status) {
  board.raise(status, options.task);
  for (Active &each : active) {
    each.run->phase = CollectiveRun::Phase::kFailed;
    each.run->staged.reset();
    each.run->peers.clear();
    each.run->state.store(PollState::kFailed, std::memory_order_release);
  }
  active.clear();
  if (doorbell) {
    doorbell->ring();
  }
}

void Communicator::Impl::pump() {
  if (active.empty()) {
    // Late and early messages: order is checked even when nothing runs.
    if (Status status = takeIn(); !status.ok()) {
      failAll(status);
    }
    return;
  }
  if (board.poisoned()) {
    failAll(board.status());
    return;
  }
  // Asked before the messages are taken in: what a peer sent before it left has then arrived.
  const std::vector<std::pair<int, Status>> down = downLinks();
  Status status = takeIn();
  if (status.ok()) {
    status = advance();
  }
  if (status.ok()) {
    status = checkLinks(down);
  }
  if (!status.ok()) {
    failAll(status);
  }
}

Collective Communicator::allReduce(void *data, int64_t count, ElementType type, ReduceOp op,
                                   ReduceAlgorithm algorithm) {
  bool doubling = algorithm == ReduceAlgorithm::kDoubling ||
                  (algorithm == ReduceAlgorithm::kAuto &&
                   count * elementBytes(type) <= impl_->options.doublingBytesMax);
  CollectiveCall call = {doubling ? CollectiveKind::kAllReduceDoubling
                                  : CollectiveKind::kAllReduceRing,
                         type,
                         op,
                         0,
                         count,
                         0};
  return impl_->start(this, call,
                      doubling ? doublingAllReduce(rank(), size(), count)
                               : ringAllReduce(rank(), size(), count),
                      data, data);
}

Collective Communicator::allGather(const void *input, void *output, std::span<const int64_t> counts,
                                   ElementType type) {
  HR_CHECK(static_cast<int>(counts.size()) == size());
  std::vector<int64_t> offsets = offsetsOf(counts);
  CollectiveCall call = {CollectiveKind::kAllGather,
                         type,
                         ReduceOp::kSum,
                         0,
                         offsets.back(),
                         checksumBytes(counts.data(), counts.size_bytes())};
  auto self = static_cast<size_t>(rank());
  int64_t each = elementBytes(type);
  std::byte *own = static_cast<std::byte *>(output) + offsets[self] * each;
  if (own != input && counts[self] > 0) {
    std::memmove(own, input, static_cast<size_t>(counts[self] * each));
  }
  return impl_->start(this, call, ringAllGather(rank(), offsets), output, output);
}

Collective Communicator::reduceScatter(void *data, void *output, std::span<const int64_t> counts,
                                       ElementType type, ReduceOp op) {
  HR_CHECK(static_cast<int>(counts.size()) == size());
  std::vector<int64_t> offsets = offsetsOf(counts);
  CollectiveCall call = {CollectiveKind::kReduceScatter,
                         type,
                         op,
                         0,
                         offsets.back(),
                         checksumBytes(counts.data(), counts.size_bytes())};
  auto self = static_cast<size_t>(rank());
  int64_t each = elementBytes(type);
  std::byte *own = static_cast<std::byte *>(data) + offsets[self] * each;
  return impl_->start(this, call, ringReduceScatter(rank(), offsets), data, data,
                      [&](CollectiveRun &run) {
                        if (own != output) {
                          run.copyFrom = own;
                          run.copyTo = static_cast<std::byte *>(output);
                          run.copyBytes = counts[self] * each;
                        }
                      });
}

Collective Communicator::allToAll(const void *input, void *output,
                                  std::span<const int64_t> sendCounts,
                                  std::span<const int64_t> receiveCounts, ElementType type) {
  HR_CHECK(static_cast<int>(sendCounts.size()) == size() &&
           static_cast<int>(receiveCounts.size()) == size());
  auto self = static_cast<size_t>(rank());
  HR_CHECK(sendCounts[self] == receiveCounts[self]);
  std::vector<int64_t> sendOffsets = offsetsOf(sendCounts);
  std::vector<int64_t> receiveOffsets = offsetsOf(receiveCounts);
  // The counts differ between ranks by nature; each pair is compared with the announcement.
  CollectiveCall call = {CollectiveKind::kAllToAll, type, ReduceOp::kSum, 0, 0, 0};
  int64_t each = elementBytes(type);
  if (sendCounts[self] > 0) {
    std::memcpy(static_cast<std::byte *>(output) + receiveOffsets[self] * each,
                static_cast<const std::byte *>(input) + sendOffsets[self] * each,
                static_cast<size_t>(sendCounts[self] * each));
  }
  return impl_->start(this, call, pairwiseAllToAll(rank(), sendOffsets, receiveOffsets), input,
                      output);
}

Collective Communicator::broadcast(void *data, int64_t count, ElementType type, int root) {
  HR_CHECK(root >= 0 && root < size());
  CollectiveCall call = {CollectiveKind::kBroadcast, type, ReduceOp::kSum, root, count, 0};
  return impl_->start(this, call, treeBroadcast(rank(), size(), count, root), data, data);
}

Collective Communicator::barrier() {
  return impl_->start(this, {}, disseminationBarrier(rank(), size()), nullptr, nullptr,
                      [](CollectiveRun &run) {
                        run.sendBase = run.scratch;
                        run.receiveBase = run.scratch + 1;
                      });
}

} // namespace headrace
