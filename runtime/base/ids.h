// Typed numbers, so that a task is not taken for a channel.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

namespace headrace {

/// A number of one kind. Trivially copied; ordered by value; invalid by default.
template <typename Tag> struct Id {
  static constexpr uint32_t kInvalid = UINT32_MAX;
  uint32_t value = kInvalid;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t number) : value(number) {}
  constexpr bool valid() const { return value != kInvalid; }
  constexpr auto operator<=>(const Id &) const = default;
  friend std::ostream &operator<<(std::ostream &out, Id id) { return out << id.value; }
};

/// A task of a plan, in the plan's numbering (the same on all ranks).
using TaskId = Id<struct TaskTag>;
/// A stream of messages between ranks; plans number theirs from 0 (see transport/transport.h).
using ChannelId = Id<struct ChannelTag>;

} // namespace headrace

template <typename Tag> struct std::hash<headrace::Id<Tag>> {
  size_t operator()(headrace::Id<Tag> id) const { return std::hash<uint32_t>()(id.value); }
};
