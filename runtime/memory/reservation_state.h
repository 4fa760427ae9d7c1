// What a Reservation and the blocks charged to it share.
#pragma once

#include <mutex>

#include "runtime/memory/budget.h"

namespace headrace {

/// Thread-safe; see Reservation. `granted` is what the budget counts for it, and covers `charged`.
struct Reservation::State {
  struct Bytes {
    int64_t granted = 0;
    int64_t charged = 0;
    int64_t peak = 0;
  };

  State(Budget &owner, ReservationRequest asked, int64_t grantedBytes)
      : budget(owner), request(std::move(asked)), bytes{grantedBytes, 0, 0} {}

  Bytes read();
  Status charge(int64_t more);
  void discharge(int64_t fewer);
  /// What is granted beyond what is charged stays as it is.
  Status chargeExactly(int64_t more);
  void dischargeExactly(int64_t fewer);
  /// Not with `mutex` held: a keeper that is asked to give way may discharge this.
  Status grow(int64_t leastBytes, int64_t mostBytes);

  Budget &budget;
  const ReservationRequest request;
  std::mutex mutex;
  Bytes bytes;
};

} // namespace headrace
