// Mirror: one rank of a run of any size, whose peers do to it what it does to them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/transport/transport.h"

namespace headrace {

struct MirrorOptions {
  int rank = 0;
  int size = 1;
  /// Extents of the mesh's axes, the last the fastest; empty: one, of all ranks.
  std::vector<int> mesh = {};
  /// Channels of exchanges whose first member alone receives, each with its axes of the mesh.
  std::map<uint32_t, std::set<size_t>> gathers = {};
  /// Messages that such a receiver has room for.
  int64_t window = 4;
};

/// What the rank has sent on one channel.
struct MirrorNumbers {
  int64_t control = 0; ///< messages without rows or elements
  int64_t data = 0;
  int64_t bytes = 0;   ///< of bodies
  std::set<int> peers; ///< to whom
};

/// Purpose: to count what a rank sends in a run of more ranks than there are processes. All ranks
/// run the same plan, so what this one does to the rank some steps ahead along each axis of the
/// mesh, the rank as many behind does to it (in an all_reduce by doubling, and to those who share a
/// step: the same rank). Every peer has as many rows or elements for it as it has for that peer,
/// and none fails. Not for a rank that hands its part of an all_reduce to a neighbour, where there
/// are no power of two: nobody is to it what it is to the neighbour.
/// Thread-safety: as Transport. Ordering: an answer arrives before send() returns.
class MirrorTransport final : public Transport {
public:
  explicit MirrorTransport(MirrorOptions options);
  ~MirrorTransport() override;

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  BodyPassage bodyPassage(int) const override { return BodyPassage::kCopied; }
  void setDoorbell(Doorbell *doorbell) override;
  Status open(ChannelId channel, BufferPool *pool) override;
  void close(ChannelId channel) override;
  Expected<SendTicket> send(int peer, ChannelId channel, const HeaderBytes &header,
                            BufferRef body) override;
  bool sent(SendTicket) override { return true; }
  bool drained() override { return true; }
  std::optional<Arrival> receive(ChannelId channel) override;
  void progress() override {}
  bool mayBeDown() override { return false; }
  Status peerStatus(int) override { return {}; }
  void giveUp(int, Status) override {}

  /// By channel.
  std::map<uint32_t, MirrorNumbers> numbers() const;

private:
  struct State;
  /// As many steps behind this rank along each axis as the peer is ahead of it.
  int behind(int peer) const;
  /// The first along these axes.
  int firstAlong(const std::set<size_t> &axes) const;
  MirrorOptions options_; ///< as given, with a mesh
  std::unique_ptr<State> state_;
};

} // namespace headrace
