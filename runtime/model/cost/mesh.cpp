// Mesh arithmetic.
#include "runtime/model/cost/mesh.h"

#include <map>

namespace headrace::cost {

int64_t Mesh::rankCount() const { return sizeOf(allAxes()); }

int64_t Mesh::sizeOf(AxisSet set) const {
  int64_t size = 1;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (set >> a & 1) {
      size *= axes[a].size;
    }
  }
  return size;
}

std::vector<std::vector<int64_t>> Mesh::groups(AxisSet set) const {
  // Ranks with equal coordinates outside the set are together; the map keeps the order of the first rank.
  std::map<int64_t, std::vector<int64_t>> byOutside;
  int64_t count = rankCount();
  for (int64_t rank = 0; rank < count; ++rank) {
    int64_t outside = 0;
    int64_t stride = 1;
    int64_t rest = rank;
    for (size_t a = axes.size(); a-- > 0;) {
      int64_t coordinate = rest % axes[a].size;
      rest /= axes[a].size;
      if (!(set >> a & 1)) {
        outside += coordinate * stride;
      }
      stride *= axes[a].size;
    }
    byOutside[outside].push_back(rank);
  }
  std::vector<std::vector<int64_t>> result;
  for (auto &[outside, members] : byOutside) {
    result.push_back(std::move(members));
  }
  return result;
}

Status Mesh::check() const {
  if (axes.empty() || axes.size() > kAxisCountMax) {
    return makeError(ErrorKind::kUser, "a mesh has 1 to ", kAxisCountMax, " axes, got ", axes.size());
  }
  int64_t ranks = 1;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].name.empty() || axes[a].size < 1 || axes[a].size > kRanksMax) {
      return makeError(ErrorKind::kUser, "a mesh axis needs a name and a size from 1 to ", kRanksMax,
                       ", got ", axes[a].name, " of ", axes[a].size);
    }
    for (size_t b = 0; b < a; ++b) {
      if (axes[a].name == axes[b].name) {
        return makeError(ErrorKind::kUser, "two mesh axes have the same name: ", axes[a].name);
      }
    }
    ranks *= axes[a].size;
    if (ranks > kRanksMax) {
      return makeError(ErrorKind::kUser, "a mesh has at most ", kRanksMax, " ranks");
    }
  }
  return {};
}

Mesh flatMesh(std::string name, std::string axis, int64_t ranks) {
  return {std::move(name), {{std::move(axis), ranks}}};
}

} // namespace headrace::cost
