// Budget: who may use how many bytes of a tier. Reserving comes before allocating.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/doorbell.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/base/tier.h"
#include "runtime/memory/memory_tier.h"

namespace headrace {

class Budget;

/// What a task asks for before it starts.
struct ReservationRequest {
  /// Named in the error: "hash join build".
  std::string operatorName = {};
  TaskId task = {};
  /// Without these the task cannot run.
  int64_t minimumBytes = 0;
  /// Granted at once as far as there is room (at least the minimum); 0 stands for the minimum.
  int64_t expectedBytes = 0;
  /// Place in the user's program, put into the error.
  std::string place = {};
};

/// Purpose: bytes of a tier granted to one task; allocations are charged to it. What is granted
/// grows and shrinks with what is charged, so that what comes back is there for others at once, or
/// to keep what was freed; but what was asked for before it is used stays granted.
/// Ownership: move-only; gives the bytes back when destroyed, by when nothing may be charged any
/// more. Thread-safety: charge(), discharge(), grow() and the numbers from any thread; moving and
/// release() by the owner alone. Lifetime: within the Budget's.
class Reservation {
public:
  Reservation() = default;
  Reservation(Reservation &&) noexcept = default;
  Reservation &operator=(Reservation &&other) noexcept;
  ~Reservation() { release(); }

  bool valid() const { return state_ != nullptr; }
  int64_t grantedBytes() const;
  int64_t chargedBytes() const;
  /// The most that was charged at any time.
  int64_t peakBytes() const;

  /// Takes `bytes` into use, asking for those that the grant does not cover.
  /// Fails with the typed memory error; then nothing is charged.
  Status charge(int64_t bytes);
  void discharge(int64_t bytes);

  /// Asks for `bytes` more without using them yet; all or the typed memory error.
  Status grow(int64_t bytes);
  /// Gives back what is granted beyond what is charged.
  void shrink();
  /// Gives everything back; nothing may be charged.
  void release();

private:
  friend class Budget;
  friend class BlockPool;
  friend class Block;
  friend class Charge;
  struct State;
  std::shared_ptr<State> state_;
};

/// Purpose: bytes charged to a reservation for as long as this lives.
/// Ownership: move-only; goes before its Reservation is released. Thread-safety: of a plain value.
class Charge {
public:
  Charge() = default;
  Charge(Charge &&other) noexcept { *this = std::move(other); }
  Charge &operator=(Charge &&other) noexcept;
  ~Charge() { reset(); }

  /// As Reservation::charge.
  static Expected<Charge> take(Reservation &reservation, int64_t bytes);
  int64_t bytes() const { return bytes_; }
  /// Part of the charge, to be given back on its own. `bytes`: at most bytes().
  Charge split(int64_t bytes);
  /// One of the same reservation, as part of this one; this may be of none yet.
  void add(Charge other);
  void reset();

private:
  std::shared_ptr<Reservation::State> state_;
  int64_t bytes_ = 0;
};

/// Purpose: the broker of one tier's bytes for one rank (its share of the process's limit).
/// Ownership: owns the accounts, not the memory; outlives its reservations. Thread-safety: full.
/// Ordering: requests are served as they come; no queue inside: who is told "not now" asks again
/// when its doorbell rings.
class Budget {
public:
  struct Options {
    Tier tier = Tier::kHost;
    int64_t limitBytes = 0;
    /// The setting to raise, named in the error.
    std::string setting = "--memory";
    /// Of the process, in which all its budgets count. Null: the limit alone counts.
    std::shared_ptr<MemoryTier> shared = nullptr;
  };
  explicit Budget(Options options);
  ~Budget();
  Budget(const Budget &) = delete;
  Budget &operator=(const Budget &) = delete;

  /// Grants at least the minimum now, or fails with the typed memory error.
  Expected<Reservation> reserve(const ReservationRequest &request);

  /// As reserve(), but an empty optional if the minimum fits the limit and only other reservations
  /// stand in the way; doorbells of watch() then ring when bytes come back.
  Expected<std::optional<Reservation>> tryReserve(const ReservationRequest &request);

  /// Rings `doorbell` when bytes come back after a tryReserve() had to be put off.
  void watch(Doorbell *doorbell);
  void unwatch(Doorbell *doorbell);

  Tier tier() const { return options_.tier; }
  int64_t limitBytes() const { return options_.limitBytes; }
  int64_t reservedBytes() const;
  int64_t peakReservedBytes() const;

private:
  friend class Reservation;
  Status refuse(const ReservationRequest &request, int64_t askedBytes, int64_t reservedBytes) const;
  /// Takes between the two amounts, as much as there is room for; -1 if not even the least.
  int64_t take(int64_t leastBytes, int64_t mostBytes);
  void giveBack(int64_t bytes);

  Options options_;
  mutable std::mutex mutex_;
  int64_t reserved_ = 0;
  int64_t peak_ = 0;
  bool putOff_ = false;
  std::vector<Doorbell *> doorbells_;
};

/// What a Reservation and the blocks charged to it share. Thread-safe. `granted` is what the budget
/// counts for it, and covers `charged` and `promised`.
struct Reservation::State {
  struct Bytes {
    int64_t granted = 0;
    int64_t promised = 0; ///< stays granted, whatever is charged
    int64_t charged = 0;
    int64_t peak = 0;
  };

  State(Budget &owner, ReservationRequest asked, int64_t grantedBytes)
      : budget(owner), request(std::move(asked)), bytes{grantedBytes, grantedBytes, 0, 0} {}

  Bytes read();
  Status charge(int64_t more);
  void discharge(int64_t fewer);
  Status grow(int64_t more);
  void shrink();
  /// Of the budget, not with `mutex` held: a keeper that is asked to give way may discharge this.
  Status take(int64_t more);
  /// Gives back what neither is charged nor was promised; with `mutex` held.
  void giveBackRest();

  Budget &budget;
  const ReservationRequest request;
  std::mutex mutex;
  Bytes bytes;
};

} // namespace headrace
