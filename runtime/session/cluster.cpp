// Rank 0 leads; the others do what they are told.
#include "runtime/session/cluster.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <unistd.h>

#include "runtime/base/log.h"
#include "runtime/base/sha256.h"
#include "runtime/communication/poison.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/plan_directory.h"
#include "runtime/exec/run_settings.h"
#include "runtime/storage/files/store_listing.h"
#include "runtime/telemetry/telemetry.h"
#include "runtime/transport/connect.h"

namespace headrace::session {

namespace {

/// Programs that a rank keeps for the next order of the same.
constexpr size_t kProgramsMax = 64;

std::string contentOf(const Order &order) { return sha256(packTexts({order.plan, order.kernels})); }

/// The error with the rank that it came from in front.
Status named(const Status &status, const std::string &name) {
  return status.ok() ? status
                     : Status(status.kind(), name + ": " + status.message(), status.place());
}

} // namespace

Expected<std::unique_ptr<Cluster>> Cluster::join(const Launch &launch, const Settings &settings,
                                                 const Control::Interrupted &interrupted) {
  auto patience = static_cast<double>(settings.joinTimeout);
  if (launch.rank != 0 && launch.startsAgain) {
    HR_ASSIGN_OR_RETURN(std::optional<Admission> admission,
                        knock(launch, {.silenceSecondsMax = patience, .interrupted = interrupted}));
    if (admission) {
      return comeAgain(launch, settings, *admission);
    }
  }
  HR_ASSIGN_OR_RETURN(auto bootstrap, headrace::join(launch, {.patienceSeconds = patience,
                                                              .interrupted = interrupted}));
  HR_ASSIGN_OR_RETURN(Network network, connect(*bootstrap, patience, settings));
  std::unique_ptr<Cluster> cluster(new Cluster(launch, settings, bootstrap->credentials(),
                                               bootstrap->address(), std::move(network)));
  bootstrap.reset(); // its place is where the door will be
  if (launch.rank == 0) {
    cluster->places_.resize(static_cast<size_t>(launch.size));
    std::iota(cluster->places_.begin(), cluster->places_.end(), 0);
    cluster->openDoor();
  }
  return cluster;
}

void Cluster::openDoor() {
  if (!launch_.startsAgain || launch_.size == 1) {
    return;
  }
  Expected<std::unique_ptr<Door>> door = Door::open(launch_, credentials_, address_);
  if (door.ok()) {
    door_ = std::move(*door);
  } else {
    log(LogLevel::kWarning, "ranks that are lost cannot come again: ", door.status().message());
  }
}

Expected<Cluster::Network> Cluster::connect(Bootstrap &bootstrap, double patience,
                                            const Settings &settings) {
  HR_ASSIGN_OR_RETURN(
      auto transport,
      connectTransport(bootstrap,
                       {.patienceSeconds = patience,
                        .sharedBytes = settings.memoryBytes(),
                        .network = settings.network == "ucx" ? ConnectOptions::Network::kUcx
                                                             : ConnectOptions::Network::kSockets}));
  HR_ASSIGN_OR_RETURN(Links links, connectRanks(bootstrap, "control", patience));
  auto control = std::make_unique<Control>(bootstrap.rank(), std::move(links),
                                           static_cast<double>(settings.peerTimeout));
  return Network{std::move(transport), std::move(control)};
}

Cluster::Cluster(Launch launch, const Settings &settings, const Credentials &credentials,
                 std::string address, Network network)
    : launch_(std::move(launch)), settings_(settings), credentials_(credentials),
      address_(std::move(address)) {
  use(std::move(network));
  const std::vector<std::string> &hosts = control_->hosts();
  ranksHere_ = std::count(hosts.begin(), hosts.end(), hosts[static_cast<size_t>(rank())]);
}

Cluster::~Cluster() {
  if (launch_.startsAgain && rank() != 0 && control_->isLost(0) && control_->expelled().ok()) {
    Door::removeFile(launch_); // rank 0 cannot
  }
}

void Cluster::use(Network network) {
  control_.reset(); // before the transport that it gives peers up in
  transport_ = std::move(network.transport);
  control_ = std::move(network.control);
  int rank = control_->rank();
  {
    std::lock_guard lock(selfMutex_);
    self_ = {rank, control_->size(), control_->nameOf(rank)};
  }
  paces_ = Paces(control_->size());
  control_->whenGone([this](int peer, const Status &why) { transport_->giveUp(peer, why); });
}

Settings Cluster::ownPart(Settings settings) const {
  int64_t here = ranksHere_;
  int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (settings.threads == 0) {
    // A launcher may have bound each rank to cores of its own.
    int64_t usable = settings.workerCount();
    settings.threads = usable * here <= cores ? usable : std::max<int64_t>(1, usable / here);
  }
  if (settings.memory == 0) {
    settings.memory = settings.memoryBytes() / here;
    settings.retainedMemory = std::min(settings.retainedMemory, settings.memory);
  }
  return settings;
}

// ---- what every rank does ----

Expected<std::shared_ptr<const exec::Program>> Cluster::programOf(const Order &order) {
  std::string content = contentOf(order);
  auto found = std::find_if(programs_.begin(), programs_.end(),
                            [&](const auto &each) { return each.first == content; });
  if (found != programs_.end()) {
    programs_.splice(programs_.begin(), programs_, found);
    return programs_.front().second;
  }
  HR_ASSIGN_OR_RETURN(auto program, exec::loadProgram(order.plan, order.kernels));
  programs_.emplace_front(content, program);
  if (programs_.size() > kProgramsMax) {
    programs_.pop_back();
  }
  return program;
}

Expected<Cluster::Prepared> Cluster::prepare(const Order &order,
                                             std::shared_ptr<const exec::Program> program,
                                             const Part &part) const {
  Prepared prepared;
  HR_ASSIGN_OR_RETURN(Settings settings, order.applied(part.settings));
  prepared.options = exec::runOptions(settings);
  prepared.options.ranks = static_cast<uint32_t>(size());
  prepared.options.topologyHash = part.topologyHash;
  prepared.options.peerSilenceSecondsMax = 0; // Control sees to that
  prepared.options.origin = exec::Origin::kNamed;
  prepared.options.interrupted = part.interrupted ? part.interrupted : [] { return false; };
  prepared.options.progress = part.progress;
  HR_RETURN_IF_ERROR(program->checkRank(*part.session, prepared.options));
  // A rank that cannot tell of its failure must not begin: the others would wait for it.
  HR_RETURN_IF_ERROR(part.session->blocks()->allocate(PoisonBoard::memoryBytes(size())).status());
  HR_ASSIGN_OR_RETURN(exec::Manifest manifest, exec::parseManifest(order.manifest));
  for (const plan::Slot &slot : program->plan().slots) {
    if (auto found = order.tables.find(slot.name); found != order.tables.end()) {
      prepared.bindings.tables[slot.name] =
          exec::openFiles(part.storage, found->second, manifest[slot.name]);
    }
  }
  std::map<std::string, std::string> prints;
  if (part.bind) {
    HR_ASSIGN_OR_RETURN(prints, part.bind(program->plan(), prepared.bindings));
  }
  for (const auto &[slot, print] : order.prints) {
    if (auto own = prints.find(slot); own == prints.end() || own->second != print) {
      return makeError(ErrorKind::kMismatch,
                       "all ranks give the same tables and arrays in memory; this rank gives ",
                       own == prints.end() ? "none" : "another one", " than rank 0 as: ", slot);
    }
  }
  prepared.program = std::move(program);
  prepared.sink = order.sink;
  return prepared;
}

std::string Cluster::Go::pack() const {
  std::vector<std::string> texts{std::to_string(leastMemoryBytes)};
  for (uint32_t share : keyShares) {
    texts.push_back(std::to_string(share));
  }
  return packTexts(texts);
}

Cluster::Go Cluster::Go::unpack(std::string_view text) {
  const std::vector<std::string> texts = unpackTexts(text);
  Go go;
  for (size_t i = 0; i < texts.size(); ++i) {
    const int64_t number = std::atoll(texts[i].c_str());
    if (i == 0) {
      go.leastMemoryBytes = number;
    } else {
      go.keyShares.push_back(static_cast<uint32_t>(number));
    }
  }
  return go;
}

Expected<Ran> Cluster::runPrepared(const Prepared &prepared, const Go &go, const Part &part) {
  exec::RunOptions options = prepared.options;
  options.leastMemoryBytes = go.leastMemoryBytes;
  options.keyShares = go.keyShares;
  transport_->beginRun(part.session->hostTier());
  for (int peer = 0; peer < size(); ++peer) {
    // Of one that went before: nobody waits for what it does not say.
    HR_RETURN_IF_ERROR(transport_->peerStatus(peer));
  }
  Ran ran;
  HR_ASSIGN_OR_RETURN(ran.result, prepared.program->runRank(*part.session, prepared.bindings,
                                                            options, *transport_));
  if (prepared.program->plan().resident) {
    Expected<std::string> kept = part.keep(ran.result, prepared.sink);
    HR_RETURN_IF_ERROR(named(kept.status(), name()));
    ran.kept.push_back(std::move(*kept));
  }
  return ran;
}

// ---- rank 0 ----

/// A peer's answer to this attempt; those to attempts that were given up are passed over.
Expected<std::vector<std::string>> Cluster::hearAnswer(int peer, Message::Kind kind,
                                                       const Control::Interrupted &interrupted,
                                                       Control::OnLoss onLoss) {
  while (true) {
    HR_ASSIGN_OR_RETURN(Message message, control_->hear(peer, interrupted, onLoss));
    if (message.kind == kind && message.call == call_ && message.attempt == attempt_) {
      return unpackTexts(message.text);
    }
  }
}

/// Once all are ready: the memory of the rank that has least.
Expected<int64_t> Cluster::gatherReady(const Expected<Prepared> &own, const Part &part) {
  Status refused = named(own.status(), name());
  int64_t least = part.session->options().memoryBytes;
  for (int peer = 1; peer < size(); ++peer) {
    HR_ASSIGN_OR_RETURN(
        std::vector<std::string> answer,
        hearAnswer(peer, Message::Kind::kReady, part.interrupted, Control::OnLoss::kFail));
    if (refused.ok()) {
      refused = named(statusOf(answer), control_->nameOf(peer));
    }
    if (answer.size() > 4) {
      noteUnreachable(peer, answer[4]);
      least = std::min<int64_t>(least, std::atoll(answer[3].c_str()));
    }
  }
  HR_RETURN_IF_ERROR(refused);
  return least;
}

Expected<Ran> Cluster::gatherReports(Expected<Ran> own) {
  std::vector<std::string> traces{own.ok() ? own->result.traceJson : std::string()};
  for (int peer = 1; peer < size(); ++peer) {
    // Who has run it is at its end, or lost.
    Expected<std::vector<std::string>> heard =
        hearAnswer(peer, Message::Kind::kReport, {}, Control::OnLoss::kWait);
    std::vector<std::string> report = heard.ok() ? std::move(*heard) : textsOf(heard.status());
    Status ended = statusOf(report);
    if (report.size() > 3) {
      noteUnreachable(peer, report[3]);
    }
    if (own.ok() && !ended.ok()) {
      own = ended;
    }
    if (own.ok() && report.size() >= 6) {
      HR_ASSIGN_OR_RETURN(plan::Profile profile, plan::Profile::fromJson(report[4]));
      own->result.profile.add(profile);
      traces.push_back(report[5]);
      own->kept.insert(own->kept.end(), report.begin() + 6, report.end());
    }
  }
  if (own.ok() && !own->result.traceJson.empty()) {
    own->result.traceJson = mergedTraces(traces);
  }
  noteUnreachable(rank(), unreachable());
  return own;
}

Expected<Ran> Cluster::runOnAll(const Order &order,
                                const std::shared_ptr<const exec::Program> &program,
                                const Part &part) {
  ++attempt_;
  Order sent = order;
  for (auto &[slot, paths] : sent.tables) {
    for (std::string &path : paths) {
      if (!storage::isStoreAddress(path)) { // ranks may be in other directories
        path = std::filesystem::absolute(path).string();
      }
    }
  }
  control_->tellAll({Message::Kind::kRun, call_, attempt_, sent.pack()});
  Expected<Prepared> prepared = prepare(order, program, part);
  Expected<int64_t> least = gatherReady(prepared, part);
  if (!least.ok()) {
    control_->tellAll({Message::Kind::kSkip, call_, attempt_});
    return least.status();
  }
  const Go go{*least, paces_.keyShares()};
  control_->tellAll({Message::Kind::kGo, call_, attempt_, go.pack()});
  Expected<Ran> ran = gatherReports(runPrepared(*prepared, go, part));
  if (ran.ok()) {
    paces_.learn(ran->result.profile);
  } else if (ran.status().kind() == ErrorKind::kMemory) {
    paces_ = Paces(size()); // ranks with more keys need more memory
  }
  return ran;
}

Expected<Ran> Cluster::run(const Order &order, const std::shared_ptr<const exec::Program> &program,
                           const Part &part) {
  Expected<Ran> result = runOnAll(order, program, part);
  if (!result.ok()) {
    HR_RETURN_IF_ERROR(lost()); // what the run says is what came of it
  }
  return result;
}

void Cluster::end(const Status &status, const std::string &note) {
  std::vector<std::string> texts = textsOf(status);
  texts.push_back(note);
  control_->tellAll({Message::Kind::kEnd, call_, 0, packTexts(texts)});
  ++call_;
  attempt_ = 0;
}

// ---- the others ----

/// What an order of a call that this rank has given up is answered with.
Status Cluster::leftCall(const Message &order) {
  if (order.kind == Message::Kind::kRun) {
    control_->tell(
        0, {Message::Kind::kReady, order.call, order.attempt, packTexts(textsOf(stoppedByUser()))});
  }
  return {};
}

/// Answers an order, and takes part if all are ready.
Status Cluster::obey(const Message &asked, const std::string &call, const Part &part) {
  auto prepared = [&]() -> Expected<Prepared> {
    HR_ASSIGN_OR_RETURN(Order order, Order::unpack(asked.text));
    if (order.call != call) {
      return makeError(ErrorKind::kMismatch,
                       "all ranks make the same calls in the same order; rank 0 makes '",
                       order.call.substr(0, 200), "', this rank '", call.substr(0, 200), "'");
    }
    HR_ASSIGN_OR_RETURN(auto program, programOf(order));
    return prepare(order, program, part);
  }();
  std::vector<std::string> answer = textsOf(prepared.status());
  answer.push_back(std::to_string(part.session->options().memoryBytes));
  answer.push_back(unreachable());
  control_->tell(0, {Message::Kind::kReady, asked.call, asked.attempt, packTexts(answer)});
  if (!prepared.ok()) {
    return {}; // rank 0 ends the call
  }
  // Who has said that it is ready does not leave before it is told; rank 0 waits for nobody then.
  HR_ASSIGN_OR_RETURN(Message told, control_->hear(0, {}, Control::OnLoss::kWait));
  if (told.kind != Message::Kind::kGo) {
    return {};
  }
  Expected<Ran> ran = runPrepared(*prepared, Go::unpack(told.text), part);
  std::vector<std::string> report = textsOf(ran.status());
  report.push_back(unreachable());
  if (ran.ok()) {
    report.push_back(ran->result.profile.toJson());
    report.push_back(ran->result.traceJson);
    report.insert(report.end(), ran->kept.begin(), ran->kept.end());
  }
  control_->tell(0, {Message::Kind::kReport, asked.call, asked.attempt, packTexts(report)});
  return {};
}

Expected<std::string> Cluster::follow(const std::string &call, const Part &part) {
  uint64_t own = call_++;
  if (own < firstCall_) {
    return std::string();
  }
  while (true) {
    HR_ASSIGN_OR_RETURN(Message message,
                        control_->hear(0, part.interrupted, Control::OnLoss::kWait));
    if (message.kind == Message::Kind::kMuster) {
      control_->tell(
          0, {Message::Kind::kPresent, message.call, message.attempt, packTexts({unreachable()})});
    } else if (message.kind == Message::Kind::kRegroup) {
      HR_ASSIGN_OR_RETURN(Membership membership, Membership::unpack(message.text));
      if (Status status = meetAgain(membership, {}); !status.ok()) {
        log(LogLevel::kWarning, name(), ": ", status.message()); // rank 0 tries again, or is lost
      }
    } else if (message.call != own) {
      HR_RETURN_IF_ERROR(leftCall(message));
    } else if (message.kind == Message::Kind::kEnd) {
      std::vector<std::string> texts = unpackTexts(message.text);
      if (Status ended = statusOf(texts); !ended.ok()) {
        // Whoever asked to stop here knows no other rank for it, though rank 0 names this one.
        return part.interrupted && part.interrupted() ? stoppedByUser() : ended;
      }
      return texts.size() > 3 ? texts[3] : std::string();
    } else if (message.kind == Message::Kind::kRun) {
      HR_RETURN_IF_ERROR(obey(message, call, part));
    }
  }
}

} // namespace headrace::session
