// MemoryTier: the bytes of one tier of a process. What is reserved comes first; what is only kept
// for later has the rest, and gives way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace {

class MemoryTier;

/// Who keeps what could be dropped: pages that were read, blocks for the next allocation. Ends with
/// use(nullptr), in the destructor of the class that keeps.
class Keeper {
public:
  virtual ~Keeper() = default;
  /// Counts in this tier from now on, and is asked to give way for others who do; null: in none.
  void use(std::shared_ptr<MemoryTier> tier);
  /// Drops what it needs least until `bytes` are given back to the tier, or nothing is left; says
  /// how many were.
  virtual int64_t giveWay(int64_t bytes) = 0;

protected:
  /// Takes what is kept out of the tier that it was counted in, and counts what there is room for
  /// in `tier`; the rest is dropped.
  virtual void moveTo(std::shared_ptr<MemoryTier> tier) = 0;

private:
  std::mutex changing_; ///< of tier_; taken before locks of who keeps
  std::shared_ptr<MemoryTier> tier_;
};

/// Purpose: counts the bytes of a tier, so that all that a process holds in it stays within one
/// limit. Ownership: of numbers alone; shared by who counts here. Thread-safety: full. A keeper may
/// call all but take(), or discharge a reservation, under its lock.
class MemoryTier {
public:
  explicit MemoryTier(int64_t limitBytes) : limitBytes_(limitBytes) {}

  /// For what is needed: keepers give way for it. False: it does not fit even so.
  bool take(int64_t bytes);
  /// For what would be kept: false if there is no room beside all else, and all that is asked for,
  /// and `leave`.
  bool takeIfFree(int64_t bytes, int64_t leave = 0);
  void giveBack(int64_t bytes);     ///< of take()
  void giveBackKept(int64_t bytes); ///< of takeIfFree()

  /// A run ends: what it needed at most is expected of the next ones.
  void endRun();
  /// What was needed at most at a time in this run and in some before it. What is kept should leave
  /// it free: memory that gives way in each run is had anew from the system in each run.
  int64_t expectedBytes() const;

  int64_t limitBytes() const { return limitBytes_; }
  int64_t usedBytes() const { return used_.load(std::memory_order_relaxed); }

private:
  friend class Keeper;
  /// From now on `keeper` is asked to give way, in the order in which they joined.
  void join(Keeper &keeper);
  void leave(Keeper &keeper);
  bool tryTake(int64_t bytes, int64_t leave = 0);
  void countNeeded(int64_t bytes);

  static constexpr size_t kRuns = 2;

  const int64_t limitBytes_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> needed_{0}; ///< of them, taken by take()
  std::atomic<int64_t> peak_{0};   ///< of needed_, since the last run ended
  std::atomic<int64_t> peakOfRuns_{0};
  std::mutex runsMutex_; ///< of the next two
  std::array<int64_t, kRuns> peaks_{};
  size_t runs_ = 0;
  std::atomic<int> waiting_{0}; ///< calls of take() for which keepers are asked to give way
  std::mutex mutex_;            ///< of keepers_
  std::vector<Keeper *> keepers_;
};

} // namespace headrace
