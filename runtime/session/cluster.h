// Cluster: processes that a launcher has started, as the ranks of one computer.
//
//   rank 0                    the others
//     run    -- kRun -->        load, open
//            <-- kReady --
//            -- kGo -->         (kSkip if one of them is not ready)
//            <== the run ==>
//            <-- kReport --
//     end    -- kEnd -->        the call returns
//
// After a loss, before the next run (regroup.cpp):
//
//     regroup -- kMuster -->    no run is under way any more
//             <-- kPresent --
//             -- kRegroup -->   all meet anew, with new numbers and new connections
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/bootstrap/launch.h"
#include "runtime/exec/program.h"
#include "runtime/session/control.h"
#include "runtime/session/door.h"
#include "runtime/session/membership.h"
#include "runtime/session/order.h"
#include "runtime/session/paces.h"
#include "runtime/storage/storage.h"
#include "runtime/transport/stream_transport.h"

namespace headrace::session {

/// What each rank brings to a call itself.
struct Part {
  /// Threads and memory as ownPart() has them; of the rest, those that are shared are rank 0's.
  Settings settings;
  std::shared_ptr<exec::Session> session; ///< of these settings
  std::shared_ptr<storage::Storage> storage;
  std::string topologyHash; ///< as RunOptions::topologyHash
  /// Binds the tables and tensors that this rank has in memory, of those that the plan reads, and
  /// its parts of those that lie on the ranks; their prints, by slot, as in Order.
  std::function<Expected<std::map<std::string, std::string>>(const plan::Plan &, exec::Bindings &)>
      bind;
  /// Takes what this rank has of a resident result, of which rows go where Order::sink says; what
  /// rank 0 is told about it. Set where such programs may be run.
  std::function<Expected<std::string>(exec::RunResult &, const std::string &sink)> keep;
  /// Asked about every 50 ms on the calling thread; true stops the call on all ranks.
  std::function<bool()> interrupted;
  /// As RunOptions::progress, of this rank.
  std::function<void(const exec::Progress &)> progress;
};

/// What rank 0 has of a run.
struct Ran {
  exec::RunResult result;
  /// Of a resident result: what Part::keep of each rank has told of it.
  std::vector<std::string> kept;
};

/// Purpose: calls, one after another, which all ranks make in the same order: rank 0 leads, and
/// may run any number of plans in a call. The ranks keep their connections from run to run.
/// Ownership: connections, and the programs that were loaded last. Thread-safety: one call at a
/// time. Errors end the call on all ranks alike and name the rank where they came from; the cluster
/// goes on. Once a rank is lost every run fails (kIo) and says which, until rank 0 regroups: it
/// alone decides who belongs to the cluster. A loss of rank 0 ends it: every call fails.
/// Lifetime: outlives its runs; its end tells the others that this rank leaves.
class Cluster {
public:
  /// Meets the other ranks and connects with them. Blocks until all have come, for at most
  /// settings.joinTimeout. A rank that is started again, in place of one that was lost, waits until
  /// rank 0 regroups, and its first calls return at once.
  static Expected<std::unique_ptr<Cluster>> join(const Launch &launch, const Settings &settings,
                                                 const Control::Interrupted &interrupted = {});
  ~Cluster();

  /// These three may be asked for on any thread.
  int rank() const { return self().rank; }
  int size() const { return self().size; }
  std::string name() const { return self().name; }
  /// Another number after each regroup(), the same on all ranks. Between calls.
  uint64_t epoch() const { return epoch_; }

  /// The settings with a share of this machine's cores and memory, where they leave them open and
  /// other ranks are here too: as many as there were when this one came.
  Settings ownPart(Settings settings) const;

  /// Of rank 0: runs the program of this order on all ranks.
  Expected<Ran> run(const Order &order, const std::shared_ptr<const exec::Program> &program,
                    const Part &part);
  /// Of rank 0: ends the call on all ranks, each of which returns this status, or the note.
  void end(const Status &status, const std::string &note = "");

  /// Ok, or which rank is lost.
  Status lost() const;
  /// Of rank 0: whether ranks that were lost are there again.
  bool isAwaited() const;
  /// Of rank 0, after a loss, or if it is awaited: the ranks that are there become the cluster,
  /// numbered anew in the order of their launch. Blocks until they all take part in a call, or are
  /// lost too. Fails (kIo) if one has left, or if this rank is the one that is lost to the others.
  Status regroup(const Control::Interrupted &interrupted);

  /// Of the other ranks: takes part in rank 0's runs until it ends the call; its note. `call`: as
  /// Order::call.
  Expected<std::string> follow(const std::string &call, const Part &part);

private:
  /// What rank 0 tells all ranks when they begin.
  struct Go {
    int64_t leastMemoryBytes = 0;
    std::vector<uint32_t> keyShares; ///< as exec::RunOptions has them

    std::string pack() const;
    static Go unpack(std::string_view text);
  };
  struct Prepared {
    std::shared_ptr<const exec::Program> program;
    exec::Bindings bindings;
    exec::RunOptions options;
    std::string sink; ///< as Order::sink
  };
  /// Connections between all ranks of one epoch.
  struct Network {
    std::unique_ptr<StreamTransport> transport; ///< outlives control, which gives up its peers
    std::unique_ptr<Control> control;
  };
  Cluster(Launch launch, const Settings &settings, const Credentials &credentials,
          std::string address, Network network);
  static Expected<std::unique_ptr<Cluster>>
  comeAgain(const Launch &launch, const Settings &settings, const Admission &admission);
  static Expected<Network> connect(Bootstrap &bootstrap, double patience, const Settings &settings);
  void use(Network network);
  void openDoor();
  struct Self {
    int rank = 0;
    int size = 1;
    std::string name;
  };
  Self self() const {
    std::lock_guard lock(selfMutex_);
    return self_;
  }
  Expected<std::shared_ptr<const exec::Program>> programOf(const Order &order);
  Expected<Prepared> prepare(const Order &order, std::shared_ptr<const exec::Program> program,
                             const Part &part) const;
  Expected<Ran> runOnAll(const Order &order, const std::shared_ptr<const exec::Program> &program,
                         const Part &part);
  Expected<int64_t> gatherReady(const Expected<Prepared> &own, const Part &part);
  /// This rank's part in a run, with what it has kept.
  Expected<Ran> runPrepared(const Prepared &prepared, const Go &go, const Part &part);
  Expected<Ran> gatherReports(Expected<Ran> own);
  Expected<std::vector<std::string>> hearAnswer(int peer, Message::Kind kind,
                                                const Control::Interrupted &interrupted,
                                                Control::OnLoss onLoss);
  Status obey(const Message &order, const std::string &call, const Part &part);
  Status leftCall(const Message &order);
  std::string unreachable() const;
  void noteUnreachable(int rank, const std::string &peers);
  Expected<std::vector<int>> muster(const Control::Interrupted &interrupted);
  Status meetAgain(const std::vector<int> &staying);
  struct Meeting {
    Membership membership;
    Credentials credentials;
    std::string address;
    std::function<void(const HostPort &)> listening = {}; ///< of rank 0
  };
  static Expected<Network> meet(Meeting meeting, const Settings &settings);
  Status meetAgain(const Membership &membership, std::function<void(const HostPort &)> listening);
  std::vector<int> awaited() const;

  const Launch launch_;
  const Settings settings_;
  const Credentials credentials_;
  const std::string address_;
  std::unique_ptr<StreamTransport> transport_;
  std::unique_ptr<Control> control_;
  mutable std::mutex selfMutex_;
  Self self_;
  int64_t ranksHere_ = 1;
  uint64_t epoch_ = 0;
  uint64_t firstCall_ = 0;                  ///< those before were made without this rank
  std::vector<int> places_;                 ///< of rank 0: of each rank, its number at the launch
  std::unique_ptr<Door> door_;              ///< of rank 0; null if nobody can come again
  std::vector<std::pair<int, int>> broken_; ///< of rank 0: those that do not reach each other
  uint64_t call_ = 0;
  uint64_t attempt_ = 0;
  Paces paces_; ///< of rank 0
  /// The programs of the last orders, by content, the last first.
  std::list<std::pair<std::string, std::shared_ptr<const exec::Program>>> programs_;
};

} // namespace headrace::session
