// Window functions, row by row: the rows that a function sees are found by looking at all of its
// partition.
#include "passes/interpreter/relations.h"
#include "runtime/base/list_values.h"

#include <algorithm>

using namespace mlir;
using namespace headrace::frame;
using headrace::analysis::Int128;

namespace headrace::interpreter {
namespace {

/// A partition in order, and where each row's group of peers is in it.
struct Partition {
  std::vector<const Row *> rows;
  std::vector<size_t> group; ///< number of the row's group of peers
  size_t groups() const { return group.empty() ? 0 : group.back() + 1; }
  size_t firstOf(size_t number) const {
    return std::lower_bound(group.begin(), group.end(), number) - group.begin();
  }
  size_t behind(size_t number) const {
    return std::upper_bound(group.begin(), group.end(), number) - group.begin();
  }
};

/// Where a row stands among those that a function looks at, from 0, and these in their order.
struct Standing {
  std::vector<size_t> rows;
  size_t position, peersBegin, peersEnd;
  bool inside;
};

class WindowInterpretation {
public:
  WindowInterpretation(WindowOp op, const Table &input) : op_(op), type_(input.type) {
    for (StringAttr name : op.getPartition().getAsRange<StringAttr>()) {
      partition_.push_back(*type_.findColumn(name.getValue()));
    }
    for (SortKeyAttr key : op.getOrder().getAsRange<SortKeyAttr>()) {
      order_.push_back(*type_.findColumn(key.getColumn().getValue()));
    }
  }

  llvm::Expected<Table> run(Table sorted) {
    Table result{op_.getType(), {}};
    for (size_t begin = 0, end = 0; begin < sorted.rows.size(); begin = end) {
      Partition partition;
      for (end = begin;
           end < sorted.rows.size() && alike(sorted.rows[begin], sorted.rows[end], partition_);
           ++end) {
        bool peer = end > begin && alike(sorted.rows[end - 1], sorted.rows[end], order_);
        size_t number = end == begin ? 0 : partition.group.back() + (peer ? 0 : 1);
        partition.rows.push_back(&sorted.rows[end]);
        partition.group.push_back(number);
      }
      for (size_t row = 0; row < partition.rows.size(); ++row) {
        Row out = *partition.rows[row];
        for (auto [index, function] : llvm::enumerate(op_.getFunctionRange())) {
          Type type = op_.getType().getColumnTypes()[type_.getNumColumns() + index];
          llvm::Expected<Scalar> value = evaluate(function, type, partition, row);
          if (!value) {
            return value.takeError();
          }
          out.push_back(*value);
        }
        result.rows.push_back(std::move(out));
      }
    }
    return result;
  }

private:
  static bool alike(const Row &a, const Row &b, ArrayRef<unsigned> columns) {
    return llvm::all_of(
        columns, [&](unsigned column) { return compareWithNulls(a[column], b[column]) == 0; });
  }

  const Scalar &cell(const Partition &partition, size_t row, StringAttr column) const {
    return (*partition.rows[row])[*type_.findColumn(column.getValue())];
  }

  /// A number, or the number in a column of the row.
  Scalar count(Attribute value, const Partition &partition, size_t row) const {
    auto number = dyn_cast<IntegerAttr>(value);
    return number ? Scalar{Int128(number.getInt())} : cell(partition, row, cast<StringAttr>(value));
  }

  llvm::Expected<Scalar> evaluate(WindowFunctionAttr function, Type type,
                                  const Partition &partition, size_t row) {
    using Kind = WindowFunctionKind;
    size_t rows = partition.rows.size();
    if (function.getKind() < Kind::FirstValue) {
      llvm::Expected<Standing> standing = standingOf(function, partition, row);
      return standing ? place(function, *standing, partition, row)
                      : llvm::Expected<Scalar>(standing.takeError());
    }
    if (function.getKind() == Kind::Collect && !function.getFrame()) {
      return row == 0 ? collected(function.getColumn(0), partition,
                                  llvm::to_vector(llvm::seq<size_t>(0, rows)))
                      : Scalar::null();
    }
    llvm::Expected<std::vector<size_t>> seen = frameRows(function.getFrame(), partition, row);
    if (!seen) {
      return seen.takeError();
    }
    putInOrder(*seen, function, partition);
    if (function.getKind() == Kind::Aggregate) {
      return fold(function, type, partition, *seen);
    }
    StringAttr column = function.getColumn(0);
    if (function.getKind() == Kind::Collect || function.getKind() == Kind::CollectDistinct) {
      chooseCollected(*seen, function, partition, row);
      return collected(column, partition, *seen);
    }
    if (function.getKind() == Kind::Quantiles || function.getKind() == Kind::QuantilesDistinct) {
      chooseCollected(*seen, function, partition, row);
      return quantiles(function, partition, *seen);
    }
    if (function.getKind() == Kind::Mode) {
      return mostFrequent(column, partition, *seen);
    }
    if (function.getIgnoreNulls()) {
      llvm::erase_if(*seen, [&](size_t at) { return cell(partition, at, column).isNull(); });
    }
    Int128 position = 1;
    if (function.getKind() == Kind::LastValue) {
      position = Int128(seen->size());
    } else if (function.getKind() == Kind::NthValue) {
      Scalar wanted = count(function.getArgumentRange()[1], partition, row);
      position = wanted.isNull() ? 0 : wanted.integer();
    }
    bool there = position >= 1 && position <= Int128(seen->size());
    return there ? cell(partition, (*seen)[size_t(position) - 1], column) : Scalar::null();
  }

  std::function<int(size_t, size_t)> orderOf(WindowFunctionAttr function,
                                             const Partition &partition) const {
    return [&partition, compare = rowOrder(type_, function.getOrder())](size_t a, size_t b) {
      return compare(*partition.rows[a], *partition.rows[b]);
    };
  }
  void putInOrder(std::vector<size_t> &rows, WindowFunctionAttr function,
                  const Partition &partition) const {
    if (function.getOrder()) {
      auto compare = orderOf(function, partition);
      std::stable_sort(rows.begin(), rows.end(),
                       [&](size_t a, size_t b) { return compare(a, b) < 0; });
    }
  }

  llvm::Expected<Standing> standingOf(WindowFunctionAttr function, const Partition &partition,
                                      size_t row) const {
    const size_t first = partition.firstOf(partition.group[row]);
    const size_t behind = partition.behind(partition.group[row]);
    WindowFrameAttr frame = function.getFrame();
    if (!frame) {
      auto all = llvm::seq<size_t>(0, partition.rows.size());
      return Standing{{all.begin(), all.end()}, row, first, behind, true};
    }
    llvm::Expected<std::vector<size_t>> seen = frameRows(frame, partition, row);
    if (!seen) {
      return seen.takeError();
    }
    if (function.getIgnoreNulls()) {
      llvm::erase_if(
          *seen, [&](size_t at) { return cell(partition, at, function.getColumn(0)).isNull(); });
    }
    Standing standing{*seen, 0, 0, 0, llvm::is_contained(*seen, row)};
    if (function.getOrder()) {
      auto compare = orderOf(function, partition);
      for (size_t at : *seen) {
        const int order = compare(at, row);
        standing.position += order < 0 || (order == 0 && at < row);
        standing.peersBegin += order < 0;
        standing.peersEnd += order <= 0;
      }
      putInOrder(standing.rows, function, partition);
      return standing;
    }
    size_t begin = 0; // of the frame, where it has no rows, too
    for (; begin < partition.rows.size(); ++begin) {
      llvm::Expected<bool> started = within(Side::kStart, frame.getUnit(), frame.getStart(),
                                            frame.getStartDistance(), partition, row, begin);
      if (!started) {
        return started.takeError();
      }
      if (*started) {
        break;
      }
    }
    auto clamped = [&](size_t at) {
      return std::min(at - std::min(at, begin), standing.rows.size());
    };
    standing.position = clamped(row);
    standing.peersBegin = first - std::min(first, begin);
    standing.peersEnd = clamped(behind);
    return standing;
  }

  llvm::Expected<Scalar> place(WindowFunctionAttr function, const Standing &standing,
                               const Partition &partition, size_t row) const {
    using Kind = WindowFunctionKind;
    const size_t rows = standing.rows.size();
    auto whole = [](size_t number) { return Scalar{Int128(number)}; };
    switch (function.getKind()) {
    case Kind::RowNumber:
      return whole(standing.position + 1);
    case Kind::Rank:
      return whole(standing.peersBegin + 1);
    case Kind::DenseRank:
      return whole(partition.group[row] + 1);
    case Kind::PercentRank:
      return Scalar{rows > 1 ? double(standing.peersBegin) / double(rows - 1) : 0.0};
    case Kind::CumeDist:
      return Scalar{rows > 0 ? double(standing.peersEnd) / double(rows) : 0.0};
    case Kind::Ntile:
      return ntile(count(function.getArgumentRange()[0], partition, row), rows, standing.position);
    default:
      return neighbour(function, standing, partition, row);
    }
  }

  static llvm::Expected<Scalar> ntile(const Scalar &wanted, size_t rows, size_t row) {
    if (!wanted.isNull() && wanted.integer() < 1) {
      return dataError("the argument of ntile must be greater than zero");
    }
    if (wanted.isNull() || rows == 0) {
      return Scalar::null();
    }
    row = std::min(row, rows - 1);
    const Scalar parts{std::min(wanted.integer(), Int128(rows))};
    // The first `longer` parts have a row more than the others.
    Int128 length = Int128(rows) / parts.integer(), longer = Int128(rows) % parts.integer();
    Int128 inLonger = longer * (length + 1);
    return Scalar{Int128(row) < inLonger ? Int128(row) / (length + 1) + 1
                                         : longer + (Int128(row) - inLonger) / length + 1};
  }

  /// Leaves of rows in order those whose lists are collected.
  void chooseCollected(std::vector<size_t> &rows, WindowFunctionAttr function,
                       const Partition &partition, size_t row) const {
    llvm::erase_if(rows,
                   [&](size_t at) { return cell(partition, at, function.getColumn(0)).isNull(); });
    const WindowFunctionKind kind = function.getKind();
    const bool isOfQuantiles =
        kind == WindowFunctionKind::Quantiles || kind == WindowFunctionKind::QuantilesDistinct;
    if (kind == WindowFunctionKind::CollectDistinct ||
        kind == WindowFunctionKind::QuantilesDistinct) {
      const StringAttr value = cast<SortKeyAttr>(function.getOrder().getValue().back()).getColumn();
      std::vector<size_t> firsts;
      for (size_t at : rows) {
        auto isEqual = [&](size_t first) {
          return compareWithNulls(cell(partition, first, value), cell(partition, at, value)) == 0;
        };
        if (llvm::none_of(firsts, isEqual)) {
          firsts.push_back(at);
        }
      }
      rows = std::move(firsts);
    }
    if (function.getArgumentRange().size() > 1 && !isOfQuantiles) {
      const Scalar most = count(function.getArgumentRange()[1], partition, row);
      if (!most.isNull() && most.integer() >= 1 && most.integer() < Int128(rows.size())) {
        rows.resize(size_t(most.integer()));
      }
    }
  }

  Scalar mostFrequent(StringAttr column, const Partition &partition, ArrayRef<size_t> rows) const {
    Scalar most = Scalar::null();
    size_t frequency = 0;
    for (size_t row : rows) {
      const Scalar &value = cell(partition, row, column);
      const size_t equal = value.isNull() ? 0 : llvm::count_if(rows, [&](size_t at) {
        return compareWithNulls(cell(partition, at, column), value) == 0;
      });
      if (equal > frequency) {
        most = value;
        frequency = equal;
      }
    }
    return most;
  }

  llvm::Expected<Scalar> quantiles(WindowFunctionAttr function, const Partition &partition,
                                   ArrayRef<size_t> rows) const {
    if (rows.empty()) {
      return Scalar::null();
    }
    std::vector<Scalar> lists;
    for (size_t row : rows) {
      lists.push_back(cell(partition, row, function.getColumn(0)));
      if (const size_t size = ListView(lists.back().text()).size(); size != 1) {
        return dataError("a quantile is of lists of one element");
      }
    }
    const uint32_t code = ListView(lists.front().text()).code();
    SmallVector<Scalar> found;
    for (QuantileShare share : function.getShares()) {
      auto one = quantileOf(share, function.getQuantileKind(), code, lists.size(),
                            [&](uint64_t n) { return ListView(lists[n].text()).bytes(0); });
      if (!one) {
        return dataError("intervals of more than 64 bits have no interval between them");
      }
      std::string bytes(ListWriter::bytesOf(one->code, 1, one->bytes().size()), '\0');
      ListWriter(bytes.data(), one->code, 1).add(one->bytes());
      found.push_back({std::move(bytes)});
    }
    return analysis::joinedLists(found);
  }

  Scalar collected(StringAttr column, const Partition &partition, ArrayRef<size_t> rows) const {
    SmallVector<Scalar> lists;
    for (size_t row : rows) {
      if (Scalar list = cell(partition, row, column); !list.isNull()) {
        lists.push_back(std::move(list));
      }
    }
    return lists.empty() ? Scalar::null() : analysis::joinedLists(lists);
  }

  Scalar neighbour(WindowFunctionAttr function, const Standing &standing,
                   const Partition &partition, size_t row) const {
    Scalar offset = count(function.getArgumentRange()[1], partition, row);
    if (offset.isNull()) {
      return Scalar::null();
    }
    StringAttr column = function.getColumn(0);
    Int128 steps =
        function.getKind() == WindowFunctionKind::Lead ? offset.integer() : -offset.integer();
    if (steps == 0) {
      return cell(partition, row, column);
    }
    Int128 at = Int128(standing.position), step = steps < 0 ? -1 : 1,
           rows = Int128(standing.rows.size());
    if (!function.getIgnoreNulls() ||
        function.getFrame()) { // behind a row outside, the first is at its own position
      at += steps - (steps > 0 && !standing.inside ? 1 : 0);
    } else {
      for (Int128 left = steps < 0 ? -steps : steps; left > 0 && at >= 0 && at < rows;) {
        at += step;
        left -= at >= 0 && at < rows && !cell(partition, size_t(at), column).isNull();
      }
    }
    if (at >= 0 && at < rows) {
      return cell(partition, standing.rows[size_t(at)], column);
    }
    StringAttr otherwise = function.getColumn(2);
    return otherwise ? cell(partition, row, otherwise) : Scalar::null();
  }

  llvm::Expected<Scalar> fold(WindowFunctionAttr function, Type type, const Partition &partition,
                              ArrayRef<size_t> seen) {
    Table frame{type_, {}};
    for (size_t row : seen) {
      frame.rows.push_back(*partition.rows[row]);
    }
    MLIRContext *context = op_.getContext();
    auto measure = MeasureAttr::get(context, *function.getAggregate(), function.getColumn(0),
                                    function.getName());
    auto result = TableType::get(context, {Column{function.getName(), type}});
    llvm::Expected<Table> folded = aggregateRows(result, frame, ArrayAttr::get(context, {}),
                                                 measure, AggregateStage::Complete);
    return folded ? llvm::Expected<Scalar>(folded->rows[0][0]) : folded.takeError();
  }

  enum class Side : uint8_t { kStart, kEnd };

  /// Whether a bound lets in the row `at`.
  llvm::Expected<bool> within(Side side, FrameUnit unit, FrameBoundKind kind, Attribute distance,
                              const Partition &partition, size_t row, size_t at) const {
    using Kind = FrameBoundKind;
    if (kind == Kind::UnboundedPreceding || kind == Kind::UnboundedFollowing) {
      return true;
    }
    auto behind = [side](auto place, auto bound) {
      return side == Side::kStart ? place >= bound : place <= bound;
    };
    Int128 steps = 0;
    if (distance && unit == FrameUnit::Range) {
      return withinValues(side, kind, cast<StringAttr>(distance), partition, row, at);
    }
    if (distance) {
      Scalar value = count(distance, partition, row);
      if (value.isNull() || value.integer() < 0) {
        return dataError("the distance of a window frame is NULL or negative");
      }
      steps = kind == Kind::Preceding ? -value.integer() : value.integer();
    }
    if (unit == FrameUnit::Rows) {
      return behind(Int128(at), Int128(row) + steps);
    }
    return behind(Int128(partition.group[at]), Int128(partition.group[row]) + steps);
  }

  /// The same of a frame by values of the order key.
  llvm::Expected<bool> withinValues(Side side, FrameBoundKind kind, StringAttr distance,
                                    const Partition &partition, size_t row, size_t at) const {
    auto key = cast<SortKeyAttr>(op_.getOrder()[0]);
    int direction = key.getDirection() == SortDirection::Asc ? 1 : -1;
    const Scalar &own = cell(partition, row, key.getColumn());
    const Scalar &other = cell(partition, at, key.getColumn());
    const Scalar &bound = cell(partition, row, distance);
    if (bound.isNull() || own.isNull()) { // the row's peers
      return side == Side::kStart ? partition.group[at] >= partition.group[row]
                                  : partition.group[at] <= partition.group[row];
    }
    int against = direction * analysis::compareScalars(bound, own);
    if (kind == FrameBoundKind::Preceding ? against > 0 : against < 0) {
      return dataError("the distance of a window frame is negative");
    }
    if (other.isNull()) {
      bool last = key.getNulls() == NullsOrder::Last;
      return side == Side::kStart ? last : !last;
    }
    int order = direction * analysis::compareScalars(other, bound);
    return side == Side::kStart ? order >= 0 : order <= 0;
  }

  llvm::Expected<std::vector<size_t>> frameRows(WindowFrameAttr frame, const Partition &partition,
                                                size_t row) const {
    std::vector<size_t> seen;
    for (size_t at = 0; at < partition.rows.size(); ++at) {
      llvm::Expected<bool> started = within(Side::kStart, frame.getUnit(), frame.getStart(),
                                            frame.getStartDistance(), partition, row, at);
      if (!started) {
        return started.takeError();
      }
      llvm::Expected<bool> open = within(Side::kEnd, frame.getUnit(), frame.getEnd(),
                                         frame.getEndDistance(), partition, row, at);
      if (!open) {
        return open.takeError();
      }
      if (*started && *open && !isExcluded(frame.getExclude(), partition, row, at)) {
        seen.push_back(at);
      }
    }
    return seen;
  }

  static bool isExcluded(FrameExclusion exclude, const Partition &partition, size_t row,
                         size_t at) {
    bool peers = partition.group[row] == partition.group[at];
    switch (exclude) {
    case FrameExclusion::None:
      return false;
    case FrameExclusion::CurrentRow:
      return row == at;
    case FrameExclusion::Group:
      return peers;
    case FrameExclusion::Ties:
      return peers && row != at;
    }
    llvm_unreachable("unknown exclusion");
  }

  mutable WindowOp op_; // accessors of ops are not const
  TableType type_;
  SmallVector<unsigned> partition_, order_;
};

} // namespace

llvm::Expected<Table> windowRows(WindowOp op, const Table &input) {
  SmallVector<Attribute> keys;
  for (StringAttr name : op.getPartition().getAsRange<StringAttr>()) {
    keys.push_back(SortKeyAttr::get(op.getContext(), name, SortDirection::Asc, NullsOrder::First));
  }
  llvm::append_range(keys, op.getOrder());
  Table sorted = input;
  sortRows(sorted, ArrayAttr::get(op.getContext(), keys));
  return WindowInterpretation(op, input).run(std::move(sorted));
}

} // namespace headrace::interpreter
