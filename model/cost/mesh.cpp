// Mesh arithmetic.
#include "model/cost/mesh.h"

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

int64_t Mesh::firstOf(AxisSet set, int64_t rank) const {
  int64_t first = rank;
  int64_t stride = 1;
  for (size_t a = axes.size(); a-- > 0;) {
    if (set >> a & 1) {
      first -= rank / stride % axes[a].size * stride;
    }
    stride *= axes[a].size;
  }
  return first;
}

std::vector<int64_t> Mesh::offsetsOf(AxisSet set) const {
  std::vector<int64_t> offsets = {0};
  int64_t stride = rankCount();
  for (size_t a = 0; a < axes.size(); ++a) {
    stride /= axes[a].size;
    if (!(set >> a & 1)) {
      continue;
    }
    std::vector<int64_t> more;
    for (int64_t offset : offsets) {
      for (int64_t step = 0; step < axes[a].size; ++step) {
        more.push_back(offset + step * stride);
      }
    }
    offsets = std::move(more);
  }
  return offsets;
}

Status Mesh::check() const {
  if (axes.empty() || axes.size() > kAxisCountMax) {
    return makeError(ErrorKind::kUser, "a mesh has 1 to ", kAxisCountMax, " axes, got ",
                     axes.size());
  }
  int64_t ranks = 1;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].name.empty() || axes[a].size < 1 || axes[a].size > kRanksMax) {
      return makeError(ErrorKind::kUser, "a mesh axis needs a name and a size from 1 to ",
                       kRanksMax, ", got ", axes[a].name, " of ", axes[a].size);
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
