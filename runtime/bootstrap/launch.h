// What a launcher tells its processes in variables of the environment, and the bootstrap made of
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/bootstrap/bootstrap.h"

namespace headrace {

/// Rank, size and meeting place of a process.
struct Launch {
  int rank = 0;
  int size = 1;
  /// HOST:PORT of rank 0's store, or a folder that all ranks see (it has a '/').
  std::string meeting;
  /// For a store: shared by all ranks, kept from everybody else.
  Credentials credentials;
  /// At which the other ranks reach this one; empty: found out.
  std::string address = {};
  /// Whether the launcher may start a process again in place of one that was lost.
  bool startsAgain = false;
};

/// The value of a variable, or null.
using Environment = std::function<const char *(const char *)>;

/// "torchrun", "kubernetes", …: launchers whose variables are known.
std::vector<std::string> launcherNames();

/// The launcher whose variables are there; empty if there is none.
std::string findLauncher(const Environment &environment);

/// Reads a launcher's variables, and HEADRACE_MEETING and HEADRACE_SECRET. Ranks of one machine
/// need neither if the launcher says that they are: they meet in a folder of the temporary one.
/// kUser, with what to set, if something is missing.
Expected<Launch> readLaunch(const std::string &launcher, const Environment &environment);

struct JoinOptions {
  /// For which ranks wait for each other.
  double patienceSeconds = 60;
  /// Asked about every 50 ms on the calling thread; true: no longer waited (kCancelled).
  std::function<bool()> interrupted = {};
};

/// Meets the other ranks; blocks until all have come.
Expected<std::unique_ptr<Bootstrap>> join(const Launch &launch, const JoinOptions &options);

} // namespace headrace
