// Landing: what comes from other processes, checked, and put into the inbox of the run that it
// belongs to.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/transport/frame.h"
#include "runtime/transport/inbox.h"

namespace headrace {

/// Purpose: the receiving end of all links of a transport: nothing that a peer says is believed
/// before it has passed here.
/// Thread-safety: of one thread at a time but inbox() and run().
class Landing {
public:
  Inbox &inbox() { return inbox_; }
  uint64_t run() const { return run_.load(std::memory_order_relaxed); }
  /// What came for the next run is for this one now, and what still comes for the last is dropped.
  void beginRun();

  /// Where the body of a message is to be received: null if there is none or if it is to be passed
  /// over. kCorrupt: why it must not have been sent; the link to the peer is to be cut.
  Expected<BufferRef> bufferFor(const Frame &frame);
  /// A message that is here as a whole, in the buffer that bufferFor() gave.
  Status deliver(int source, const Frame &frame, BufferRef body);

private:
  Inbox inbox_;
  std::atomic<uint64_t> run_{0};
  std::vector<std::pair<ChannelId, Arrival>> early_; ///< of the next run
};

} // namespace headrace
