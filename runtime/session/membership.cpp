// Packing, and the choice of who goes.
#include "runtime/session/membership.h"

#include <map>

#include "runtime/session/order.h"

namespace headrace::session {

std::string Membership::pack() const {
  return packTexts({std::to_string(epoch), meeting.toString(), std::to_string(rank),
                    std::to_string(size), std::to_string(call)});
}

Expected<Membership> Membership::unpack(const std::string &text) {
  std::vector<std::string> parts = unpackTexts(text);
  if (parts.size() != 5) {
    return makeError(ErrorKind::kCorrupt, "not a membership, it has parts: ", parts.size());
  }
  Membership membership;
  HR_ASSIGN_OR_RETURN(membership.meeting, HostPort::parse(parts[1]));
  membership.epoch = std::strtoull(parts[0].c_str(), nullptr, 10);
  membership.rank = std::atoi(parts[2].c_str());
  membership.size = std::atoi(parts[3].c_str());
  membership.call = std::strtoull(parts[4].c_str(), nullptr, 10);
  if (membership.rank < 1 || membership.rank >= membership.size) {
    return makeError(ErrorKind::kCorrupt, "not a membership, its rank is: ", membership.rank);
  }
  return membership;
}

std::vector<int> ranksToLeaveOut(std::vector<std::pair<int, int>> broken) {
  std::vector<int> out;
  while (!broken.empty()) {
    std::map<int, int> missed;
    for (auto [one, other] : broken) {
      ++missed[one];
      ++missed[other];
    }
    missed.erase(0);
    auto worst = missed.begin();
    for (auto each = missed.begin(); each != missed.end(); ++each) {
      worst = each->second >= worst->second ? each : worst;
    }
    int rank = worst->first;
    out.push_back(rank);
    std::erase_if(broken,
                  [&](const auto &pair) { return pair.first == rank || pair.second == rank; });
  }
  return out;
}

} // namespace headrace::session
