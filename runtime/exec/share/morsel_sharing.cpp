// The protocol of shared scans, on one channel for all of them; sequence = 0, 1, … a peer:
//
//   kAsk:  tag = scan << 32 | morsels that the source has left, rows = morsels of the table
//   kGive: tag likewise, rows = how many are given (0: none), checksum = number of the first
//   kEnd:  the source has ended all its scans
//
// A rank asks its partners at once: early, when it has little left and what is left takes a while,
// and again when it has none. A partner has nothing for it if it answers so to the latter, or says
// that it has none left itself. When that is known of all, no more come.
#include "runtime/exec/share/morsel_sharing.h"

#include "runtime/base/check.h"

#include <algorithm>

namespace headrace::exec {
namespace {

/// A table of fewer morsels a rank is not shared: moving one costs more than it brings.
constexpr size_t kMorselsOfRankMin = 4;
/// A rank asks when this part of its share is left …
constexpr size_t kLowPart = 8;
/// … if that takes it longer. What is asked of a rank that stands still is then under way
/// meanwhile.
constexpr int64_t kEarlyNanosecondsMin = 20'000'000;
/// Groups of more ranks ask only some of the others.
constexpr size_t kAllPartnersMax = 8;

uint64_t pack(TaskId scan, size_t left) {
  return uint64_t{scan.value} << 32 | std::min<uint64_t>(left, UINT32_MAX);
}

} // namespace

Expected<std::unique_ptr<MorselSharing>> MorselSharing::open(Transport &transport,
                                                             PoisonBoard &board, Doorbell *doorbell,
                                                             const Clock &clock, Sharing sharing) {
  HR_RETURN_IF_ERROR(transport.open(kSharingChannel, nullptr));
  return std::unique_ptr<MorselSharing>(
      new MorselSharing(transport, board, doorbell, clock, sharing));
}

MorselSharing::MorselSharing(Transport &transport, PoisonBoard &board, Doorbell *doorbell,
                             const Clock &clock, Sharing sharing)
    : transport_(transport), board_(board), doorbell_(doorbell), clock_(clock), sharing_(sharing),
      sent_(static_cast<size_t>(transport.size()), 0),
      received_(static_cast<size_t>(transport.size()), 0) {}

MorselSharing::~MorselSharing() { transport_.close(kSharingChannel); }

std::vector<size_t> MorselSharing::partnersOf(size_t place, size_t size) {
  std::vector<size_t> partners;
  for (size_t step = 1; step < size; step = size <= kAllPartnersMax ? step + 1 : step * 2) {
    partners.push_back((place + step) % size);
    if (size > kAllPartnersMax) {
      partners.push_back((place + size - step) % size);
    }
  }
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

void MorselSharing::add(TaskId scan, const std::vector<int> &members, Open open) {
  auto self = std::find(members.begin(), members.end(), transport_.rank());
  HR_CHECK(self != members.end());
  Scan &made = scans_[scan];
  made.task = scan;
  made.open = std::move(open);
  for (size_t place : partnersOf(static_cast<size_t>(self - members.begin()), members.size())) {
    made.partners.push_back({members[place]});
  }
}

/// Also for who asks before this rank comes to the scan: what it has not begun, others may have.
Status MorselSharing::begin(Scan &scan) {
  if (scan.rights) {
    return {};
  }
  HR_ASSIGN_OR_RETURN(scan.held, scan.open());
  scan.source = scan.held;
  const storage::MorselRange own = scan.held->share();
  scan.morsels = scan.held->morselCount();
  scan.rights = std::make_shared<MorselRights>(own);
  if (scan.held->reach() == storage::Reach::kShare ||
      scan.morsels < kMorselsOfRankMin * (scan.partners.size() + 1)) {
    return {}; // as on all ranks
  }
  for (const Partner &partner : scan.partners) {
    ended_.try_emplace(partner.rank, false);
  }
  scan.shares = sharing_ == Sharing::kOn;
  if (scan.shares) {
    scan.low = std::max<size_t>(1, own.count() / kLowPart);
    scan.rights->expectMore(scan.low, doorbell_);
  }
  return {};
}

Expected<MorselSharing::Shared> MorselSharing::take(TaskId scan) {
  Scan &found = scans_.at(scan);
  HR_RETURN_IF_ERROR(begin(found));
  HR_CHECK(found.held);
  found.startNanoseconds = clock_.nowNanoseconds();
  if (found.shares && doorbell_) {
    doorbell_->ring(); // it may have been given away meanwhile: then it is time to ask
  }
  return Shared{std::move(found.held), found.rights};
}

MorselSharing::Numbers MorselSharing::numbers(TaskId scan) const {
  auto found = scans_.find(scan);
  return found == scans_.end() ? Numbers() : found->second.numbers;
}

Status MorselSharing::send(Scan &scan, const Partner &partner, MessageKind kind, uint64_t rows,
                           uint64_t first) {
  MessageHeader header;
  header.kind = kind;
  header.rows = rows;
  header.checksum = first;
  header.tag = pack(scan.task, scan.rights->left());
  ++scan.numbers.messages;
  return send(partner.rank, header);
}

Status MorselSharing::send(int peer, MessageHeader header) {
  header.channel = kSharingChannel.value;
  header.source = static_cast<uint32_t>(transport_.rank());
  header.sequence = sent_[static_cast<size_t>(peer)]++;
  return transport_.send(peer, kSharingChannel, encodeHeader(header), BufferRef()).status();
}

Expected<bool> MorselSharing::finish() {
  bool all = true;
  for (const auto &[peer, ended] : ended_) {
    if (!finishing_) {
      MessageHeader header;
      header.kind = MessageKind::kEnd;
      HR_RETURN_IF_ERROR(send(peer, header));
    }
    all &= ended;
  }
  finishing_ = true;
  return all;
}

Status MorselSharing::acceptGiven(Scan &scan, Partner &partner, const MessageHeader &header) {
  if (!partner.asked || header.checksum > scan.morsels ||
      header.rows > scan.morsels - header.checksum) {
    return makeError(ErrorKind::kCorrupt, "rank ", partner.rank,
                     " gives morsels that nobody asked for or that are not there, from ",
                     header.checksum, " on: ", header.rows);
  }
  partner.asked = false;
  const storage::MorselRange given{header.checksum, header.checksum + header.rows};
  if (given.count() == 0) {
    (partner.askedLast ? partner.dry : partner.declined) = true;
    return {};
  }
  scan.numbers.taken += static_cast<int64_t>(given.count());
  if (std::shared_ptr<storage::MorselSource> source = scan.source.lock()) {
    source->expect(given);
  }
  scan.rights->add(given);
  // There is more to do: who had no more than this rank may have now.
  for (Partner &each : scan.partners) {
    each.declined = false;
  }
  return {};
}

Status MorselSharing::accept(const Arrival &arrival) {
  HR_ASSIGN_OR_RETURN(MessageHeader header, decodeHeader(arrival, kSharingChannel));
  uint64_t &expected = received_[static_cast<size_t>(arrival.source)];
  if (header.sequence != expected) {
    return makeError(ErrorKind::kCorrupt, "messages about shared morsels were lost from rank ",
                     arrival.source, ": expected ", expected, ", got: ", header.sequence);
  }
  ++expected;
  if (header.kind == MessageKind::kEnd) {
    ended_[arrival.source] = true;
    return {};
  }
  const TaskId task(static_cast<uint32_t>(header.tag >> 32));
  const size_t left = header.tag & UINT32_MAX;
  auto found = scans_.find(task);
  Partner *partner = nullptr;
  if (found != scans_.end()) {
    for (Partner &each : found->second.partners) {
      partner = each.rank == arrival.source ? &each : partner;
    }
  }
  if (!partner || (header.kind != MessageKind::kAsk && header.kind != MessageKind::kGive)) {
    return makeError(ErrorKind::kCorrupt, "rank ", arrival.source,
                     " shares no morsels with this rank in task: ", task);
  }
  Scan &scan = found->second;
  HR_RETURN_IF_ERROR(begin(scan));
  if (header.kind == MessageKind::kGive) {
    HR_RETURN_IF_ERROR(acceptGiven(scan, *partner, header));
  } else {
    if (header.rows != scan.morsels) {
      return makeError(ErrorKind::kMismatch, "ranks see other morsels of a table: rank ",
                       arrival.source, " has ", header.rows, ", rank ", transport_.rank(),
                       " has: ", scan.morsels);
    }
    scan.askers.emplace_back(static_cast<size_t>(partner - scan.partners.data()), left);
    partner->dry = left == 0;
  }
  partner->dry |= left == 0;
  return {};
}

/// Those that ask at the same time get equal parts. Who has nothing left gets something if there is
/// anything; who still has, only what it would otherwise come to ask for again soon.
Status MorselSharing::answer(Scan &scan) {
  size_t parts = scan.askers.size() + 1;
  for (auto [partner, theirs] : scan.askers) {
    const size_t left = scan.shares ? scan.rights->left() : 0;
    size_t wanted = left > theirs ? (left - theirs) / parts : 0;
    if (theirs == 0) {
      wanted = std::max<size_t>(wanted, std::min<size_t>(left, 1));
    } else if (wanted < theirs) {
      wanted = 0;
    }
    --parts;
    const storage::MorselRange given = scan.rights->give(wanted);
    if (std::shared_ptr<storage::MorselSource> source = scan.source.lock();
        source && given.count() > 0) {
      source->leave(given);
    }
    scan.numbers.given += static_cast<int64_t>(given.count());
    HR_RETURN_IF_ERROR(
        send(scan, scan.partners[partner], MessageKind::kGive, given.count(), given.first));
  }
  scan.askers.clear();
  return {};
}

bool MorselSharing::isWorthAsking(const Scan &scan, size_t left) const {
  const size_t taken = scan.rights->taken();
  if (left == 0 || left > scan.low || taken == 0) {
    return left == 0;
  }
  const int64_t passed = clock_.nowNanoseconds() - scan.startNanoseconds;
  return passed / static_cast<int64_t>(taken) * static_cast<int64_t>(left) >= kEarlyNanosecondsMin;
}

Status MorselSharing::ask(Scan &scan) {
  const size_t left = scan.rights->left();
  if (!scan.rights->wantsMore() || !isWorthAsking(scan, left)) {
    return {};
  }
  bool ended = left == 0;
  for (Partner &partner : scan.partners) {
    if (!partner.asked && !partner.dry && (left == 0 || !partner.declined)) {
      partner.asked = true;
      partner.askedLast = left == 0;
      HR_RETURN_IF_ERROR(send(scan, partner, MessageKind::kAsk, scan.morsels, 0));
    }
    ended &= !partner.asked;
  }
  if (ended) {
    scan.rights->endMore();
    scan.shares = false;
  }
  return {};
}

Status MorselSharing::poll() {
  if (board_.poisoned()) {
    return {};
  }
  // Asked before the messages are taken in: what a peer sent before it left has then arrived.
  std::vector<std::pair<std::function<bool()>, Status>> lost; // if the peer is still needed
  auto look = [&](int peer, auto needed) {
    if (Status link = needed() ? transport_.peerStatus(peer) : Status(); !link.ok()) {
      lost.emplace_back(needed, std::move(link));
    }
  };
  for (const auto &[task, scan] : scans_) {
    for (const Partner &partner : scan.partners) {
      look(partner.rank, [&partner] { return partner.asked; });
    }
  }
  for (const auto &[peer, ended] : ended_) {
    look(peer, [this, &ended] { return finishing_ && !ended; });
  }
  while (std::optional<Arrival> arrival = transport_.receive(kSharingChannel)) {
    HR_RETURN_IF_ERROR(accept(*arrival));
  }
  for (const auto &[needed, link] : lost) {
    if (needed()) {
      return link;
    }
  }
  for (auto &[task, scan] : scans_) {
    if (!scan.askers.empty()) {
      HR_RETURN_IF_ERROR(answer(scan));
    }
    if (scan.shares && scan.startNanoseconds >= 0) {
      HR_RETURN_IF_ERROR(ask(scan));
    }
  }
  return {};
}

} // namespace headrace::exec
