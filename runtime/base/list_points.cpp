// Functions of lists that are points: their arithmetic is that of the elements' type, read
// where they lie.
#include "runtime/base/list_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace headrace {
namespace {

/// The coordinates of a point, which lie anywhere in memory.
template <typename Real> class Point {
public:
  explicit Point(const ListView &list)
      : at_(list.size() == 0 ? nullptr : list.bytes(0).data()), size_(list.size()) {}
  uint32_t size() const { return size_; }
  Real operator[](size_t index) const {
    Real value;
    std::memcpy(&value, at_ + index * sizeof value, sizeof value);
    return value;
  }

private:
  const char *at_;
  uint32_t size_;
};

/// The sum of `term(index)` for all coordinates: as many sums side by side as wide registers have
/// lanes, so that none waits for the one before, added up at the end. The order is the same on
/// every machine, and up to kLanes coordinates it is theirs.
template <typename Real, typename Term> Real sumOf(size_t size, Term term) {
  constexpr size_t kLanes = 16;
  std::array<Real, kLanes> lanes{};
  size_t done = 0;
  for (; done + kLanes <= size; done += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(done + lane);
    }
  }
  for (size_t lane = 0; done + lane < size; ++lane) {
    lanes[lane] += term(done + lane);
  }
  return std::accumulate(lanes.begin(), lanes.end(), Real(0));
}

template <typename Real> Real innerProduct(const Point<Real> &x, const Point<Real> &y) {
  return sumOf<Real>(x.size(), [&](size_t index) { return x[index] * y[index]; });
}

template <typename Real> Real distanceOf(const Point<Real> &x, const Point<Real> &y) {
  return std::sqrt(sumOf<Real>(x.size(), [&](size_t index) {
    const Real apart = x[index] - y[index];
    return apart * apart;
  }));
}

template <typename Real> Real cosineOf(const Point<Real> &x, const Point<Real> &y) {
  const Real cosine = innerProduct(x, y) / std::sqrt(innerProduct(x, x) * innerProduct(y, y));
  return std::isnan(cosine) ? cosine : std::clamp<Real>(cosine, -1, 1);
}

template <typename Real>
std::array<Real, 3> crossProduct(const Point<Real> &x, const Point<Real> &y) {
  return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
}

/// What `values(x, y)` are of their elements, in a list.
template <typename Values>
MaybeList ofPoints(TextRoom &room, const List &x, const List &y, Values values) {
  if (x.view.size() != y.view.size() || !x.view.allValid() || !y.view.allValid()) {
    return std::nullopt;
  }
  // An empty list has no type: what it gives is read as either.
  const ElementCode code = x.view.size() == 0 ? elementCode({LogicalKind::kF64}) : x.view.code();
  auto made = [&](auto real) {
    using Real = decltype(real);
    auto results = values(Point<Real>(x.view), Point<Real>(y.view));
    std::vector<std::optional<std::string_view>> elements;
    for (Real &result : results) {
      if (std::isnan(result)) {
        result = std::numeric_limits<Real>::quiet_NaN();
      }
      result = result == 0 ? 0 : result; // not −0
      elements.emplace_back(
          std::string_view(reinterpret_cast<const char *>(&result), sizeof(Real)));
    }
    return listOf(room, code, elements);
  };
  return elementBytes(code) == sizeof(float) ? made(float()) : made(double());
}

/// Likewise of one value.
template <typename Value>
MaybeList valueOfPoints(TextRoom &room, const List &x, const List &y, Value value) {
  return ofPoints(room, x, y,
                  [&](const auto &a, const auto &b) { return std::array{value(a, b)}; });
}

/// Without any coordinate there is no angle: the list of what it is has no element.
bool isNowhere(const List &x, const List &y) { return x.view.size() == 0 && y.view.size() == 0; }

} // namespace

MaybeList distanceOf(TextRoom &room, const List &x, const List &y) {
  return valueOfPoints(room, x, y, [](const auto &a, const auto &b) { return distanceOf(a, b); });
}

MaybeList innerProduct(TextRoom &room, const List &x, const List &y, int sign) {
  return valueOfPoints(room, x, y, [&](const auto &a, const auto &b) {
    return sign < 0 ? -innerProduct(a, b) : innerProduct(a, b);
  });
}

MaybeList cosineOf(TextRoom &room, const List &x, const List &y) {
  return isNowhere(x, y) ? MaybeList(x)
                         : valueOfPoints(room, x, y, [](const auto &a, const auto &b) {
                             return cosineOf(a, b);
                           });
}

MaybeList cosineDistance(TextRoom &room, const List &x, const List &y) {
  return isNowhere(x, y) ? MaybeList(x)
                         : valueOfPoints(room, x, y, [](const auto &a, const auto &b) {
                             return 1 - cosineOf(a, b);
                           });
}

MaybeList crossProduct(TextRoom &room, const List &x, const List &y) {
  constexpr uint32_t kDimensions = 3;
  return x.view.size() != kDimensions ? std::nullopt
                                      : ofPoints(room, x, y, [](const auto &a, const auto &b) {
                                          return crossProduct(a, b);
                                        });
}

} // namespace headrace
