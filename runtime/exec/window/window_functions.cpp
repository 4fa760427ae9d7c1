// One function after the other. Values are copied from row to row as bytes; what is folded is read
// into numbers first.
#include "runtime/exec/window/window_functions.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/double_double.h"
#include "runtime/exec/window/field_values.h"
#include "runtime/exec/window/fold_frames.h"

#include <algorithm>

namespace headrace::exec {
namespace {

using plan::WindowFunction;

bool looksAtPeers(const plan::WindowColumn &window) {
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
    return window.unit != plan::FrameUnit::kRows ||
           window.exclude == plan::FrameExclusion::kGroup ||
           window.exclude == plan::FrameExclusion::kTies;
  }
}

/// Adds integers; remembers if a sum had no room.
template <typename Integer> struct IntegerSum {
  bool overflow = false;
  Integer operator()(Integer a, Integer b) {
    Integer sum;
    overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
  }
};

} // namespace

WindowFunctions::WindowFunctions(const plan::State &state) : state_(state) {
  needsPeers_ = std::any_of(state.windows.begin(), state.windows.end(), looksAtPeers);
}

Status WindowFunctions::computeAll() {
  for (const plan::WindowColumn &window : state_.windows) {
    HR_RETURN_IF_ERROR(compute(window));
  }
  return {};
}

Status WindowFunctions::compute(const plan::WindowColumn &window) {
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
    computeNeighbour(window);
    return {};
  default:
    break;
  }
  HR_RETURN_IF_ERROR(frames_.compute(state_, window, partition_));
  switch (window.function) {
  case WindowFunction::kCount:
    computeCount(window);
    return {};
  case WindowFunction::kFold:
    return computeFold(window);
  default:
    computeValue(window);
    return {};
  }
}

// ---- ranks ----

void WindowFunctions::computeRank(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  uint32_t rows = partition_.size();
  auto setWhole = [&](const auto &of) {
    for (uint32_t row = 0; row < rows; ++row) {
      storeAs(partition_.rows[row] + result.offset, static_cast<int64_t>(of(row)));
    }
  };
  auto setShare = [&](const auto &of) {
    for (uint32_t row = 0; row < rows; ++row) {
      storeAs(partition_.rows[row] + result.offset, static_cast<double>(of(row)));
    }
  };
  switch (window.function) {
  case WindowFunction::kRowNumber:
    return setWhole([](uint32_t row) { return int64_t(row) + 1; });
  case WindowFunction::kRank:
    return setWhole([&](uint32_t row) { return int64_t(partition_.peersBegin(row)) + 1; });
  case WindowFunction::kDenseRank:
    return setWhole([&](uint32_t row) { return int64_t(partition_.group[row]) + 1; });
  case WindowFunction::kPercentRank:
    return setShare([&](uint32_t row) {
      return rows > 1 ? double(partition_.peersBegin(row)) / double(rows - 1) : 0.0;
    });
  default:
    return setShare([&](uint32_t row) { return double(partition_.peersEnd(row)) / double(rows); });
  }
}

std::optional<int64_t> WindowFunctions::countOf(const plan::WindowColumn &window,
                                                uint32_t row) const {
  if (window.count.field == plan::kNone) {
    return window.count.number;
  }
  const plan::StateField &count = field(window.count.field);
  const uint8_t *at = partition_.rows[row];
  return isValid(count, at) ? std::optional(valueIn<int64_t>(count, at)) : std::nullopt;
}

Status WindowFunctions::computeNtile(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  int64_t rows = partition_.size();
  for (int64_t row = 0; row < rows; ++row) {
    std::optional<int64_t> parts = countOf(window, static_cast<uint32_t>(row));
    uint8_t *out = partition_.rows[row];
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
  uint8_t *out = partition_.rows[row];
  auto bytes = static_cast<size_t>(abi::bytesOf(result.type));
  bool valid = from && isValid(field(source), from);
  if (valid) {
    std::memcpy(out + result.offset, from + field(source).offset, bytes);
  } else {
    std::memset(out + result.offset, 0, bytes);
  }
  setValid(result, out, valid);
}

void WindowFunctions::listPresent(const plan::StateField &input) {
  present_.clear();
  for (uint32_t row = 0; row < partition_.size(); ++row) {
    if (isValid(input, partition_.rows[row])) {
      present_.push_back(row);
    }
  }
}

uint32_t WindowFunctions::presentBefore(uint32_t row) const {
  return static_cast<uint32_t>(std::lower_bound(present_.begin(), present_.end(), row) -
                               present_.begin());
}

void WindowFunctions::computeNeighbour(const plan::WindowColumn &window) {
  if (window.ignoreNulls) {
    listPresent(field(window.input));
  }
  int64_t rows = partition_.size();
  for (int64_t row = 0; row < rows; ++row) {
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
      bool there = number >= 0 && number < static_cast<int64_t>(present_.size());
      target = there ? present_[number] : -1;
    }
    if (target >= 0 && target < rows) {
      copyValue(window, static_cast<uint32_t>(row), partition_.rows[target], window.input);
    } else if (window.otherwise != plan::kNone) {
      copyValue(window, static_cast<uint32_t>(row), partition_.rows[row], window.otherwise);
    } else {
      copyValue(window, static_cast<uint32_t>(row), nullptr, window.input);
    }
  }
}

void WindowFunctions::computeValue(const plan::WindowColumn &window) {
  if (window.ignoreNulls) {
    listPresent(field(window.input));
  }
  for (uint32_t row = 0; row < partition_.size(); ++row) {
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
      from = partition_.rows[window.ignoreNulls ? present_[position] : position];
    }
    copyValue(window, row, from, window.input);
  }
}

// ---- aggregates ----

void WindowFunctions::computeCount(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  bool everyRow = window.input == plan::kNone || !field(window.input).nullable;
  std::vector<uint32_t> &before = present_; // of each row, how many present rows are in front of it
  if (!everyRow) {
    before.assign(1, 0);
    for (uint8_t *row : partition_.rows) {
      before.push_back(before.back() + (isValid(field(window.input), row) ? 1 : 0));
    }
  }
  for (uint32_t row = 0; row < partition_.size(); ++row) {
    Frames::Pieces pieces = frames_.pieces(row);
    int64_t count = everyRow ? pieces.rows() : 0;
    for (uint32_t i = 0; !everyRow && i < pieces.count; ++i) {
      count += before[pieces.piece[i].end] - before[pieces.piece[i].begin];
    }
    storeAs(partition_.rows[row] + result.offset, count);
  }
}

template <typename Value, typename Fold>
void WindowFunctions::fold(const plan::WindowColumn &window, Fold &&fold) {
  const plan::StateField &input = field(window.input), &result = field(window.result);
  std::vector<Folded<Value>> values;
  values.reserve(partition_.size());
  for (uint8_t *row : partition_.rows) {
    values.push_back({valueIn<Value>(input, row), isValid(input, row)});
  }
  FrameFolder<Value, std::remove_reference_t<Fold>>(fold).run(
      frames_, values, [&](uint32_t row, const Folded<Value> &folded) {
        uint8_t *out = partition_.rows[row];
        setValue<Value>(result, out, folded.valid ? folded.value : Value());
        setValid(result, out, folded.valid);
      });
}

template <typename Value> Status WindowFunctions::foldExtremes(const plan::WindowColumn &window) {
  if (field(window.result).combine == plan::Combine::kMin) {
    fold<Value>(window, [](const Value &a, const Value &b) { return isLess(b, a) ? b : a; });
  } else {
    fold<Value>(window, [](const Value &a, const Value &b) { return isLess(a, b) ? b : a; });
  }
  return {};
}

Status WindowFunctions::computeFold(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  bool isFloat = result.type == HR_F64 || result.type == HR_F32;
  switch (result.combine) {
  case plan::Combine::kSum:
    if (isFloat) {
      fold<double>(window, [](double a, double b) { return a + b; });
    } else if (result.type == HR_I128) {
      IntegerSum<__int128> sum;
      fold<__int128>(window, sum);
      if (sum.overflow) {
        return makeError(ErrorKind::kData, "number out of range");
      }
    } else {
      IntegerSum<int64_t> sum;
      fold<int64_t>(window, sum);
    }
    return {};
  case plan::Combine::kSumDoubleDouble:
    fold<__int128>(window, [](__int128 a, __int128 b) {
      return packed(sumOf(Computing(), unpacked(a), unpacked(b)));
    });
    return {};
  default:
    break;
  }
  if (result.type == HR_STRING) {
    return foldExtremes<HrString>(window);
  }
  if (isFloat) {
    return foldExtremes<double>(window);
  }
  return result.type == HR_I128 ? foldExtremes<__int128>(window) : foldExtremes<int64_t>(window);
}

} // namespace headrace::exec
