// Sharing of the morsels of tables: a rank that has read its share takes morsels from ranks that
// are behind, and each morsel is read by exactly one rank.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/communication/message.h"
#include "runtime/communication/poison.h"
#include "runtime/exec/share/morsel_rights.h"
#include "runtime/storage/columns/source.h"
#include "runtime/transport/transport.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace headrace::exec {

/// Whether this rank takes morsels of others and gives its own. It answers those that do in any
/// case.
enum class Sharing : uint8_t { kOff, kOn };

/// Purpose: the right to read a morsel is on one rank at any time, at first on the rank in whose
/// share it is. Rights move by messages of a header only, half of what is left at a time, from the
/// end. Who stands still holds up only what it has the right to, and is asked while there is other
/// work. Ownership: borrows transport, board, doorbell and clock. Thread-safety: all but the rights
/// is for the rank's thread. Lifetime: one per rank and run.
class MorselSharing {
public:
  /// Opens all morsels of a table (storage::Reach::kAll).
  using Open = std::function<Expected<std::unique_ptr<storage::MorselSource>>()>;

  static Expected<std::unique_ptr<MorselSharing>> open(Transport &transport, PoisonBoard &board,
                                                       Doorbell *doorbell, const Clock &clock,
                                                       Sharing sharing);
  ~MorselSharing();
  MorselSharing(const MorselSharing &) = delete;
  MorselSharing &operator=(const MorselSharing &) = delete;

  /// A scan that these ranks share, this one among them. The same on all of them, before poll().
  void add(TaskId scan, const std::vector<int> &members, Open open);

  /// What a run reads of a scan that was added; once.
  struct Shared {
    std::shared_ptr<storage::MorselSource> source;
    std::shared_ptr<MorselRights> rights;
  };
  Expected<Shared> take(TaskId scan);

  /// Takes in what others ask and give, answers, and asks where little is left.
  Status poll();

  /// This rank has ended all its scans. True once all that it shares with have, so that none will
  /// ask any more; poll() until then.
  Expected<bool> finish();

  struct Numbers {
    int64_t taken = 0;    ///< morsels, from others
    int64_t given = 0;    ///< likewise, to others
    int64_t messages = 0; ///< sent
  };
  Numbers numbers(TaskId scan) const;

  /// The ranks that one asks, by their places among `size`: all others, or of many those at the
  /// distances 1, 2, 4, …, so that work spreads in few steps. Symmetric.
  static std::vector<size_t> partnersOf(size_t place, size_t size);

private:
  struct Partner {
    int rank = -1;
    bool asked = false;     ///< and has not answered
    bool askedLast = false; ///< when this rank had nothing left
    bool declined = false;  ///< has no more left than this rank had
    bool dry = false;       ///< has nothing that it would give
  };
  struct Scan {
    TaskId task;
    std::vector<Partner> partners;
    Open open;
    bool shares = false; ///< takes from others, and gives
    size_t morsels = 0;  ///< of all ranks
    size_t low = 0;
    std::shared_ptr<storage::MorselSource> held; ///< until a run takes it
    std::weak_ptr<storage::MorselSource> source;
    std::shared_ptr<MorselRights> rights;          ///< null: not begun
    int64_t startNanoseconds = -1;                 ///< of the run
    std::vector<std::pair<size_t, size_t>> askers; ///< partner, and what it has left
    Numbers numbers;
  };

  MorselSharing(Transport &transport, PoisonBoard &board, Doorbell *doorbell, const Clock &clock,
                Sharing sharing);
  Status begin(Scan &scan);
  Status accept(const Arrival &arrival);
  Status acceptGiven(Scan &scan, Partner &partner, const MessageHeader &header);
  Status answer(Scan &scan);
  Status ask(Scan &scan);
  bool isWorthAsking(const Scan &scan, size_t left) const;
  Status send(Scan &scan, const Partner &partner, MessageKind kind, uint64_t rows, uint64_t first);
  Status send(int peer, MessageHeader header);

  Transport &transport_;
  PoisonBoard &board_;
  Doorbell *doorbell_;
  const Clock &clock_;
  const Sharing sharing_;
  std::map<TaskId, Scan> scans_;
  bool finishing_ = false;
  std::map<int, bool> ended_;      ///< by rank that shares a scan with this one: whether it has
  std::vector<uint64_t> sent_;     ///< messages, by rank
  std::vector<uint64_t> received_; ///< likewise
};

} // namespace headrace::exec
