// Bootstrap: how the ranks of a job find each other before there is a network between them. Made by
// whoever knows the launcher, and handed in; it knows no transport, and no transport a launcher.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/bootstrap/handshake.h"

namespace headrace {

/// Purpose: rank, size, and one collective exchange of small records.
/// Thread-safety: none. Ordering: all ranks call exchange() equally often. Lifetime: for as long as
/// transports are to be made; a rank whose bootstrap goes counts as left.
class Bootstrap {
public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The address of this machine at which the other ranks reach it.
  virtual const std::string &address() const = 0;
  /// What the ranks of this job know, and nobody else.
  virtual const Credentials &credentials() const = 0;
  /// Gives every rank's record, by rank, once all have called. Blocks, for at most the patience
  /// that the bootstrap was made with. Fails (kIo) on every rank that waits if a rank has left or
  /// does not come, and names it; from then on every call fails.
  virtual Expected<std::vector<std::string>> exchange(std::string_view record) = 0;

  /// Returns once all ranks have called it.
  Status fence() { return exchange({}).status(); }

  static constexpr size_t kRecordBytesMax = 60 << 10;

protected:
  static Status checkRecord(std::string_view record) {
    return record.size() <= kRecordBytesMax
               ? Status()
               : makeError(ErrorKind::kInternal, "a record of a bootstrap has at most ",
                           kRecordBytesMax, " bytes, got: ", record.size());
  }
};

} // namespace headrace
