// Window functions that fold the values of frames: what folds them, and how frames are gone
// through.
#include "runtime/exec/window/window_functions.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/base/double_double.h"
#include "runtime/base/stop.h"
#include "runtime/exec/rows/field_values.h"

#include <algorithm>

namespace headrace::exec {
namespace {

using plan::WindowFunction;

/// Adds integers; remembers if a sum had no room.
template <typename Integer> struct IntegerSum {
  bool overflow = false;
  Integer operator()(Integer a, Integer b) {
    Integer sum;
    overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
  }
};

template <typename Value> Folded<Value> foldIn(const AnyFold &fold) {
  return {loadAs<Value>(fold.value), fold.valid};
}

template <typename Value> AnyFold anyFold(const Folded<Value> &folded) {
  AnyFold fold;
  storeAs(fold.value, folded.value);
  fold.valid = folded.valid;
  return fold;
}

template <typename Value>
constexpr bool kIsInteger = std::is_same_v<Value, int64_t> || std::is_same_v<Value, __int128>;

bool foldsFromFirst(const plan::WindowColumn &window) {
  bool folds = window.function == WindowFunction::kFold ||
               (window.function == WindowFunction::kCount && window.input != plan::kNone);
  return folds && !window.distinct && window.start.edge == plan::FrameEdge::kUnboundedPreceding &&
         window.exclude == plan::FrameExclusion::kNone;
}

/// Whether no sum of a partition's values exceeds the result's type: numbers of 64 bits, of which
/// there are at most 2^32, in 128 bits, or what was proved to fit 64.
bool neverExceeds(const plan::State &state, const plan::WindowColumn &window) {
  HrType type = state.fields[window.input].type;
  return window.function == WindowFunction::kCount ||
         (state.fields[window.result].combine == plan::Combine::kSum && type != HR_I128 &&
          type != HR_F64 && type != HR_F32);
}

} // namespace

bool WindowFunctions::foldFromFirst(const plan::State &state) {
  return std::any_of(state.windows.begin(), state.windows.end(), foldsFromFirst);
}

template <typename Value, typename Fold, typename Visit>
Status WindowFunctions::visitValues(const plan::WindowColumn &window, Fold &&fold,
                                    const Visit &visit) {
  const plan::StateField &input = field(window.input);
  auto read = [&input, partition = partition_](uint32_t row) -> Folded<Value> {
    const uint8_t *at = partition->rows[row];
    return {valueIn<Value>(input, at), isValid(input, at)};
  };
  FrameFolder<Value, std::remove_reference_t<Fold>, decltype(read)> folder(fold, read, scratch_);
  return visit(folder);
}

template <typename Value, typename Visit>
Status WindowFunctions::visitExtremes(const plan::WindowColumn &window, const Visit &visit) {
  if (field(window.result).combine == plan::Combine::kMin) {
    auto least = [](const Value &a, const Value &b) { return isLess(b, a) ? b : a; };
    return visitValues<Value>(window, least, visit);
  }
  auto largest = [](const Value &a, const Value &b) { return isLess(a, b) ? b : a; };
  return visitValues<Value>(window, largest, visit);
}

template <typename Value, typename Visit>
Status WindowFunctions::visitBits(const plan::WindowColumn &window, const Visit &visit) {
  switch (field(window.result).combine) {
  case plan::Combine::kBitAnd:
    return visitValues<Value>(window, [](Value a, Value b) { return a & b; }, visit);
  case plan::Combine::kBitOr:
    return visitValues<Value>(window, [](Value a, Value b) { return a | b; }, visit);
  default:
    return visitValues<Value>(window, [](Value a, Value b) { return a ^ b; }, visit);
  }
}

template <typename Visit>
Status WindowFunctions::visitFold(const plan::WindowColumn &window, const Visit &visit) {
  const plan::StateField &result = field(window.result);
  if (window.function == WindowFunction::kCount) {
    auto read = [this, &input = field(window.input)](uint32_t row) -> Folded<int64_t> {
      return {isValid(input, partition_->rows[row]) ? 1 : 0, true};
    };
    auto add = [](int64_t a, int64_t b) { return a + b; };
    FrameFolder<int64_t, decltype(add), decltype(read)> folder(add, read, scratch_);
    return visit(folder);
  }
  bool isFloat = result.type == HR_F64 || result.type == HR_F32;
  switch (result.combine) {
  case plan::Combine::kSum:
    if (isFloat) {
      return visitValues<double>(window, [](double a, double b) { return a + b; }, visit);
    }
    if (result.type == HR_I128) {
      IntegerSum<__int128> sum;
      HR_RETURN_IF_ERROR(visitValues<__int128>(window, sum, visit));
      return sum.overflow ? makeError(ErrorKind::kData, "number out of range") : Status();
    }
    return visitValues<int64_t>(window, IntegerSum<int64_t>(), visit);
  case plan::Combine::kProduct:
    return visitValues<double>(window, [](double a, double b) { return a * b; }, visit);
  case plan::Combine::kBitAnd:
  case plan::Combine::kBitOr:
  case plan::Combine::kBitXor:
    return result.type == HR_I128 ? visitBits<__int128>(window, visit)
                                  : visitBits<int64_t>(window, visit);
  case plan::Combine::kSumDoubleDouble: {
    auto add = [](__int128 a, __int128 b) {
      return packed(sumOf(Computing(), unpacked(a), unpacked(b)));
    };
    return visitValues<__int128>(window, add, visit);
  }
  default:
    break;
  }
  if (result.type == HR_STRING) {
    return visitExtremes<HrString>(window, visit);
  }
  if (isFloat) {
    return visitExtremes<double>(window, visit);
  }
  return result.type == HR_I128 ? visitExtremes<__int128>(window, visit)
                                : visitExtremes<int64_t>(window, visit);
}

Status WindowFunctions::computeFold(const plan::WindowColumn &window, size_t number) {
  return visitFold(window, [&](auto &folder) -> Status {
    using Value = typename std::remove_reference_t<decltype(folder)>::value_type;
    const plan::StateField &result = field(window.result);
    auto put = [&](uint32_t row, const Folded<Value> &folded) {
      uint8_t *out = partition_->rows[row];
      setValue<Value>(result, out, folded.valid ? folded.value : Value());
      setValid(result, out, folded.valid);
    };
    if (frames_.isGrowing()) {
      KnownFold<Value> known;
      if (known_ && foldsFromFirst(window)) {
        auto after =
            std::upper_bound(known_->rows.begin(), known_->rows.end(), frames_.end(part_.begin));
        size_t last = static_cast<size_t>(after - known_->rows.begin()) - 1;
        known = {known_->rows[last], foldIn<Value>(known_->folded[last][number])};
      }
      folder.grow(frames_, part_, known, put);
      return {};
    }
    if constexpr (kIsInteger<Value>) {
      if (neverExceeds(state_, window)) {
        return folder.subtract(frames_, part_, put);
      }
    }
    return frames_.isSliding() ? folder.slide(frames_, part_, put)
                               : folder.climb(frames_, part_, put);
  });
}

Status WindowFunctions::computeDistinct(const plan::WindowColumn &window) {
  HR_RETURN_IF_ERROR(distinct_.number(state_, window.input, *partition_, frames_.seen()));
  const plan::StateField &result = field(window.result);
  if (window.function == WindowFunction::kCount) {
    auto ignore = [](uint32_t) {};
    distinct_.follow(frames_, part_, ignore, ignore, [&](uint32_t row) {
      storeAs<int64_t>(partition_->rows[row] + result.offset, distinct_.count());
    });
    return {};
  }
  return visitFold(window, [&](auto &folder) -> Status {
    using Value = typename std::remove_reference_t<decltype(folder)>::value_type;
    Folded<Value> all;
    bool isKnown = true;
    Status status;
    auto comes = [&](uint32_t row) { all = folder.combined(all, folder.valueOf(row)); };
    auto goes = [&](uint32_t row) {
      if constexpr (kIsInteger<Value>) {
        if (result.combine == plan::Combine::kSum) {
          all.value -= folder.valueOf(row).value;
          return;
        }
      }
      isKnown = false; // nothing is taken away from doubles
    };
    distinct_.follow(frames_, part_, comes, goes, [&](uint32_t row) {
      if (!isKnown && !stopRequested() && status.ok()) {
        all = {};
        Expected<std::span<const uint32_t>> rows = distinct_.rowsOf(frames_.pieces(row));
        status = rows.status();
        for (uint32_t at : rows.ok() ? *rows : std::span<const uint32_t>()) {
          comes(at);
        }
        isKnown = true;
      }
      bool valid = distinct_.count() > 0;
      uint8_t *out = partition_->rows[row];
      setValue<Value>(result, out, valid ? all.value : Value());
      setValid(result, out, valid);
    });
    return status;
  });
}

Status WindowFunctions::total(const Partition &partition, RowSpanOf rows,
                              std::vector<AnyFold> &folds) {
  partition_ = &partition;
  folds.resize(state_.windows.size());
  for (size_t number = 0; number < folds.size(); ++number) {
    const plan::WindowColumn &window = state_.windows[number];
    if (foldsFromFirst(window)) {
      HR_RETURN_IF_ERROR(visitFold(window, [&](auto &folder) {
        folds[number] = anyFold(folder.total(rows));
        return Status();
      }));
    }
  }
  return {};
}

Status WindowFunctions::append(std::vector<AnyFold> &folds, const std::vector<AnyFold> &next) {
  for (size_t number = 0; number < folds.size(); ++number) {
    const plan::WindowColumn &window = state_.windows[number];
    if (foldsFromFirst(window)) {
      HR_RETURN_IF_ERROR(visitFold(window, [&](auto &folder) {
        using Value = typename std::remove_reference_t<decltype(folder)>::value_type;
        folds[number] =
            anyFold(folder.combined(foldIn<Value>(folds[number]), foldIn<Value>(next[number])));
        return Status();
      }));
    }
  }
  return {};
}

} // namespace headrace::exec
