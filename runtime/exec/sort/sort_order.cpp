// Entries are sorted by a word, those of equal words by the next one: making words of many rows one
// after another waits far less for memory than comparing pairs of rows.
#include "runtime/exec/sort/sort_order.h"

#include <algorithm>

namespace headrace::exec {
namespace {
/// Fewer entries are compared by their rows.
constexpr size_t kWorthWords = 8;
/// So deep a text of many words is compared as a whole.
constexpr int kDepthMax = 64;
} // namespace

std::vector<plan::OrderKey> sortKeysOf(const plan::State &state) {
  std::vector<plan::OrderKey> keys;
  for (size_t field = 0; field < state.fields.size(); ++field) {
    if (state.kind == plan::StateKind::kWindow &&
        state.fields[field].combine == plan::Combine::kKey) {
      keys.push_back({static_cast<int32_t>(field), false, false});
    }
  }
  keys.insert(keys.end(), state.order.begin(), state.order.end());
  return keys;
}

void SortOrder::sort(std::span<SortEntry> entries, KeyWords::Place place, int depth) const {
  std::sort(entries.begin(), entries.end(),
            [](const SortEntry &a, const SortEntry &b) { return a.word < b.word; });
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    const uint64_t word = entries[begin].word;
    for (end = begin + 1; end < entries.size() && entries[end].word == word; ++end) {
    }
    const std::span<SortEntry> same = entries.subspan(begin, end - begin);
    const std::optional<KeyWords::Place> next = words_.after(place, word);
    if (same.size() < 2 || !next) {
      continue;
    }
    if (same.size() < kWorthWords || depth == kDepthMax) {
      std::sort(same.begin(), same.end(), [this](const SortEntry &a, const SortEntry &b) {
        return rows_.compare(a.row, b.row) < 0;
      });
      continue;
    }
    for (SortEntry &entry : same) {
      entry.word = words_.word(entry.row, *next);
    }
    sort(same, *next, depth + 1);
  }
}

} // namespace headrace::exec
