// Control: what ranks tell each other beside their runs, and which of them are still there.
//
//   frame: | bytes 4 | kind 1 | call 8 | attempt 8 | text |
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/bootstrap/mesh.h"

namespace headrace::session {

struct Message {
  enum class Kind : uint8_t {
    kAlive,   ///< a sign of life; goes no further than Control
    kLeaving, ///< the last message of a rank that ends in order; likewise
    kRun,     ///< rank 0: make ready for this order
    kReady,   ///< to rank 0: ready, or why not
    kGo,      ///< rank 0: all are ready, begin
    kSkip,    ///< rank 0: the order is withdrawn
    kReport,  ///< to rank 0: how the run ended, and what was measured
    kEnd,     ///< rank 0: how the call ended
    kMuster,  ///< rank 0: who is there?
    kPresent, ///< to rank 0: this rank, and whom it does not reach
    kRegroup, ///< rank 0: where the ranks that go on meet, and as which of how many
    kOut,     ///< the others go on without the rank that is told; its last message
  };
  Kind kind = Kind::kAlive;
  uint64_t call = 0;
  uint64_t attempt = 0; ///< of the call
  std::string text = {};
};

/// Purpose: messages between each two ranks, and a lease for each peer, which its signs of life
/// extend: a process that is stopped, or whose machine hangs, keeps its connections up, and only
/// its silence tells.
/// Ownership: owns the connections and a thread, which gives and takes the signs while the rank
/// does something else. Thread-safety: full. Ordering: the messages of one peer arrive as sent.
/// Lifetime: its end tells the others that this rank leaves, and waits at most a second for that.
class Control {
public:
  /// `silenceSecondsMax`: a peer that gives no sign of life for so long is lost; 0: never.
  Control(int rank, Links links, double silenceSecondsMax);
  ~Control();
  Control(const Control &) = delete;
  Control &operator=(const Control &) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(peers_.size()); }
  /// "rank 2 on host node7".
  std::string nameOf(int rank) const;
  const std::vector<std::string> &hosts() const { return hosts_; }

  /// Of no use to a peer that is gone, and no error: hear() has it.
  void tell(int peer, const Message &message);
  void tellAll(const Message &message);

  /// Asked about every 50 ms on the calling thread; true: no longer waited.
  using Interrupted = std::function<bool()>;
  enum class OnLoss : uint8_t {
    kFail, ///< when any rank is lost
    kWait, ///< only when the peer itself is
  };
  /// The peer's next message. Blocks. kIo, with the name of the rank, if a rank is lost, or if this
  /// peer has left; kCancelled if interrupted.
  Expected<Message> hear(int peer, const Interrupted &interrupted, OnLoss onLoss = OnLoss::kFail);

  /// Ok, or which rank is lost and how that is known (kIo).
  Status lost() const;
  bool isLost(int peer) const;
  /// Neither lost nor left.
  bool isHere(int peer) const;
  /// Ok, or why the others go on without this rank (kIo): then it reaches nobody any more.
  Status expelled() const;
  /// Loses a peer that can be heard, and tells it.
  void expel(int peer, const Status &why);
  /// Called on Control's thread, at most once a peer, when it is gone: lost, or in order.
  void whenGone(std::function<void(int, const Status &)> call);

private:
  struct Peer {
    Socket socket;
    std::string incoming;
    std::string outgoing;
    std::deque<Message> heard;
    int64_t lastSign = 0;
    Status gone; ///< why nothing more comes
    bool isLost = false;
  };
  void serve();
  void readLocked(int rank, Peer &peer);
  void takeFramesLocked(int rank, Peer &peer);
  void flushLocked(int rank, Peer &peer);
  void beatLocked(int64_t now);
  void expelLocked(int rank, Peer &peer, Status why);
  void leaveExpelledLocked(const Status &why);
  enum class Ending : uint8_t { kInOrder, kLost };
  void loseLocked(int rank, Peer &peer, Ending ending, Status why);
  void tellLocked(Peer &peer, const Message &message);
  void wake();

  const int rank_;
  const std::vector<std::string> hosts_;
  const int64_t silence_;
  const int64_t interval_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::vector<Peer> peers_;
  Status lost_;
  Status expelled_;
  std::function<void(int, const Status &)> whenGone_;
  std::vector<std::pair<int, Status>> untold_; ///< for whenGone_
  int64_t nextBeat_ = 0;
  bool leaving_ = false;
  int wake_ = -1;
  std::thread thread_;
};

} // namespace headrace::session
