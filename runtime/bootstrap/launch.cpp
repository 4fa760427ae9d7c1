// A table of launchers: the names of their variables.
#include "runtime/bootstrap/launch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "runtime/bootstrap/folder_bootstrap.h"
#include "runtime/bootstrap/store_bootstrap.h"

namespace headrace {

namespace {

constexpr size_t kSecretBytesMin = 16;

struct Launcher {
  const char *name;
  const char *rank;
  const char *size;
  /// Together they tell one start from another with the same secret.
  std::array<const char *, 3> session;
  /// Which no other launcher sets.
  const char *mark;
  /// All ranks are on this machine if the first is equal to the second, a variable or a text; null:
  /// the launcher does not say.
  std::array<const char *, 2> oneMachine;
  /// Whether it starts a single process again.
  bool startsAgain;
};

constexpr Launcher kLaunchers[] = {
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT"},
     "TORCHELASTIC_RUN_ID",
     {"LOCAL_WORLD_SIZE", "WORLD_SIZE"},
     false},
    {"mpi",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     {"PMIX_NAMESPACE"},
     "OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
     false},
    // In a batch script the job's variables are there too, but no step's.
    {"slurm",
     "SLURM_PROCID",
     "SLURM_NTASKS",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     "SLURM_STEP_ID",
     {"SLURM_STEP_NUM_NODES", "1"},
     false},
    // The indexed job does not tell how many it has; its manifest sets that variable beside.
    {"kubernetes",
     "JOB_COMPLETION_INDEX",
     "HEADRACE_SIZE",
     {"HEADRACE_SESSION"},
     "JOB_COMPLETION_INDEX",
     {},
     true},
    {"environment",
     "HEADRACE_RANK",
     "HEADRACE_SIZE",
     {"HEADRACE_SESSION"},
     "HEADRACE_RANK",
     {},
     true},
};

Expected<int> readNumber(const Environment &environment, const Launcher &launcher,
                         const char *variable) {
  const char *text = environment(variable);
  if (!text) {
    return makeError(ErrorKind::kUser, "started by ", launcher.name,
                     "? a variable is not in the environment: ", variable);
  }
  std::string digits = text;
  if (digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return makeError(ErrorKind::kUser, "expected a number in ", variable, ", got: ", digits);
  }
  return std::stoi(digits);
}

bool onOneMachine(const Environment &environment, const Launcher &launcher) {
  const auto &[local, all] = launcher.oneMachine;
  const char *here = local ? environment(local) : nullptr;
  const char *everywhere = local ? environment(all) : nullptr;
  return here && std::strcmp(here, everywhere ? everywhere : all) == 0;
}

/// A folder that ranks of one machine find without being told.
std::string folderOfThisStart(const Environment &environment, const Launcher &launcher,
                              std::string session) {
  const char *temporary = environment("TMPDIR");
  session.erase(session.find_last_not_of('/') + 1);
  std::replace_if(
      session.begin(), session.end(), [](unsigned char each) { return std::isalnum(each) == 0; },
      '-');
  return std::string(temporary && *temporary ? temporary : "/tmp") + "/headrace-" +
         std::to_string(geteuid()) + "-" + launcher.name + "-" + session;
}

/// Where torchrun's own store would be. A torchrun that keeps that store itself holds the port: its
/// neighbour is taken then.
std::string torchrunMeeting(const Environment &environment) {
  const char *address = environment("MASTER_ADDR");
  const char *port = environment("MASTER_PORT");
  if (!address || !port || std::strspn(port, "0123456789") != std::strlen(port)) {
    return {};
  }
  const char *kept = environment("TORCHELASTIC_USE_AGENT_STORE");
  int taken = kept && std::strcmp(kept, "True") == 0 ? 1 : 0;
  return HostPort{address, std::atoi(port) + taken}.toString();
}

} // namespace

std::vector<std::string> launcherNames() {
  std::vector<std::string> names;
  for (const Launcher &launcher : kLaunchers) {
    names.emplace_back(launcher.name);
  }
  return names;
}

std::string findLauncher(const Environment &environment) {
  for (const Launcher &launcher : kLaunchers) {
    if (environment(launcher.mark)) {
      return launcher.name;
    }
  }
  return {};
}

Expected<Launch> readLaunch(const std::string &name, const Environment &environment) {
  const auto *launcher = std::find_if(std::begin(kLaunchers), std::end(kLaunchers),
                                      [&](const Launcher &each) { return name == each.name; });
  if (launcher == std::end(kLaunchers)) {
    std::string known;
    for (const std::string &each : launcherNames()) {
      known += (known.empty() ? "" : ", ") + each;
    }
    return makeError(ErrorKind::kUser, "expected a launcher (", known, "), got: ", name);
  }
  Launch launch;
  launch.startsAgain = launcher->startsAgain;
  HR_ASSIGN_OR_RETURN(launch.rank, readNumber(environment, *launcher, launcher->rank));
  HR_ASSIGN_OR_RETURN(launch.size, readNumber(environment, *launcher, launcher->size));
  if (launch.rank >= launch.size) {
    return makeError(ErrorKind::kUser, "ranks go from 0 to below ", launcher->size, " = ",
                     launch.size, ", got ", launcher->rank, " = ", launch.rank);
  }
  for (const char *variable : launcher->session) {
    const char *value = variable ? environment(variable) : nullptr;
    launch.credentials.session += std::string(value ? value : "") + "/";
  }
  const char *meeting = environment("HEADRACE_MEETING");
  if (!meeting && onOneMachine(environment, *launcher)) {
    launch.meeting = folderOfThisStart(environment, *launcher, launch.credentials.session);
    launch.address = "127.0.0.1";
    return launch;
  }
  launch.meeting = meeting ? meeting : name == "torchrun" ? torchrunMeeting(environment) : "";
  if (launch.meeting.empty()) {
    return makeError(ErrorKind::kUser, "where do the ranks meet? set HEADRACE_MEETING to HOST:PORT "
                                       "of rank 0, or to a folder that all see (with a '/')");
  }
  if (const char *secret = environment("HEADRACE_SECRET")) {
    launch.credentials.secret = secret;
  }
  bool inFolder = launch.meeting.find('/') != std::string::npos;
  if (!inFolder && launch.credentials.secret.size() < kSecretBytesMin) {
    return makeError(ErrorKind::kUser,
                     "what keeps strangers out? set HEADRACE_SECRET to the same text on all "
                     "ranks, at least ",
                     kSecretBytesMin,
                     " characters long; it has: ", launch.credentials.secret.size());
  }
  return launch;
}

Expected<std::unique_ptr<Bootstrap>> join(const Launch &launch, const JoinOptions &options) {
  if (launch.meeting.find('/') != std::string::npos) {
    return FolderBootstrap::join({.folder = launch.meeting,
                                  .rank = launch.rank,
                                  .size = launch.size,
                                  .patienceSeconds = options.patienceSeconds,
                                  .address = launch.address,
                                  .interrupted = options.interrupted});
  }
  HR_ASSIGN_OR_RETURN(HostPort store, HostPort::parse(launch.meeting));
  return StoreBootstrap::join({.store = store,
                               .credentials = launch.credentials,
                               .rank = launch.rank,
                               .size = launch.size,
                               .patienceSeconds = options.patienceSeconds,
                               .address = launch.address,
                               .interrupted = options.interrupted});
}

} // namespace headrace
