// Sending and receiving the pieces of a collective's rounds.
#include "runtime/communication/collective_run.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/content_hash.h"

namespace headrace {

namespace {
constexpr uint64_t kCountMask = (uint64_t{1} << 40) - 1;
} // namespace

uint64_t CollectiveCall::pack() const {
  return static_cast<uint64_t>(kind) << 60 | static_cast<uint64_t>(type) << 56 |
         static_cast<uint64_t>(op) << 52 | (static_cast<uint64_t>(root) & 0xfff) << 40 |
         (static_cast<uint64_t>(count) & kCountMask);
}

CollectiveCall CollectiveCall::unpack(uint64_t packed) {
  CollectiveCall call;
  call.kind = static_cast<CollectiveKind>(std::min<uint64_t>(packed >> 60, 6));
  call.type = static_cast<ElementType>(std::min<uint64_t>(packed >> 56 & 0xf, 4));
  call.op = static_cast<ReduceOp>(std::min<uint64_t>(packed >> 52 & 0xf, 2));
  call.root = static_cast<int>(packed >> 40 & 0xfff);
  call.count = static_cast<int64_t>(packed & kCountMask);
  return call;
}

std::string CollectiveCall::describe() const {
  std::string elements = " of " + std::to_string(count) + " " + elementTypeName(type);
  std::string reduction = std::string(" ") + reduceOpName(op) + elements;
  switch (kind) {
  case CollectiveKind::kAllReduceRing:
    return "all_reduce" + reduction + " by ring";
  case CollectiveKind::kAllReduceDoubling:
    return "all_reduce" + reduction + " by doubling";
  case CollectiveKind::kAllGather:
    return "all_gather" + elements;
  case CollectiveKind::kReduceScatter:
    return "reduce_scatter" + reduction;
  case CollectiveKind::kAllToAll:
    return std::string("all_to_all of ") + elementTypeName(type);
  case CollectiveKind::kBroadcast:
    return "broadcast" + elements + " from rank " + std::to_string(root);
  case CollectiveKind::kBarrier:
    return "barrier";
  }
  return "unknown";
}

uint64_t CollectiveCall::chain(uint64_t before) const {
  uint64_t words[3] = {before, pack(), counts};
  return checksumBytes(words, sizeof(words));
}

int64_t CollectiveRun::sendTotal(int peer) const {
  int64_t total = 0;
  for (const CollectiveRound &each : rounds) {
    total += each.sendPeer == peer ? each.sendCount : 0;
  }
  return total;
}

int64_t CollectiveRun::receiveTotal(int peer) const {
  int64_t total = 0;
  for (const CollectiveRound &each : rounds) {
    total += each.receivePeer == peer ? each.receiveCount : 0;
  }
  return total;
}

bool CollectiveRun::needs(int peer) const {
  if (phase != Phase::kQueued && phase != Phase::kRunning) {
    return false;
  }
  for (size_t index = round; index < rounds.size(); ++index) {
    const CollectiveRound &each = rounds[index];
    bool current = index == round;
    if (each.sendPeer == peer &&
        (!current ? each.sendCount > 0 : sendStaged < each.sendCount || staged)) {
      return true;
    }
    if (each.receivePeer == peer &&
        (!current ? each.receiveCount > 0 : received < each.receiveCount)) {
      return true;
    }
  }
  return false;
}

int64_t CollectiveRun::pieceElements(const Link &link) const {
  return std::max<int64_t>(1, link.pieceBytes / elementBytes(call.type));
}

Status CollectiveRun::grant(const Link &link) {
  int64_t each = pieceElements(link);
  std::map<int, int64_t> more;
  while (outstanding < link.window && grantRound < rounds.size()) {
    const CollectiveRound &ahead = rounds[grantRound];
    if (grantPiece * each >= ahead.receiveCount) {
      ++grantRound;
      grantPiece = 0;
      continue;
    }
    ++grantPiece;
    ++outstanding;
    ++more[ahead.receivePeer];
  }
  for (const auto &[peer, credits] : more) {
    HR_RETURN_IF_ERROR(link.sendCredits(peer, credits));
  }
  return {};
}

Status CollectiveRun::send(const CollectiveRound &current, const Link &link, bool &progressed) {
  int64_t bytesEach = elementBytes(call.type);
  while (sendStaged < current.sendCount || staged) {
    if (!staged) {
      staged = link.sendPool->tryTake();
      if (!staged) {
        return {}; // rings when a peer is done with one
      }
      int64_t count = std::min(pieceElements(link), current.sendCount - sendStaged);
      staged.resize(count * bytesEach);
      std::memcpy(staged.mutableData(), sendBase + (current.sendOffset + sendStaged) * bytesEach,
                  static_cast<size_t>(count * bytesEach));
      staged.seal();
      sendStaged += count;
      progressed = true;
    }
    Peer &peer = peers[current.sendPeer];
    if (peer.credits == 0) {
      return {};
    }
    --peer.credits;
    HR_RETURN_IF_ERROR(link.sendPiece(current.sendPeer, peer.piecesSent++, std::move(staged)));
    progressed = true;
  }
  return {};
}

Status CollectiveRun::receive(const CollectiveRound &current, const Link &link, bool &progressed) {
  int64_t bytesEach = elementBytes(call.type);
  // Where a round sends and receives the same elements, a piece must have been copied out before
  // the other's is combined into it.
  bool overlaps = current.sendCount > 0 && current.sendOffset == current.receiveOffset &&
                  sendBase == receiveBase;
  while (received < current.receiveCount) {
    Peer &peer = peers[current.receivePeer];
    int64_t count = std::min(pieceElements(link), current.receiveCount - received);
    if (peer.arrived.empty() || (overlaps && sendStaged < received + count)) {
      return {};
    }
    BufferRef piece = std::move(peer.arrived.front());
    peer.arrived.pop_front();
    if (piece.size() != count * bytesEach) {
      return makeError(ErrorKind::kCorrupt, "a piece of collective ", number, " has ", piece.size(),
                       " bytes, expected ", count * bytesEach);
    }
    std::byte *target = receiveBase + (current.receiveOffset + received) * bytesEach;
    if (current.combine == Combine::kReduce) {
      reduceInto(target, piece.data(), count, call.type, call.op);
    } else {
      std::memcpy(target, piece.data(), static_cast<size_t>(count * bytesEach));
    }
    // Given back before the credit goes out, so that there is a buffer for what it brings.
    piece.reset();
    received += count;
    --outstanding;
    progressed = true;
    HR_RETURN_IF_ERROR(grant(link));
  }
  return {};
}

Status CollectiveRun::advance(const Link &link) {
  while (phase == Phase::kRunning) {
    if (round == rounds.size()) {
      if (copyBytes > 0) {
        std::memcpy(copyTo, copyFrom, static_cast<size_t>(copyBytes));
      }
      phase = Phase::kDone;
      state.store(PollState::kDone, std::memory_order_release);
      return {};
    }
    const CollectiveRound &current = rounds[round];
    bool progressed = false;
    HR_RETURN_IF_ERROR(send(current, link, progressed));
    HR_RETURN_IF_ERROR(receive(current, link, progressed));
    if (sendStaged == current.sendCount && !staged && received == current.receiveCount) {
      ++round;
      sendStaged = 0;
      received = 0;
    } else if (!progressed) {
      return {};
    }
  }
  return {};
}

} // namespace headrace
