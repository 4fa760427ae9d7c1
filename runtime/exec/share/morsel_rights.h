// Which morsels of a table are this rank's to read: its share, unless ranks share morsels.
#pragma once

#include "runtime/base/doorbell.h"
#include "runtime/storage/columns/source.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace headrace::exec {

/// Purpose: the morsels that are left to take, as ranges of their numbers. Thread-safe. Ordering:
/// taken from the first on, since neighbours share pages; given away from the last on.
class MorselRights {
public:
  explicit MorselRights(storage::MorselRange own) { add(own); }

  /// The first that is left. Whoever has it says settle() once it is loaded, or putBack().
  std::optional<size_t> take();
  void settle();
  void putBack(size_t morsel);
  /// Those that were taken and settled are to be taken once more.
  void returnTaken(storage::MorselRange taken);
  size_t left() const;
  /// None is left or being loaded, and no more will come.
  bool ended() const;
  /// Nobody needs those that are left, or any that come.
  void stop();

  /// More may come until endMore(). `doorbell` is rung when no more than `low` are left, and when
  /// none is.
  void expectMore(size_t low, Doorbell *doorbell);
  void endMore();
  bool wantsMore() const;
  void add(storage::MorselRange more);
  /// Up to so many of the last ones, which are then no longer this rank's.
  storage::MorselRange give(size_t count);
  /// How many have been taken so far.
  size_t taken() const;

private:
  void addLocked(storage::MorselRange more);

  mutable std::mutex mutex_;
  std::map<size_t, size_t> ranges_; ///< first -> end; apart from each other
  size_t left_ = 0;
  size_t taken_ = 0;
  size_t loading_ = 0; ///< taken, and neither settled nor put back
  bool stopped_ = false;
  bool moreMayCome_ = false;
  size_t low_ = 0;
  Doorbell *doorbell_ = nullptr;
};

} // namespace headrace::exec
