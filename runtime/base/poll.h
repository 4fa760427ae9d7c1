// What poll() of an asynchronous object answers.
#pragma once

#include <cstdint>

namespace headrace {

/// The rule of every poll() in the runtime: it goes as far as it can without blocking. If it
/// answers kPending, the object's doorbell rings once it may go further. kDone and kFailed are
/// final.
enum class PollState : uint8_t { kPending, kDone, kFailed };

} // namespace headrace
