// A rank program with a poison board, which settles at its end: the base of communication's tests.
#pragma once

#include <memory>

#include "runtime/communication/poison.h"
#include "test/unit/transport/cluster.h"

namespace headrace::test {

class BoardProgram : public RankProgram {
public:
  explicit BoardProgram(RankContext context)
      : transport(context.transport), blocks(context.blocks), doorbell(context.doorbell) {
    auto opened = PoisonBoard::open(transport, blocks, &doorbell);
    if (opened.ok()) {
      board = std::move(*opened);
    } else {
      failure = opened.status();
    }
  }

  /// Polls the work, then settles with the others.
  PollState poll() final {
    if (!failure.ok()) {
      return PollState::kFailed;
    }
    if (!worked) {
      board->poll();
      PollState state = work();
      if (state == PollState::kPending) {
        return state;
      }
      worked = true;
    }
    PollState state = board->settle();
    if (state == PollState::kPending) {
      return state;
    }
    check(state);
    return failure.ok() ? PollState::kDone : PollState::kFailed;
  }
  Status status() const override { return failure; }

protected:
  virtual PollState work() = 0;
  /// What must hold after all have settled; by default that nothing failed.
  virtual void check(PollState outcome) {
    require(outcome == PollState::kDone, board->status().toString());
  }
  template <typename... Parts> void require(bool condition, const Parts &...parts) {
    if (!condition && failure.ok()) {
      failure = makeError(ErrorKind::kInternal, "rank ", transport.rank(), ": ", parts...);
    }
  }

  Transport &transport;
  BlockPool &blocks;
  Doorbell &doorbell;
  std::unique_ptr<PoisonBoard> board;
  bool worked = false;
  Status failure;
};

} // namespace headrace::test
