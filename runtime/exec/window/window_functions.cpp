// One function after the other. Values are copied from row to row as bytes.
#include "runtime/exec/window/window_functions.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/list_values.h"
#include "runtime/exec/window/field_values.h"
#include "runtime/primitives/string/string.h"

#include <algorithm>

namespace headrace::exec {
namespace {

using plan::WindowFunction;

/// Of one that collects: else the first row has a list of all rows. A frame does not end where it
/// begins.
bool hasFrame(const plan::WindowColumn &window) {
  return window.end.edge != plan::FrameEdge::kUnboundedPreceding;
}

bool looksAtPeers(const plan::WindowColumn &window, bool unordered) {
  switch (window.function) {
  case WindowFunction::kRowNumber:
  case WindowFunction::kNtile:
  case WindowFunction::kLag:
  case WindowFunction::kLead:
    return false;
  case WindowFunction::kRank:
  case WindowFunction::kDenseRank:
  case WindowFunction::kPercentRank:
  case WindowFunction::kCumeDist:
    return true;
  default:
    return (window.unit != plan::FrameUnit::kRows && !unordered) ||
           window.exclude == plan::FrameExclusion::kGroup ||
           window.exclude == plan::FrameExclusion::kTies;
  }
}

/// Sets a value of some type to one of the same type, or to zeros.
void setBytes(uint8_t *to, const uint8_t *from, HrType type) {
  auto set = [&](auto value) {
    if (from) {
      std::memcpy(&value, from, sizeof value);
    }
    std::memcpy(to, &value, sizeof value);
  };
  switch (abi::bytesOf(type)) {
  case 1:
    return set(uint8_t());
  case 2:
    return set(uint16_t());
  case 4:
    return set(uint32_t());
  case 8:
    return set(uint64_t());
  default:
    return set(static_cast<__int128>(0));
  }
}

} // namespace

WindowFunctions::WindowFunctions(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : state_(state), frames_(account), present_(account), scratch_(account), distinct_(account),
      lists_(std::move(account)) {}

bool WindowFunctions::needPeers(const plan::State &state) {
  return std::any_of(state.windows.begin(), state.windows.end(),
                     [&](const auto &window) { return looksAtPeers(window, state.order.empty()); });
}

Status WindowFunctions::compute(const Partition &partition, RowSpanOf part,
                                const RunningFolds *known) {
  partition_ = &partition;
  part_ = part;
  known_ = known;
  for (size_t number = 0; number < state_.windows.size(); ++number) {
    HR_RETURN_IF_ERROR(compute(state_.windows[number], number));
  }
  return {};
}

Status WindowFunctions::compute(const plan::WindowColumn &window, size_t number) {
  switch (window.function) {
  case WindowFunction::kRowNumber:
  case WindowFunction::kRank:
  case WindowFunction::kDenseRank:
  case WindowFunction::kPercentRank:
  case WindowFunction::kCumeDist:
    computeRank(window);
    return {};
  case WindowFunction::kNtile:
    return computeNtile(window);
  case WindowFunction::kLag:
  case WindowFunction::kLead:
    return computeNeighbour(window);
  case WindowFunction::kCollect:
    if (!hasFrame(window)) {
      return computeCollected(window);
    }
    break;
  default:
    break;
  }
  HR_RETURN_IF_ERROR(frames_.compute(state_, window, *partition_, part_));
  switch (window.function) {
  case WindowFunction::kCount:
    if (window.distinct) {
      return computeDistinct(window);
    }
    if (window.input == plan::kNone || !field(window.input).nullable) {
      countRows(window);
      return {};
    }
    return computeFold(window, number);
  case WindowFunction::kCollect:
    return computeLists(window);
  case WindowFunction::kFold:
    return window.distinct ? computeDistinct(window) : computeFold(window, number);
  default:
    return computeValue(window);
  }
}

// ---- ranks ----

void WindowFunctions::computeRank(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  uint32_t rows = partition_->size();
  auto setWhole = [&](const auto &of) {
    for (uint32_t row = part_.begin; row < part_.end; ++row) {
      storeAs(partition_->rows[row] + result.offset, static_cast<int64_t>(of(row)));
    }
  };
  auto setShare = [&](const auto &of) {
    for (uint32_t row = part_.begin; row < part_.end; ++row) {
      storeAs(partition_->rows[row] + result.offset, static_cast<double>(of(row)));
    }
  };
  switch (window.function) {
  case WindowFunction::kRowNumber:
    return setWhole([](uint32_t row) { return int64_t(row) + 1; });
  case WindowFunction::kRank:
    return setWhole([&](uint32_t row) { return int64_t(partition_->peersBegin(row)) + 1; });
  case WindowFunction::kDenseRank:
    return setWhole([&](uint32_t row) { return int64_t(partition_->group[row]) + 1; });
  case WindowFunction::kPercentRank:
    return setShare([&](uint32_t row) {
      return rows > 1 ? double(partition_->peersBegin(row)) / double(rows - 1) : 0.0;
    });
  default:
    return setShare([&](uint32_t row) { return double(partition_->peersEnd(row)) / double(rows); });
  }
}

std::optional<int64_t> WindowFunctions::countOf(const plan::WindowColumn &window,
                                                uint32_t row) const {
  if (window.count.field == plan::kNone) {
    return window.count.number;
  }
  const plan::StateField &count = field(window.count.field);
  const uint8_t *at = partition_->rows[row];
  return isValid(count, at) ? std::optional(valueIn<int64_t>(count, at)) : std::nullopt;
}

Status WindowFunctions::computeNtile(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  int64_t rows = partition_->size();
  for (int64_t row = part_.begin; row < part_.end; ++row) {
    std::optional<int64_t> parts = countOf(window, static_cast<uint32_t>(row));
    uint8_t *out = partition_->rows[row];
    setValid(result, out, parts.has_value());
    if (!parts) {
      setValue<int64_t>(result, out, 0);
      continue;
    }
    if (*parts < 1) {
      return makeError(ErrorKind::kData, "the argument of ntile must be greater than zero, got ",
                       *parts);
    }
    // The first `longer` parts have a row more than the others.
    int64_t length = rows / *parts, longer = rows % *parts, inLonger = longer * (length + 1);
    setValue<int64_t>(result, out,
                      row < inLonger ? row / (length + 1) + 1
                                     : longer + (row - inLonger) / length + 1);
  }
  return {};
}

// ---- values of other rows ----

void WindowFunctions::copyValue(const plan::WindowColumn &window, uint32_t row, const uint8_t *from,
                                int32_t source) {
  const plan::StateField &result = field(window.result);
  uint8_t *out = partition_->rows[row];
  bool valid = from && isValid(field(source), from);
  setBytes(out + result.offset, valid ? from + field(source).offset : nullptr, result.type);
  setValid(result, out, valid);
}

Status WindowFunctions::listPresent(const plan::StateField &input, RowSpanOf rows) {
  HR_RETURN_IF_ERROR(present_.resize(rows.size()));
  presents_ = 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (isValid(input, partition_->rows[row])) {
      present_[presents_++] = row;
    }
  }
  return {};
}

uint32_t WindowFunctions::presentBefore(uint32_t row) const {
  const uint32_t *first = present_.data();
  return static_cast<uint32_t>(std::lower_bound(first, first + presents_, row) - first);
}

Status WindowFunctions::computeNeighbour(const plan::WindowColumn &window) {
  if (window.ignoreNulls) {
    HR_RETURN_IF_ERROR(listPresent(field(window.input), {0, partition_->size()}));
  }
  int64_t rows = partition_->size();
  for (int64_t row = part_.begin; row < part_.end; ++row) {
    std::optional<int64_t> count = countOf(window, static_cast<uint32_t>(row));
    if (!count) {
      copyValue(window, static_cast<uint32_t>(row), nullptr, window.input);
      continue;
    }
    // Beyond the partition is beyond it, however far.
    int64_t steps = std::clamp<int64_t>(*count, -rows - 1, rows + 1);
    steps = window.function == WindowFunction::kLead ? steps : -steps;
    int64_t target = row + steps;
    if (window.ignoreNulls && steps != 0) {
      // Present rows in front of this one count down from `before`, those behind it up.
      int64_t before = presentBefore(static_cast<uint32_t>(row));
      int64_t behind = presentBefore(static_cast<uint32_t>(row) + 1);
      int64_t number = steps < 0 ? before + steps : behind + steps - 1;
      bool there = number >= 0 && number < presents_;
      target = there ? present_[number] : -1;
    }
    if (target >= 0 && target < rows) {
      copyValue(window, static_cast<uint32_t>(row), partition_->rows[target], window.input);
    } else if (window.otherwise != plan::kNone) {
      copyValue(window, static_cast<uint32_t>(row), partition_->rows[row], window.otherwise);
    } else {
      copyValue(window, static_cast<uint32_t>(row), nullptr, window.input);
    }
  }
  return {};
}

Status WindowFunctions::computeCollected(const plan::WindowColumn &window) {
  for (uint32_t row = part_.begin; row < part_.end; ++row) {
    copyValue(window, row, nullptr, window.input);
  }
  const RowSpanOf all{0, partition_->size()};
  return part_.begin == 0 ? collect(window, {&all, 1}, 0) : Status();
}

Status WindowFunctions::computeLists(const plan::WindowColumn &window) {
  Frames::Pieces before;
  for (uint32_t row = part_.begin; row < part_.end; ++row) {
    const Frames::Pieces pieces = frames_.pieces(row);
    const bool isSame =
        row > part_.begin && before.count == pieces.count &&
        std::equal(pieces.piece, pieces.piece + pieces.count, before.piece,
                   [](RowSpanOf a, RowSpanOf b) { return a.begin == b.begin && a.end == b.end; });
    if (isSame) { // as all rows of a partition, or peers
      copyValue(window, row, partition_->rows[row - 1], window.result);
    } else {
      copyValue(window, row, nullptr, window.input);
      HR_RETURN_IF_ERROR(collect(window, {pieces.piece, pieces.count}, row));
    }
    before = pieces;
  }
  return {};
}

Status WindowFunctions::collect(const plan::WindowColumn &window, std::span<const RowSpanOf> from,
                                uint32_t row) {
  const plan::StateField &input = field(window.input), &result = field(window.result);
  auto eachList = [&](auto visit) {
    for (const RowSpanOf &rows : from) {
      for (uint32_t at = rows.begin; at < rows.end; ++at) {
        const uint8_t *bytes = partition_->rowAt(at);
        if (isValid(input, bytes)) {
          const auto text = valueIn<HrString>(input, bytes);
          visit(ListView({reinterpret_cast<const char *>(text.data), text.length}));
        }
      }
    }
  };
  uint64_t size = 0, texts = 0;
  ElementCode code = 0;
  bool any = false;
  eachList([&](const ListView &list) {
    any = true;
    size += list.size();
    texts += list.textBytes();
    code = list.size() == 0 ? code : list.code();
  });
  if (!any) {
    return {};
  }
  const uint64_t bytes = ListWriter::bytesOf(code, size, texts);
  if (bytes > UINT32_MAX) {
    // no test: it takes a list of 4 GiB
    return makeError(ErrorKind::kUnsupported, "a list of more than 4 GiB");
  }
  HR_ASSIGN_OR_RETURN(uint8_t *memory, lists_.allocate(static_cast<int64_t>(bytes), 1));
  ListWriter writer(reinterpret_cast<char *>(memory), code, static_cast<uint32_t>(size));
  eachList([&](const ListView &list) {
    for (uint32_t index = 0; index < list.size(); ++index) {
      writer.add(list.element(index));
    }
  });
  uint8_t *to = partition_->rows[row];
  setValue(result, to, primitives::makeString(memory, static_cast<uint32_t>(bytes)));
  setValid(result, to, true);
  return {};
}

Status WindowFunctions::computeValue(const plan::WindowColumn &window) {
  if (window.ignoreNulls) {
    HR_RETURN_IF_ERROR(listPresent(field(window.input), frames_.seen()));
  }
  for (uint32_t row = part_.begin; row < part_.end; ++row) {
    Frames::Pieces pieces = frames_.pieces(row);
    // Pieces in positions among the rows that count.
    RowSpanOf counted[3];
    int64_t total = 0;
    for (uint32_t i = 0; i < pieces.count; ++i) {
      counted[i] = pieces.piece[i];
      if (window.ignoreNulls) {
        counted[i] = {presentBefore(counted[i].begin), presentBefore(counted[i].end)};
      }
      total += counted[i].end - counted[i].begin;
    }
    int64_t wanted = 1;
    if (window.function == WindowFunction::kLastValue) {
      wanted = total;
    } else if (window.function == WindowFunction::kNthValue) {
      wanted = countOf(window, row).value_or(0);
    }
    const uint8_t *from = nullptr;
    if (wanted >= 1 && wanted <= total) {
      int64_t left = wanted - 1;
      uint32_t i = 0;
      for (; left >= counted[i].end - counted[i].begin; ++i) {
        left -= counted[i].end - counted[i].begin;
      }
      auto position = static_cast<uint32_t>(counted[i].begin + left);
      from = partition_->rowAt(window.ignoreNulls ? present_[position] : position);
    }
    copyValue(window, row, from, window.input);
  }
  return {};
}

void WindowFunctions::countRows(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  for (uint32_t row = part_.begin; row < part_.end; ++row) {
    storeAs<int64_t>(partition_->rows[row] + result.offset, frames_.pieces(row).rows());
  }
}

} // namespace headrace::exec
