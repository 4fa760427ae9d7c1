// From the frame of a row to that of the next: which rows come, and which go.
#pragma once

#include "runtime/base/stop.h"
#include "runtime/exec/window/frames.h"

#include <utility>

namespace headrace::exec {

/// Calls put(row) for every row of a part; before that add(row) for the rows that its frame has
/// more than the one before, and remove(row) for those that it has less, from front to back. Frames
/// may go either way.
template <typename Add, typename Remove, typename Put>
void followFrames(const Frames &frames, RowSpanOf part, const Add &add, const Remove &remove,
                  const Put &put) {
  StopCheck check;
  uint32_t moved = 0; // rows, since the last check
  auto each = [&](RowSpanOf rows, const auto &visit) {
    moved += rows.size();
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      visit(row);
    }
  };
  const uint32_t first = frames.seen().begin;
  RowSpanOf now{first, first};
  for (uint32_t row = part.begin; row < part.end; ++row) {
    if (check.isStoppedAfter(1 + std::exchange(moved, 0))) {
      return;
    }
    const RowSpanOf next{frames.begin(row), frames.end(row)};
    if (next.begin >= now.end || next.end <= now.begin) {
      each(now, remove);
      each(next, add);
    } else {
      each({now.begin, std::max(now.begin, next.begin)}, remove);
      each({std::min(now.end, next.end), now.end}, remove);
      each({next.begin, std::max(now.begin, next.begin)}, add);
      each({std::min(now.end, next.end), next.end}, add);
    }
    now = next;
    // What is excluded lies between the pieces, and comes back for the next row.
    const Frames::Pieces pieces = frames.pieces(row);
    auto overGaps = [&](const auto &visit) {
      uint32_t at = next.begin;
      for (uint32_t i = 0; i < pieces.count; ++i) {
        each({at, pieces.piece[i].begin}, visit);
        at = pieces.piece[i].end;
      }
      each({at, next.end}, visit);
    };
    overGaps(remove);
    put(row);
    overGaps(add);
  }
}

} // namespace headrace::exec
