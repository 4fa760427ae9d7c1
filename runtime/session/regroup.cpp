// Regrouping: after a loss the ranks that are left meet anew at a store of rank 0, and connect
// anew. So nothing of an earlier epoch can arrive in a later one: it has other connections, and a
// proof that names the epoch opens them.
#include "runtime/session/cluster.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "runtime/base/log.h"
#include "runtime/bootstrap/store_bootstrap.h"

namespace headrace::session {

namespace {

/// A rank that does not come to the meeting for so long is asked again.
constexpr double kMeetSecondsMin = 5;

} // namespace

/// The peers that this rank has lost, or has no link to, as text.
std::string Cluster::unreachable() const {
  std::string peers;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != rank() && (control_->isLost(peer) || !transport_->peerStatus(peer).ok())) {
      peers += std::to_string(peer) + " ";
    }
  }
  return peers;
}

void Cluster::noteUnreachable(int rank, const std::string &peers) {
  std::istringstream numbers(peers);
  for (int peer = -1; numbers >> peer;) {
    if (peer >= 0 && peer < size() && peer != rank) {
      broken_.emplace_back(rank, peer);
    }
  }
}

Status Cluster::lost() const {
  HR_RETURN_IF_ERROR(control_->lost());
  for (auto [one, other] : broken_) {
    if (control_->isHere(one) && control_->isHere(other)) {
      // no test: it takes two hosts that a third one reaches
      return makeError(ErrorKind::kIo, "two ranks do not reach each other: ", control_->nameOf(one),
                       ", ", control_->nameOf(other));
    }
  }
  return {};
}

/// Those that answer, with rank 0, less those that some of them do not reach.
Expected<std::vector<int>> Cluster::muster(const Control::Interrupted &interrupted) {
  ++attempt_;
  control_->tellAll({Message::Kind::kMuster, call_, attempt_});
  std::vector<int> staying{0};
  for (int peer = 1; peer < size(); ++peer) {
    Expected<std::vector<std::string>> answer =
        hearAnswer(peer, Message::Kind::kPresent, interrupted, Control::OnLoss::kWait);
    HR_RETURN_IF_ERROR(control_->expelled());
    if (answer.ok()) {
      staying.push_back(peer);
      noteUnreachable(peer, answer->empty() ? "" : answer->front());
    } else if (!control_->isLost(peer)) {
      return answer.status(); // it has left, or the user stops this
    }
  }
  noteUnreachable(rank(), unreachable());
  std::erase_if(broken_, [&](const auto &pair) {
    return std::count(staying.begin(), staying.end(), pair.first) == 0 ||
           std::count(staying.begin(), staying.end(), pair.second) == 0;
  });
  for (int out : ranksToLeaveOut(std::exchange(broken_, {}))) {
    // no test: likewise
    control_->expel(out, makeError(ErrorKind::kIo, "another rank and it do not reach each other: ",
                                   control_->nameOf(out)));
    std::erase(staying, out);
  }
  return staying;
}

/// Ranks of the launch that were lost and are there again.
std::vector<int> Cluster::awaited() const {
  std::vector<int> back = door_ ? door_->waiting() : std::vector<int>();
  std::erase_if(back, [&](int place) {
    return std::find(places_.begin(), places_.end(), place) != places_.end();
  });
  return back;
}

bool Cluster::isAwaited() const { return !awaited().empty(); }

Status Cluster::regroup(const Control::Interrupted &interrupted) {
  Status failed;
  for (int attempt = 0; attempt <= launch_.size; ++attempt) {
    HR_ASSIGN_OR_RETURN(std::vector<int> staying, muster(interrupted));
    failed = meetAgain(staying);
    if (failed.ok()) {
      return {};
    }
    log(LogLevel::kWarning, name(), ": ", failed.message());
  }
  return failed;
}

/// Of rank 0.
Status Cluster::meetAgain(const std::vector<int> &staying) {
  std::map<int, int> peers; ///< by place; those that come again are none yet
  for (int peer : staying) {
    peers[places_[static_cast<size_t>(peer)]] = peer;
  }
  std::vector<int> back = door_ ? door_->waiting() : std::vector<int>();
  std::erase_if(back, [&](int place) { return peers.count(place) != 0; });
  std::vector<int> places = back;
  for (const auto &[place, peer] : peers) {
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  Membership membership;
  membership.epoch = epoch_ + 1;
  membership.size = static_cast<int>(places.size());
  membership.call = call_;
  Status met = meetAgain(membership, [&](const HostPort &meeting) {
    for (int index = 1; index < membership.size; ++index) {
      Membership told = membership;
      told.meeting = meeting;
      told.rank = index;
      int place = places[static_cast<size_t>(index)];
      if (auto peer = peers.find(place); peer != peers.end()) {
        control_->tell(peer->second, {Message::Kind::kRegroup, call_, attempt_, told.pack()});
      } else {
        door_->invite(place, told);
      }
    }
  });
  for (int place : back) {
    door_->forget(place); // who did not come to the meeting must begin anew
  }
  if (met.ok()) {
    places_ = places;
  }
  return met;
}

Status Cluster::meetAgain(const Membership &membership,
                          std::function<void(const HostPort &)> listening) {
  // Also of an attempt that fails: who is late for it finds nobody.
  epoch_ = membership.epoch;
  HR_ASSIGN_OR_RETURN(Network network,
                      meet({membership, credentials_, address_, std::move(listening)}, settings_));
  use(std::move(network));
  return {};
}

Expected<Cluster::Network> Cluster::meet(Meeting meeting, const Settings &settings) {
  const Membership &own = meeting.membership;
  meeting.credentials.session += "epoch " + std::to_string(own.epoch) + "/";
  auto patience = static_cast<double>(settings.joinTimeout);
  if (auto silence = static_cast<double>(settings.peerTimeout); silence > 0) {
    patience = std::min(patience, std::max(silence, kMeetSecondsMin));
  }
  HR_ASSIGN_OR_RETURN(
      auto bootstrap,
      StoreBootstrap::join({.store = own.rank == 0 ? HostPort{meeting.address, 0} : own.meeting,
                            .credentials = meeting.credentials,
                            .rank = own.rank,
                            .size = own.size,
                            .patienceSeconds = patience,
                            .address = meeting.address,
                            .listening = std::move(meeting.listening)}));
  return connect(*bootstrap, patience, settings);
}

Expected<std::unique_ptr<Cluster>>
Cluster::comeAgain(const Launch &launch, const Settings &settings, const Admission &admission) {
  HR_ASSIGN_OR_RETURN(
      Network network,
      meet({admission.membership, admission.credentials, admission.address}, settings));
  std::unique_ptr<Cluster> cluster(
      new Cluster(launch, settings, admission.credentials, admission.address, std::move(network)));
  cluster->epoch_ = admission.membership.epoch;
  cluster->firstCall_ = admission.membership.call;
  return cluster;
}

} // namespace headrace::session
