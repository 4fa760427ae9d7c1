// Functions of lists that are points: their arithmetic is that of the elements' type, in their
// order.
#include "runtime/base/list_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace headrace {
namespace {

template <typename Real> std::vector<Real> valuesOf(const ListView &list) {
  std::vector<Real> values(list.size());
  for (uint32_t index = 0; index < list.size(); ++index) {
    std::memcpy(&values[index], list.bytes(index).data(), sizeof(Real));
  }
  return values;
}

template <typename Real> Real innerProduct(const std::vector<Real> &x, const std::vector<Real> &y) {
  Real sum = 0;
  for (size_t index = 0; index < x.size(); ++index) {
    sum += x[index] * y[index];
  }
  return sum;
}

template <typename Real> Real distanceOf(const std::vector<Real> &x, const std::vector<Real> &y) {
  Real sum = 0;
  for (size_t index = 0; index < x.size(); ++index) {
    const Real apart = x[index] - y[index];
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

template <typename Real> Real cosineOf(const std::vector<Real> &x, const std::vector<Real> &y) {
  const Real cosine = innerProduct(x, y) / std::sqrt(innerProduct(x, x) * innerProduct(y, y));
  return std::isnan(cosine) ? cosine : std::clamp<Real>(cosine, -1, 1);
}

/// What `value(x, y)` is of their elements, in a list.
template <typename Value>
MaybeList ofPoints(TextRoom &room, const List &x, const List &y, Value value) {
  for (const List *list : {&x, &y}) {
    for (uint32_t index = 0; index < list->view.size(); ++index) {
      if (!list->view.isValid(index)) {
        return std::nullopt;
      }
    }
  }
  if (x.view.size() != y.view.size()) {
    return std::nullopt;
  }
  // An empty list has no type: what it gives is read as either.
  const ElementCode code = x.view.size() == 0 ? elementCode({LogicalKind::kF64}) : x.view.code();
  auto made = [&](auto real) {
    using Real = decltype(real);
    Real result = value(valuesOf<Real>(x.view), valuesOf<Real>(y.view));
    if (std::isnan(result)) {
      result = std::numeric_limits<Real>::quiet_NaN();
    }
    result = result == 0 ? 0 : result; // not −0
    return listOf(room, code,
                  {std::string_view(reinterpret_cast<const char *>(&result), sizeof(Real))});
  };
  return elementBytes(code) == sizeof(float) ? made(float()) : made(double());
}

/// Without any coordinate there is no angle: the list of what it is has no element.
bool isNowhere(const List &x, const List &y) { return x.view.size() == 0 && y.view.size() == 0; }

} // namespace

MaybeList distanceOf(TextRoom &room, const List &x, const List &y) {
  return ofPoints(room, x, y, [](const auto &a, const auto &b) { return distanceOf(a, b); });
}

MaybeList innerProduct(TextRoom &room, const List &x, const List &y, int sign) {
  return ofPoints(room, x, y, [&](const auto &a, const auto &b) {
    return sign < 0 ? -innerProduct(a, b) : innerProduct(a, b);
  });
}

MaybeList cosineOf(TextRoom &room, const List &x, const List &y) {
  return isNowhere(x, y)
             ? MaybeList(x)
             : ofPoints(room, x, y, [](const auto &a, const auto &b) { return cosineOf(a, b); });
}

MaybeList cosineDistance(TextRoom &room, const List &x, const List &y) {
  return isNowhere(x, y) ? MaybeList(x) : ofPoints(room, x, y, [](const auto &a, const auto &b) {
    return 1 - cosineOf(a, b);
  });
}

} // namespace headrace
