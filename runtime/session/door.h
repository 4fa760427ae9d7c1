// Door: where a rank that its engine has started again asks to come in.
//
//   DIR/door, if the ranks met in a folder:  HOST:PORT and the secret, readable by its owner alone
//   else the door is where rank 0's store was, and the secret is the user's
//
//   rank 0 -> who waits:  an empty frame each second; then a Membership
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/bootstrap/launch.h"
#include "runtime/bootstrap/reception.h"
#include "runtime/session/membership.h"

namespace headrace::session {

/// Purpose: lets those wait outside who prove that they are ranks of the job.
/// Ownership: of rank 0; owns the connections, the file, and a thread that keeps those who wait
/// informed that there is somebody. Thread-safety: full. Bounded: one a rank, the last that came.
/// Lifetime: its end sends those away who wait.
class Door {
public:
  /// `address`: of this machine. kIo if nothing can listen there, or the file cannot be written.
  static Expected<std::unique_ptr<Door>> open(const Launch &launch, const Credentials &credentials,
                                              const std::string &address);
  ~Door();

  /// The ranks, by their numbers at the launch, that wait.
  std::vector<int> waiting() const;
  /// Lets one in.
  void invite(int rank, const Membership &membership);
  /// Sends one away, or forgets it after it came in.
  void forget(int rank);

  /// After rank 0 was lost: removes its file, if there is one.
  static void removeFile(const Launch &launch);

private:
  explicit Door(Credentials credentials) : credentials_(std::move(credentials)) {}
  void serve();
  void forgetThoseWhoLeft();

  const Credentials credentials_;
  std::optional<Launch> withFile_;
  std::unique_ptr<Reception> reception_;
  mutable std::mutex mutex_;
  std::map<int, Socket> waiting_;
  Socket wake_; ///< rung at the end
  std::thread thread_;
};

/// What a rank was told that has come in again.
struct Admission {
  Membership membership;
  Credentials credentials;
  std::string address; ///< of this machine
};

struct KnockOptions {
  double silenceSecondsMax = 60; ///< of rank 0, after which it counts as gone
  std::function<bool()> interrupted;
};

/// Waits at the door until rank 0 lets this rank in, which it does between two calls. Nothing if
/// there is no door: then the job begins only. kIo if the job ends before, kCancelled if
/// interrupted.
Expected<std::optional<Admission>> knock(const Launch &launch, const KnockOptions &options);

} // namespace headrace::session
