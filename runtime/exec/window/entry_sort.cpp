// What distributing leaves undecided is compared.
#include "runtime/exec/window/entry_sort.h"

#include "runtime/exec/rows/digit_sort.h"

namespace headrace::exec {

Status EntrySort::sort(std::span<Entry> entries) {
  if (entries.size() >= kWorthDistributing) {
    HR_RETURN_IF_ERROR(other_.resize(entries.size()));
  }
  auto compare = [this](std::span<Entry> run) {
    std::sort(run.begin(), run.end(),
              [this](const Entry &a, const Entry &b) { return order_.isBefore(a, b); });
  };
  auto equal = [&](std::span<Entry> run) {
    if (!order_.isDecidedByKey()) {
      compare(run);
    }
  };
  auto ask = [](const Entry &) {}; // the rows have just been looked at
  sortByDigits(entries, other_.data(), compare, equal, ask);
  return {};
}

} // namespace headrace::exec
