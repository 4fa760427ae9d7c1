// Bounds by rows and by groups are sums; bounds by values are searched among the keys.
#include "runtime/exec/window/frames.h"

#include "runtime/base/stop.h"
#include "runtime/exec/rows/field_values.h"

namespace headrace::exec {
namespace {

using plan::FrameEdge;
using plan::FrameUnit;

Status wrongDistance(const char *why) {
  return makeError(ErrorKind::kData, "the distance of a window frame is ", why);
}

/// The distance of a bound by rows or groups, at most as large as any partition.
Expected<int64_t> distanceOf(const plan::State &state, const plan::RowCount &count,
                             const uint8_t *row) {
  int64_t distance = count.number;
  if (count.field != plan::kNone) {
    const plan::StateField &field = state.fields[count.field];
    if (!isValid(field, row)) {
      return wrongDistance("NULL");
    }
    distance = valueIn<int64_t>(field, row);
  }
  if (distance < 0) {
    return wrongDistance("negative");
  }
  return std::min<int64_t>(distance, UINT32_MAX);
}

const plan::FrameBound &boundOf(const plan::WindowColumn &window, bool start) {
  return start ? window.start : window.end;
}

} // namespace

uint32_t Frames::Pieces::rows() const {
  uint32_t rows = 0;
  for (uint32_t i = 0; i < count; ++i) {
    rows += piece[i].size();
  }
  return rows;
}

Frames::Pieces Frames::pieces(uint32_t row) const {
  Pieces out;
  uint32_t first = begin(row), last = end(row);
  auto add = [&](uint32_t begin, uint32_t end) {
    begin = std::max(begin, first);
    end = std::min(end, last);
    if (begin < end) {
      out.piece[out.count++] = {begin, end};
    }
  };
  switch (exclude_) {
  case plan::FrameExclusion::kNone:
    add(0, partition_->size());
    break;
  case plan::FrameExclusion::kCurrentRow:
    add(0, row);
    add(row + 1, partition_->size());
    break;
  case plan::FrameExclusion::kGroup:
    add(0, partition_->peersBegin(row));
    add(partition_->peersEnd(row), partition_->size());
    break;
  case plan::FrameExclusion::kTies:
    add(0, partition_->peersBegin(row));
    add(row, row + 1);
    add(partition_->peersEnd(row), partition_->size());
    break;
  }
  return out;
}

RowSpanOf Frames::seen() const {
  RowSpanOf seen{begin(part_.begin), end(part_.end - 1)};
  if (start_.kind == Edge::Kind::kListed || end_.kind == Edge::Kind::kListed) {
    for (uint32_t row = part_.begin; row < part_.end; ++row) {
      seen = {std::min(seen.begin, begin(row)), std::max(seen.end, end(row))};
    }
  }
  return seen;
}

Status Frames::listCounts(const plan::State &state, const plan::WindowColumn &window, bool start) {
  const Partition &partition = *partition_;
  const plan::FrameBound &bound = boundOf(window, start);
  bool byRows = window.unit == FrameUnit::kRows;
  auto groups = byRows ? int64_t(partition.size()) : int64_t(partition.groupBegin.size()) - 1;
  ScratchArray<uint32_t> &list = (start ? start_ : end_).list;
  for (uint32_t row = part_.begin; row < part_.end; ++row) {
    HR_ASSIGN_OR_RETURN(int64_t distance, distanceOf(state, bound.distance, partition.rows[row]));
    int64_t unit = byRows ? row : partition.group[row];
    unit += bound.edge == FrameEdge::kPreceding ? -distance : distance;
    // The first row of a unit; the one behind the last begins behind the last row.
    unit = std::clamp<int64_t>(unit + (start ? 0 : 1), 0, groups);
    list[row - part_.begin] = byRows ? static_cast<uint32_t>(unit) : partition.groupBegin[unit];
  }
  return {};
}

template <typename Key>
Status Frames::listValues(const plan::State &state, const plan::WindowColumn &window, bool start) {
  const Partition &partition = *partition_;
  const plan::FrameBound &bound = boundOf(window, start);
  const plan::OrderKey &order = state.order.front();
  const plan::StateField &field = state.fields[order.field];
  const plan::StateField &distance = state.fields[bound.distance.field];
  // NULLs stand together at one end; values are searched among the others.
  HR_RETURN_IF_ERROR(keys_.resize(partition.size() * sizeof(Key)));
  auto *keys = reinterpret_cast<Key *>(keys_.data());
  uint32_t first = partition.size(), last = 0;
  for (uint32_t row = 0; row < partition.size(); ++row) {
    if (isValid(field, partition.rows[row])) {
      keys[row] = valueIn<Key>(field, partition.rows[row]);
      first = std::min(first, row);
      last = row + 1;
    }
  }
  auto before = [&](const Key &a, const Key &b) {
    return order.descending ? isLess(b, a) : isLess(a, b);
  };
  ScratchArray<uint32_t> &list = (start ? start_ : end_).list;
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    uint32_t &out = list[row - part_.begin];
    if (!isValid(field, partition.rows[row]) || !isValid(distance, partition.rows[row])) {
      out = start ? partition.peersBegin(row) : partition.peersEnd(row);
      continue;
    }
    Key value = valueIn<Key>(distance, partition.rows[row]);
    if (bound.edge == FrameEdge::kPreceding ? before(keys[row], value) : before(value, keys[row])) {
      return wrongDistance("negative");
    }
    const Key *found = start ? std::lower_bound(keys + first, keys + last, value, before)
                             : std::upper_bound(keys + first, keys + last, value, before);
    out = static_cast<uint32_t>(found - keys);
  }
  return {};
}

Status Frames::computeEdge(const plan::State &state, const plan::WindowColumn &window, bool start) {
  const plan::FrameBound &bound = boundOf(window, start);
  Edge &edge = start ? start_ : end_;
  bool isCurrent = bound.edge == FrameEdge::kCurrentRow;
  bool first = bound.edge == FrameEdge::kUnboundedPreceding;
  if (first || bound.edge == FrameEdge::kUnboundedFollowing ||
      (isCurrent && window.unit != FrameUnit::kRows && state.order.empty())) {
    edge.kind = Edge::Kind::kFixed; // without an order all rows are peers
    edge.number = first || (isCurrent && start) ? 0 : partition_->size();
    return {};
  }
  if (isCurrent && window.unit != FrameUnit::kRows) {
    edge.kind = start ? Edge::Kind::kPeersBegin : Edge::Kind::kPeersEnd;
    return {};
  }
  if (window.unit == FrameUnit::kRows && bound.distance.field == plan::kNone) {
    edge.kind = Edge::Kind::kShifted;
    int64_t distance = 0;
    if (!isCurrent) {
      HR_ASSIGN_OR_RETURN(distance, distanceOf(state, bound.distance, nullptr));
    }
    edge.number = (bound.edge == FrameEdge::kPreceding ? -distance : distance) + (start ? 0 : 1);
    return {};
  }
  edge.kind = Edge::Kind::kListed;
  HR_RETURN_IF_ERROR(edge.list.resize(part_.size()));
  if (window.unit != FrameUnit::kRange) {
    return listCounts(state, window, start);
  }
  HrType type = state.fields[state.order.front().field].type;
  return type == HR_F32 || type == HR_F64 ? listValues<double>(state, window, start)
                                          : listValues<__int128>(state, window, start);
}

bool Frames::goesBack(const Edge &edge) const {
  for (uint32_t i = 1; edge.kind == Edge::Kind::kListed && i < part_.size(); ++i) {
    if (edge.list[i] < edge.list[i - 1]) {
      return true;
    }
  }
  return false;
}

Status Frames::compute(const plan::State &state, const plan::WindowColumn &window,
                       const Partition &partition, RowSpanOf part) {
  partition_ = &partition;
  part_ = part;
  exclude_ = window.exclude;
  HR_RETURN_IF_ERROR(computeEdge(state, window, /*start=*/true));
  HR_RETURN_IF_ERROR(computeEdge(state, window, /*start=*/false));
  sliding_ = exclude_ == plan::FrameExclusion::kNone && !goesBack(start_) && !goesBack(end_);
  growing_ = sliding_ && start_.kind == Edge::Kind::kFixed && start_.number == 0;
  return {};
}

} // namespace headrace::exec
