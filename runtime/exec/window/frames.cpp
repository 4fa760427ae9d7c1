// Bounds by rows and by groups are sums; bounds by values are searched among the keys.
#include "runtime/exec/window/frames.h"

#include "runtime/exec/window/field_values.h"

#include <algorithm>

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

bool hasDistance(FrameEdge edge) {
  return edge == FrameEdge::kPreceding || edge == FrameEdge::kFollowing;
}

} // namespace

uint32_t Frames::Pieces::rows() const {
  uint32_t rows = 0;
  for (uint32_t i = 0; i < count; ++i) {
    rows += piece[i].end - piece[i].begin;
  }
  return rows;
}

Frames::Pieces Frames::pieces(uint32_t row) const {
  Pieces out;
  auto add = [&](uint32_t begin, uint32_t end) {
    begin = std::max(begin, begin_[row]);
    end = std::min(end, end_[row]);
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

Status Frames::computeCounts(const plan::State &state, const plan::WindowColumn &window) {
  const Partition &partition = *partition_;
  bool byRows = window.unit == FrameUnit::kRows;
  auto groups = byRows ? int64_t(partition.size()) : int64_t(partition.groupBegin.size()) - 1;
  // The first row of a unit; the one behind the last begins behind the last row.
  auto firstRow = [&](int64_t unit) {
    unit = std::clamp<int64_t>(unit, 0, groups);
    return byRows ? static_cast<uint32_t>(unit) : partition.groupBegin[unit];
  };
  for (uint32_t row = 0; row < partition.size(); ++row) {
    int64_t unit = byRows ? row : partition.group[row];
    for (bool start : {true, false}) {
      const plan::FrameBound &bound = start ? window.start : window.end;
      int64_t distance = 0;
      if (hasDistance(bound.edge)) {
        HR_ASSIGN_OR_RETURN(distance, distanceOf(state, bound.distance, partition.rows[row]));
      }
      int64_t target = unit + (bound.edge == FrameEdge::kPreceding ? -distance : distance);
      if (bound.edge == FrameEdge::kUnboundedPreceding) {
        target = 0;
      } else if (bound.edge == FrameEdge::kUnboundedFollowing) {
        target = groups;
      }
      (start ? begin_ : end_)[row] = firstRow(target + (start ? 0 : 1));
    }
  }
  return {};
}

template <typename Key>
Status Frames::computeValues(const plan::State &state, const plan::WindowColumn &window) {
  const Partition &partition = *partition_;
  const plan::OrderKey &order = state.order.front();
  const plan::StateField &field = state.fields[order.field];
  // NULLs stand together at one end; values are searched among the others.
  std::vector<Key> keys(partition.size());
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
  for (uint32_t row = 0; row < partition.size(); ++row) {
    for (bool start : {true, false}) {
      const plan::FrameBound &bound = start ? window.start : window.end;
      uint32_t &out = (start ? begin_ : end_)[row];
      if (bound.edge == FrameEdge::kUnboundedPreceding) {
        out = 0;
        continue;
      }
      if (bound.edge == FrameEdge::kUnboundedFollowing) {
        out = partition.size();
        continue;
      }
      out = start ? partition.peersBegin(row) : partition.peersEnd(row);
      if (!hasDistance(bound.edge)) {
        continue;
      }
      const plan::StateField &distance = state.fields[bound.distance.field];
      if (!isValid(field, partition.rows[row]) || !isValid(distance, partition.rows[row])) {
        continue; // the row's peers
      }
      Key value = valueIn<Key>(distance, partition.rows[row]);
      if (bound.edge == FrameEdge::kPreceding ? before(keys[row], value)
                                              : before(value, keys[row])) {
        return wrongDistance("negative");
      }
      auto from = keys.begin() + first, to = keys.begin() + last;
      auto found = start ? std::lower_bound(from, to, value, before)
                         : std::upper_bound(from, to, value, before);
      out = static_cast<uint32_t>(found - keys.begin());
    }
  }
  return {};
}

Status Frames::compute(const plan::State &state, const plan::WindowColumn &window,
                       const Partition &partition) {
  partition_ = &partition;
  exclude_ = window.exclude;
  uint32_t rows = partition.size();
  begin_.resize(rows);
  end_.resize(rows);
  bool byValue = window.unit == FrameUnit::kRange &&
                 (hasDistance(window.start.edge) || hasDistance(window.end.edge));
  if (!byValue) {
    HR_RETURN_IF_ERROR(computeCounts(state, window));
  } else {
    switch (state.fields[state.order.front().field].type) {
    case HR_F32:
    case HR_F64:
      HR_RETURN_IF_ERROR(computeValues<double>(state, window));
      break;
    default:
      HR_RETURN_IF_ERROR(computeValues<__int128>(state, window));
    }
  }
  whole_ = growing_ = sliding_ = exclude_ == plan::FrameExclusion::kNone;
  for (uint32_t row = 0; row < rows; ++row) {
    end_[row] = std::max(end_[row], begin_[row]);
    growing_ &= begin_[row] == 0;
    whole_ &= begin_[row] == 0 && end_[row] == rows;
    sliding_ &= row == 0 || (begin_[row] >= begin_[row - 1] && end_[row] >= end_[row - 1]);
  }
  growing_ &= sliding_;
  return {};
}

} // namespace headrace::exec
