// The ranks that share a channel.
#include "runtime/communication/members.h"

#include <algorithm>
#include <numeric>

namespace headrace {

std::vector<int> membersOr(std::vector<int> given, const Transport &transport) {
  if (given.empty()) {
    given.resize(static_cast<size_t>(transport.size()));
    std::iota(given.begin(), given.end(), 0);
  }
  return given;
}

Expected<int> placeOf(int source, const std::vector<int> &members, ChannelId channel) {
  auto member = std::lower_bound(members.begin(), members.end(), source);
  if (member == members.end() || *member != source) {
    return makeError(ErrorKind::kCorrupt, "a message from no member of channel ", channel,
                     ", rank: ", source);
  }
  return static_cast<int>(member - members.begin());
}

} // namespace headrace
