// One function after the other. Values are copied from row to row as bytes.
#include "runtime/exec/window/window_functions.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/list_values.h"
#include "runtime/base/stop.h"
#include "runtime/exec/rows/field_values.h"
#include "runtime/exec/window/standings.h"
#include "runtime/primitives/string/string.h"

#include <algorithm>

namespace headrace::exec {
namespace {

using plan::WindowFunction;

bool looksAtPeers(const plan::WindowColumn &window, bool unordered) {
  const bool ranks = window.function >= WindowFunction::kRank &&
                     window.function <= WindowFunction::kCumeDist && window.order.empty();
  return ranks || (window.unit != plan::FrameUnit::kRows && !unordered) ||
         window.exclude == plan::FrameExclusion::kGroup ||
         window.exclude == plan::FrameExclusion::kTies;
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
    : state_(state), frames_(account), order_(account), present_(account), scratch_(account),
      distinct_(account), frequent_(account), presentValues_(account), lists_(std::move(account)) {
  for (const plan::WindowColumn &window : state.windows) {
    orders_.emplace_back(state, window.order);
  }
}

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
  const bool isPlace = window.function < WindowFunction::kFirstValue;
  if (window.hasFrame()) {
    HR_RETURN_IF_ERROR(frames_.compute(state_, window, *partition_, part_));
  }
  if (window.order.size() > (window.distinct ? 1 : 0)) {
    const bool isPresent = window.ignoreNulls || window.function == WindowFunction::kCollect ||
                           window.function == WindowFunction::kQuantiles;
    HR_RETURN_IF_ERROR(putInOrder(number, isPresent ? &field(window.input) : nullptr));
  }
  if (stopRequested()) {
    return {}; // frames and orders are not whole
  }
  if (isPlace) {
    return computePlace(window);
  }
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
  case WindowFunction::kMode:
    return computeMode(window);
  case WindowFunction::kQuantiles:
    return computeQuantiles(window, number);
  case WindowFunction::kCollect:
    if (window.distinct) {
      return window.order.size() > 1 ? computeFirstsOfValues(window)
                                     : computeDistinctLists(window, number);
    }
    if (!window.hasFrame()) {
      return computeCollected(window);
    }
    return computeLists(window, [&](const Frames::Pieces &pieces, uint32_t row) {
      return collect(window, pieces, row);
    });
  case WindowFunction::kFold:
    return window.distinct ? computeDistinct(window) : computeFold(window, number);
  default:
    return computeValue(window);
  }
}

Status WindowFunctions::putInOrder(size_t number, const plan::StateField *present) {
  const RowSpanOf seen = frames_.seen();
  const RowSpanOf rows{std::min(seen.begin, part_.begin), std::max(seen.end, part_.end)};
  return order_.sort(orders_[number], *partition_, rows, present);
}

// ---- places ----

Status WindowFunctions::computePlace(const plan::WindowColumn &window) {
  if (!window.hasFrame()) {
    return computePlace(window, StandingInPartition{*partition_});
  }
  return window.order.empty() ? computePlace(window, StandingInFrame{*partition_, frames_})
                              : computePlace(window, StandingInOrder{order_, frames_});
}

template <typename Standing>
Status WindowFunctions::computePlace(const plan::WindowColumn &window, const Standing &standing) {
  switch (window.function) {
  case WindowFunction::kNtile:
    return computeNtile(window, standing);
  case WindowFunction::kLag:
  case WindowFunction::kLead:
    return computeNeighbour(window, standing);
  default:
    computeRank(window, standing);
    return {};
  }
}

template <typename Standing>
void WindowFunctions::computeRank(const plan::WindowColumn &window, const Standing &standing) {
  const plan::StateField &result = field(window.result);
  auto setWhole = [&](const auto &of) {
    for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
      storeAs(partition_->rows[row] + result.offset, static_cast<int64_t>(of(row)));
    }
  };
  auto setShare = [&](const auto &of) {
    for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
      storeAs(partition_->rows[row] + result.offset, static_cast<double>(of(row)));
    }
  };
  switch (window.function) {
  case WindowFunction::kRowNumber:
    return setWhole([&](uint32_t row) { return standing.position(row) + 1; });
  case WindowFunction::kRank:
    return setWhole([&](uint32_t row) { return standing.peersBegin(row) + 1; });
  case WindowFunction::kDenseRank: // never of a frame
    return setWhole([&](uint32_t row) { return int64_t(partition_->group[row]) + 1; });
  case WindowFunction::kPercentRank:
    return setShare([&](uint32_t row) {
      const int64_t rows = standing.rows(row);
      return rows > 1 ? double(standing.peersBegin(row)) / double(rows - 1) : 0.0;
    });
  default:
    return setShare([&](uint32_t row) {
      const int64_t rows = standing.rows(row);
      return rows > 0 ? double(standing.peersEnd(row)) / double(rows) : 0.0;
    });
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

template <typename Standing>
Status WindowFunctions::computeNtile(const plan::WindowColumn &window, const Standing &standing) {
  const plan::StateField &result = field(window.result);
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    std::optional<int64_t> parts = countOf(window, row);
    if (parts && *parts < 1) {
      return makeError(ErrorKind::kData, "the argument of ntile must be greater than zero, got ",
                       *parts);
    }
    const int64_t rows = standing.rows(row);
    const bool valid = parts.has_value() && rows > 0;
    uint8_t *out = partition_->rows[row];
    setValid(result, out, valid);
    int64_t part = 0;
    if (valid) { // the first `longer` parts have a row more than the others
      const int64_t number = std::min(*parts, rows);
      const int64_t position = std::min(standing.position(row), rows - 1);
      const int64_t length = rows / number, longer = rows % number,
                    inLonger = longer * (length + 1);
      part = position < inLonger ? position / (length + 1) + 1
                                 : longer + (position - inLonger) / length + 1;
    }
    setValue<int64_t>(result, out, part);
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

template <typename Standing>
Status WindowFunctions::computeNeighbour(const plan::WindowColumn &window,
                                         const Standing &standing) {
  const bool looksFor = window.ignoreNulls && !window.hasFrame(); // else the order has them alone
  if (looksFor) {
    HR_RETURN_IF_ERROR(listPresent(field(window.input), {0, partition_->size()}));
  }
  // Beyond the partition is beyond it, however far.
  const int64_t beyond = 2 * (int64_t(partition_->size()) + 1);
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    std::optional<int64_t> count = countOf(window, row);
    if (!count) {
      copyValue(window, row, nullptr, window.input);
      continue;
    }
    int64_t steps = std::clamp(*count, -beyond, beyond);
    steps = window.function == WindowFunction::kLead ? steps : -steps;
    const int64_t rows = standing.rows(row);
    int64_t target = standing.position(row) + steps;
    if (steps > 0 && !standing.isInside(row)) { // the first behind it is at its own position
      --target;
    }
    if (looksFor && steps != 0) {
      // Present rows in front of this one count down from `before`, those behind it up.
      int64_t before = presentBefore(row);
      int64_t behind = presentBefore(row + 1);
      int64_t number = steps < 0 ? before + steps : behind + steps - 1;
      bool there = number >= 0 && number < presents_;
      target = there ? present_[number] : -1;
    }
    if (steps == 0) {
      copyValue(window, row, partition_->rows[row], window.input);
    } else if (target >= 0 && target < rows) {
      copyValue(window, row, partition_->rows[standing.at(row, target)], window.input);
    } else if (window.otherwise != plan::kNone) {
      copyValue(window, row, partition_->rows[row], window.otherwise);
    } else {
      copyValue(window, row, nullptr, window.input);
    }
  }
  return {};
}

Status WindowFunctions::computeCollected(const plan::WindowColumn &window) {
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    copyValue(window, row, nullptr, window.input);
  }
  const Frames::Pieces all{{{0, partition_->size()}}, 1};
  return part_.begin == 0 ? collect(window, all, 0) : Status();
}

uint32_t WindowFunctions::listsOf(const plan::WindowColumn &window, uint32_t row,
                                  uint32_t rows) const {
  const int64_t most = countOf(window, row).value_or(0);
  return most < 1 ? rows : static_cast<uint32_t>(std::min<int64_t>(most, rows));
}

Status WindowFunctions::computeDistinctLists(const plan::WindowColumn &window, size_t number) {
  HR_RETURN_IF_ERROR(
      distinct_.number(orders_[number], field(window.input), *partition_, frames_.seen()));
  Status status;
  bool isSame = false;
  auto changes = [&](uint32_t) { isSame = false; };
  distinct_.follow(frames_, part_, changes, changes, [&](uint32_t row) {
    if (!status.ok()) {
      return;
    }
    if (isSame && row > part_.begin && window.count.field == plan::kNone) {
      copyValue(window, row, partition_->rows[row - 1], window.result);
      return;
    }
    isSame = true;
    copyValue(window, row, nullptr, window.input);
    Expected<std::span<const uint32_t>> rows = distinct_.rowsOf(frames_.pieces(row));
    if (!rows.ok()) {
      status = rows.status();
      return;
    }
    const uint32_t lists = listsOf(window, row, static_cast<uint32_t>(rows->size()));
    status = collectRows(
        window,
        [&](const auto &visit) {
          for (uint32_t at : rows->first(lists)) {
            visit(at);
          }
        },
        row);
  });
  return status;
}

Status WindowFunctions::computeFirstsOfValues(const plan::WindowColumn &window) {
  const RowOrder byValue(state_, {&window.order.back(), 1});
  HR_RETURN_IF_ERROR(distinct_.number(byValue, field(window.input), *partition_, frames_.seen()));
  return computeLists(window, [&](const Frames::Pieces &pieces, uint32_t row) -> Status {
    HR_ASSIGN_OR_RETURN(const std::span<const uint32_t> rows,
                        distinct_.firstsOf(order_, pieces, listsOf(window, row, UINT32_MAX)));
    return collectRows(
        window,
        [&](const auto &visit) {
          for (uint32_t at : rows) {
            visit(at);
          }
        },
        row);
  });
}

Status WindowFunctions::computeMode(const plan::WindowColumn &window) {
  const RowSpanOf seen = frames_.seen();
  HR_RETURN_IF_ERROR(distinct_.number(state_, window.input, *partition_, seen));
  HR_RETURN_IF_ERROR(frequent_.begin(distinct_, seen));
  followFrames(
      frames_, part_, [&](uint32_t row) { frequent_.add(row); },
      [&](uint32_t row) { frequent_.remove(row); },
      [&](uint32_t row) {
        const uint32_t first = frequent_.first();
        const bool isThere = first != DistinctValues::kNoValue;
        copyValue(window, row, isThere ? partition_->rows[first] : nullptr, window.input);
      });
  return {};
}

Status WindowFunctions::collect(const plan::WindowColumn &window, const Frames::Pieces &from,
                                uint32_t row) {
  auto inOrder = [&](const auto &visit) {
    const uint32_t lists = listsOf(window, row, order_.size(from));
    for (uint32_t number = 0; number < lists; ++number) {
      visit(order_.nth(from, number));
    }
  };
  auto asTheyCome = [&](const auto &visit) {
    uint32_t lists = listsOf(window, row, UINT32_MAX);
    for (uint32_t piece = 0; piece < from.count; ++piece) {
      for (uint32_t at = from.piece[piece].begin; at < from.piece[piece].end && lists > 0; ++at) {
        if (isValid(field(window.input), partition_->rowAt(at))) {
          visit(at);
          --lists;
        }
      }
    }
  };
  return window.order.empty() ? collectRows(window, asTheyCome, row)
                              : collectRows(window, inOrder, row);
}

template <typename EachRow>
Status WindowFunctions::collectRows(const plan::WindowColumn &window, const EachRow &eachRow,
                                    uint32_t row) {
  const plan::StateField &input = field(window.input), &result = field(window.result);
  auto eachList = [&](const auto &visit) {
    eachRow([&](uint32_t at) {
      const auto text = valueIn<HrString>(input, partition_->rowAt(at));
      visit(ListView({reinterpret_cast<const char *>(text.data), text.length}));
    });
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
  const bool isOrdered = !window.order.empty();
  if (window.ignoreNulls && !isOrdered) {
    HR_RETURN_IF_ERROR(listPresent(field(window.input), frames_.seen()));
  }
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    Frames::Pieces pieces = frames_.pieces(row);
    for (uint32_t i = 0; window.ignoreNulls && !isOrdered && i < pieces.count; ++i) {
      RowSpanOf &piece = pieces.piece[i]; // in positions among the rows that count
      piece = {presentBefore(piece.begin), presentBefore(piece.end)};
    }
    const int64_t total = isOrdered ? order_.size(pieces) : pieces.rows();
    int64_t wanted = 1;
    if (window.function == WindowFunction::kLastValue) {
      wanted = total;
    } else if (window.function == WindowFunction::kNthValue) {
      wanted = countOf(window, row).value_or(0);
    }
    const uint8_t *from = nullptr;
    if (wanted >= 1 && wanted <= total) {
      const auto number = static_cast<uint32_t>(wanted - 1);
      from = partition_->rowAt(isOrdered ? order_.nth(pieces, number)
                                         : rowOf(pieces, number, window.ignoreNulls));
    }
    copyValue(window, row, from, window.input);
  }
  return {};
}

uint32_t WindowFunctions::rowOf(const Frames::Pieces &pieces, uint32_t number,
                                bool amongPresent) const {
  uint32_t i = 0;
  for (; number >= pieces.piece[i].size(); ++i) {
    number -= pieces.piece[i].size();
  }
  const uint32_t position = pieces.piece[i].begin + number;
  return amongPresent ? present_[position] : position;
}

void WindowFunctions::countRows(const plan::WindowColumn &window) {
  const plan::StateField &result = field(window.result);
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    storeAs<int64_t>(partition_->rows[row] + result.offset, frames_.pieces(row).rows());
  }
}

} // namespace headrace::exec
