// Entries are sorted by a word, those of equal words by the next one: making words of many rows one
// after another waits far less for memory than comparing pairs of rows.
#include "runtime/exec/sort/sort_order.h"

#include "runtime/exec/rows/digit_sort.h"

namespace headrace::exec {
namespace {
/// Fewer entries are compared by their rows.
constexpr size_t kWorthWords = 3;
/// So deep a text of many words is compared as a whole.
constexpr int kDepthMax = 64;
/// So many entries before its word is made a row's text is asked for, and as many before, the row.
constexpr size_t kAhead = 16;
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

uint64_t SortOrder::sort(std::span<SortEntry> entries, SortEntry *other, KeyWords::Place place,
                         int depth) const {
  uint64_t words = 0;
  auto equal = [&](std::span<SortEntry> run) { words += sortEqual(run, other, place, depth); };
  auto few = [&](std::span<SortEntry> run) {
    std::sort(run.begin(), run.end(),
              [](const SortEntry &a, const SortEntry &b) { return a.word < b.word; });
    for (size_t begin = 0, end = 0; begin < run.size(); begin = end) {
      for (end = begin + 1; end < run.size() && run[end].word == run[begin].word; ++end) {
      }
      equal(run.subspan(begin, end - begin));
    }
  };
  const std::optional<KeyWords::Place> behind = words_.mayFollow(place);
  auto ask = [&](const SortEntry &entry) {
    if (behind) {
      words_.askForRow(entry.row, *behind);
    }
  };
  sortByDigits(entries, other, few, equal, ask);
  return words;
}

void SortOrder::makeWords(std::span<SortEntry> entries, KeyWords::Place place) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 2 * kAhead < entries.size()) {
      words_.askForRow(entries[i + 2 * kAhead].row, place);
    }
    if (i + kAhead < entries.size()) {
      words_.askForText(entries[i + kAhead].row, place);
    }
    entries[i].word = words_.word(entries[i].row, place);
  }
}

uint64_t SortOrder::sortEqual(std::span<SortEntry> entries, SortEntry *other, KeyWords::Place place,
                              int depth) const {
  if (entries.size() < 2) {
    return 0;
  }
  const std::optional<KeyWords::Place> next = words_.after(place, entries.front().word);
  if (!next) {
    return 0;
  }
  if (entries.size() < kWorthWords || depth == kDepthMax) {
    std::sort(entries.begin(), entries.end(), [this](const SortEntry &a, const SortEntry &b) {
      return rows_.compare(a.row, b.row) < 0;
    });
    return entries.size();
  }
  makeWords(entries, *next);
  return entries.size() + sort(entries, other, *next, depth + 1);
}

} // namespace headrace::exec
