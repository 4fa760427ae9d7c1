// A row is copied at once; of rows of one element, as of numbers looked up, a loop is quicker.
#include "runtime/exec/task/row_gather.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

/// Where in `extent` elements a place is; -1 if it is out of bounds.
int64_t positionOf(int64_t place, int64_t extent) {
  int64_t position = place < 0 ? place + extent : place;
  return position < 0 || position >= extent ? -1 : position;
}

struct Gather {
  const uint8_t *from;
  const int64_t *places;
  uint8_t *to;
  int64_t extent;
  int64_t rowBytes;

  /// Of the places [first, end) the first one that is out of bounds, or `end`.
  template <typename Copy> int64_t copyRows(int64_t first, int64_t end, Copy copy) const {
    for (int64_t row = first; row < end; ++row) {
      int64_t position = positionOf(places[row], extent);
      if (position < 0) {
        return row;
      }
      copy(to + row * rowBytes, from + position * rowBytes);
    }
    return end;
  }

  int64_t copy(int64_t first, int64_t end) const {
    switch (rowBytes) {
    case 4:
      return copyRows(first, end, [](uint8_t *to, const uint8_t *from) { memcpy(to, from, 4); });
    case 8:
      return copyRows(first, end, [](uint8_t *to, const uint8_t *from) { memcpy(to, from, 8); });
    default:
      return copyRows(first, end, [bytes = static_cast<size_t>(rowBytes)](
                                      uint8_t *to, const uint8_t *from) { memcpy(to, from, bytes); });
    }
  }
};

} // namespace

JobPhase gatherPhase(const TensorBuffer &from, const TensorBuffer &places, const TensorBuffer &to) {
  const int64_t rows = places.elements();
  const int64_t rowBytes = rows == 0 ? 0 : to.bytes() / rows;
  Gather gather{from.data(), reinterpret_cast<const int64_t *>(places.data()), to.data(),
                from.localShape().front(), rowBytes};
  // About as many bytes a morsel as a worker's cache holds.
  constexpr int64_t kBytes = 512 << 10;
  const int64_t each = std::max<int64_t>(1, kBytes / (rowBytes + 8));
  return JobPhase{(rows + each - 1) / each, [=](int, int64_t morsel) {
                    int64_t end = std::min(rows, (morsel + 1) * each);
                    int64_t wrong = gather.copy(morsel * each, end);
                    return wrong == end ? Status()
                                        : makeError(ErrorKind::kData,
                                                    "an index is out of bounds: got ",
                                                    gather.places[wrong], " for an extent of ",
                                                    gather.extent);
                  }};
}

} // namespace headrace::exec
