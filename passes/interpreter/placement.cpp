// Dividing and assembling tables and tensors by their layouts.
#include "passes/interpreter/placement.h"
#include "passes/interpreter/relations.h"
#include "passes/interpreter/tensor_parts.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::interpreter {

int64_t hashRank(const Row &row, ArrayRef<unsigned> columns, int64_t cycle, int64_t ranks) {
  if (cycle) {
    const Scalar &key = row[columns.front()];
    analysis::Int128 place = key.isNull() ? 0 : key.integer() % cycle;
    place += place < 0 ? cycle : 0;
    return static_cast<int64_t>(place * ranks / cycle);
  }
  size_t hash = 17;
  for (unsigned column : columns) {
    const Scalar &value = row[column];
    size_t part = 1;
    if (const auto *real = std::get_if<double>(&value.value)) {
      part = std::isnan(*real) ? 2 : *real == 0 ? 3 : std::hash<double>()(*real);
    } else if (const auto *text = std::get_if<std::string>(&value.value)) {
      part = std::hash<std::string>()(*text);
    } else if (!value.isNull()) {
      part = std::hash<uint64_t>()(static_cast<uint64_t>(value.integer()));
    }
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  }
  return static_cast<int64_t>((hash >> 7) % static_cast<uint64_t>(ranks));
}

std::vector<Table> cutByRange(Table whole, ArrayAttr order, int64_t count) {
  sortRows(whole, order);
  auto compare = rowOrder(whole.type, order);
  std::vector<Table> parts(static_cast<size_t>(count), Table{whole.type, {}});
  size_t part = 0;
  for (size_t row = 0; row < whole.rows.size(); ++row) {
    bool isPeer = row > 0 && compare(whole.rows[row - 1], whole.rows[row]) == 0;
    part = isPeer ? part : row * parts.size() / whole.rows.size();
    parts[part].rows.push_back(whole.rows[row]);
  }
  return parts;
}

namespace {

SmallVector<unsigned> keyPositions(frame::TableType type, RowsAttr rows) {
  SmallVector<unsigned> positions;
  for (StringAttr key : rows.getKeys()) {
    positions.push_back(*type.findColumn(key.getValue()));
  }
  return positions;
}

/// All axes that split or are unreduced; the others replicate.
SmallVector<StringAttr> usedAxes(LayoutAttr layout) {
  SmallVector<StringAttr> axes(layout.getUnreducedAxes());
  for (DimSplitAttr dim : layout.getDims()) {
    axes.append(dim.getAxes().begin(), dim.getAxes().end());
  }
  if (RowsAttr rows = layout.getRows()) {
    axes.append(rows.getAxes().begin(), rows.getAxes().end());
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The rows of each position along the row axes.
llvm::Expected<std::vector<TablePtr>> divideRows(const Table &whole, RowsAttr rows, int64_t count) {
  if (rows.getKind() == RowKind::Range) {
    std::vector<TablePtr> cut;
    for (Table &part : cutByRange(whole, rows.getOrder(), count)) {
      cut.push_back(std::make_shared<const Table>(std::move(part)));
    }
    return cut;
  }
  std::vector<Table> parts(static_cast<size_t>(count), Table{whole.type, {}});
  SmallVector<unsigned> keys = keyPositions(whole.type, rows);
  for (auto [index, row] : llvm::enumerate(whole.rows)) {
    auto number = static_cast<int64_t>(index);
    int64_t target = 0;
    switch (rows.getKind()) {
    case RowKind::Block:
      while (true) {
        EvenPart part = evenPart(static_cast<int64_t>(whole.rows.size()), count, target);
        if (number < part.offset + part.extent) {
          break;
        }
        ++target;
      }
      break;
    case RowKind::Hash:
      target = hashRank(row, keys, rows.getCycle(), count);
      break;
    case RowKind::Scattered:
      target = (number * 7 + number / 3) % count;
      break;
    case RowKind::Root:
      break;
    case RowKind::Range:
      llvm_unreachable("cut as a whole");
    }
    parts[static_cast<size_t>(target)].rows.push_back(row);
  }
  std::vector<TablePtr> shared;
  for (Table &part : parts) {
    shared.push_back(std::make_shared<const Table>(std::move(part)));
  }
  return shared;
}

/// The second half of what each rank did with its own rows, on the parts of all ranks.
llvm::Expected<Table> finish(const Table &together, Operation *producer) {
  auto op = dyn_cast_or_null<frame::RelationalOpInterface>(producer);
  if (!op || op.getSharding().parts == frame::RowSharding::Parts::kNone) {
    return programError("a table is unreduced that no aggregate, distinct, topk or limit makes");
  }
  OpBuilder nowhere(op.getContext());
  auto last = cast<frame::RelationalOpInterface>(op.createFinal(nowhere, op->getResult(0)));
  llvm::Expected<Table> result = evaluateRelation(last, {&together}, {});
  last->destroy();
  return result;
}

llvm::Error checkRows(const Table &part, RowsAttr rows, int64_t position, int64_t count) {
  if (rows.getKind() == RowKind::Root && position != 0 && !part.rows.empty()) {
    return programError("rows are not on the first rank, though their layout says root");
  }
  if (rows.getKind() == RowKind::Hash) {
    SmallVector<unsigned> keys = keyPositions(part.type, rows);
    for (const Row &row : part.rows) {
      if (hashRank(row, keys, rows.getCycle(), count) != position) {
        return programError("a row is not on the rank that the hash of its keys names");
      }
    }
  }
  return llvm::Error::success();
}

bool isSameBag(const Table &a, const Table &b) {
  auto sorted = [](const Table &table) {
    std::vector<Row> rows = table.rows;
    std::sort(rows.begin(), rows.end(), RowLess());
    return rows;
  };
  if (a.rows.size() != b.rows.size()) {
    return false;
  }
  std::vector<Row> x = sorted(a), y = sorted(b);
  return std::equal(x.begin(), x.end(), y.begin(),
                    [](const Row &p, const Row &q) { return compareRows(p, q) == 0; });
}

llvm::Expected<Value> assembleTable(ArrayRef<Value> parts, LayoutAttr layout,
                                    const MeshRanks &ranks, Operation *producer) {
  SmallVector<StringAttr> used = usedAxes(layout);
  SmallVector<StringAttr> copies = ranks.otherAxes(used);
  SmallVector<int64_t> members = ranks.group(0, used);
  Table whole{std::get<TablePtr>(parts[0])->type, {}};
  for (int64_t rank : members) {
    const TablePtr &part = std::get<TablePtr>(parts[rank]);
    if (RowsAttr rows = layout.getRows()) {
      if (llvm::Error error = checkRows(*part, rows, ranks.position(rank, rows.getAxes()),
                                        ranks.parts(rows.getAxes()))) {
        return std::move(error);
      }
    }
    for (int64_t copy : ranks.group(rank, copies)) {
      const TablePtr &other = std::get<TablePtr>(parts[copy]);
      if (other != part && !isSameBag(*other, *part)) {
        return programError("copies of a replicated table differ");
      }
    }
    whole.rows.insert(whole.rows.end(), part->rows.begin(), part->rows.end());
  }
  if (!layout.isUnreduced()) {
    return valueOf(std::move(whole));
  }
  llvm::Expected<Table> finished = finish(std::move(whole), producer);
  return finished ? llvm::Expected<Value>(valueOf(std::move(*finished))) : finished.takeError();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool isSameTensor(const Tensor &a, const Tensor &b) {
  auto same = [](const Element &x, const Element &y) {
    const auto *p = std::get_if<double>(&x);
    return p && std::isnan(*p) ? std::isnan(std::get<double>(y)) : x == y;
  };
  return a.shape == b.shape &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), same);
}

/// Puts together one dimension after the other; afterwards all ranks of a group have the whole
/// dimension.
llvm::Error gatherDim(std::vector<TensorPtr> &parts, int64_t dim, DimSplitAttr split,
                      const MeshRanks &ranks) {
  std::vector<TensorPtr> gathered(parts.size());
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<TensorPtr> pieces;
    for (int64_t member : ranks.group(rank, split.getAxes())) {
      pieces.push_back(parts[member]);
    }
    llvm::Expected<Tensor> whole = concatenateTensors(pieces, dim);
    if (!whole) {
      return whole.takeError();
    }
    for (auto [position, piece] : llvm::enumerate(pieces)) {
      int64_t even = evenPart(whole->shape[dim], static_cast<int64_t>(pieces.size()),
                              static_cast<int64_t>(position))
                         .extent;
      if (split.getKind() == SplitKind::Even && piece->shape[dim] != even) {
        return programError("an even split is not even: part " + Twine(position) + " has extent " +
                            Twine(piece->shape[dim]) + ", not " + Twine(even));
      }
    }
    gathered[rank] = std::make_shared<const Tensor>(std::move(*whole));
  }
  parts = std::move(gathered);
  return llvm::Error::success();
}

llvm::Expected<Value> assembleTensor(ArrayRef<Value> values, LayoutAttr layout,
                                     const MeshRanks &ranks) {
  std::vector<TensorPtr> parts;
  for (const Value &value : values) {
    parts.push_back(std::get<TensorPtr>(value));
  }
  for (auto [dim, split] : llvm::enumerate(layout.getDims())) {
    if (split.getAxes().empty()) {
      continue;
    }
    if (llvm::Error error = gatherDim(parts, static_cast<int64_t>(dim), split, ranks)) {
      return std::move(error);
    }
  }
  // Copies must agree before parts combine.
  SmallVector<StringAttr> unreduced(layout.getUnreducedAxes());
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    for (int64_t copy : ranks.group(rank, ranks.otherAxes(unreduced))) {
      if (!isSameTensor(*parts[rank], *parts[copy])) {
        return programError("copies of a replicated tensor differ");
      }
    }
  }
  if (!layout.isUnreduced()) {
    return Value(parts.front());
  }
  std::vector<TensorPtr> pieces;
  for (int64_t rank : ranks.group(0, unreduced)) {
    pieces.push_back(parts[rank]);
  }
  llvm::Expected<Tensor> whole =
      combineTensors(pieces, cast<CombineAttr>(layout.getCombines().front()).getValue());
  return whole ? llvm::Expected<Value>(valueOf(std::move(*whole))) : whole.takeError();
}

/// This rank's part of every split dimension.
llvm::Expected<Tensor> divideTensor(const Tensor &whole, LayoutAttr layout, const MeshRanks &ranks,
                                    int64_t rank, ArrayRef<Value> like) {
  Tensor part = whole;
  for (auto [index, split] : llvm::enumerate(layout.getDims())) {
    auto dim = static_cast<int64_t>(index);
    if (split.getAxes().empty()) {
      continue;
    }
    EvenPart piece = evenPart(whole.shape[dim], ranks.parts(split.getAxes()),
                              ranks.position(rank, split.getAxes()));
    if (split.getKind() == SplitKind::Ragged && !like.empty()) {
      piece = {0, std::get<TensorPtr>(like[rank])->shape[dim]};
      for (int64_t member : ranks.group(rank, split.getAxes())) {
        if (member == rank) {
          break;
        }
        piece.offset += std::get<TensorPtr>(like[member])->shape[dim];
      }
      if (piece.offset + piece.extent > whole.shape[dim]) {
        // no test: `like` has this very split in every program of today
        return programError("a ragged split is not that of the value it comes from");
      }
    }
    part = sliceTensor(part, dim, piece.offset, piece.extent);
  }
  return part;
}

} // namespace

llvm::Expected<Parts> divide(const Value &whole, LayoutAttr layout, const MeshRanks &ranks,
                             ArrayRef<Value> like) {
  if (layout.isUnreduced()) {
    // no test: the verifiers of dist have no op that asks for it
    return programError("a whole value cannot become unreduced");
  }
  Parts parts;
  if (const auto *table = std::get_if<TablePtr>(&whole)) {
    RowsAttr rows = layout.getRows();
    if (!rows) {
      parts.assign(static_cast<size_t>(ranks.size()), whole);
      return parts;
    }
    llvm::Expected<std::vector<TablePtr>> pieces =
        divideRows(**table, rows, ranks.parts(rows.getAxes()));
    if (!pieces) {
      return pieces.takeError();
    }
    for (int64_t rank = 0; rank < ranks.size(); ++rank) {
      parts.push_back((*pieces)[ranks.position(rank, rows.getAxes())]);
    }
    return parts;
  }
  if (layout.isReplicated()) {
    parts.assign(static_cast<size_t>(ranks.size()), whole);
    return parts;
  }
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    llvm::Expected<Tensor> part =
        divideTensor(*std::get<TensorPtr>(whole), layout, ranks, rank, like);
    if (!part) {
      return part.takeError();
    }
    parts.push_back(valueOf(std::move(*part)));
  }
  return parts;
}

llvm::Expected<Value> assemble(ArrayRef<Value> parts, LayoutAttr layout, const MeshRanks &ranks,
                               Operation *producer) {
  return std::holds_alternative<TablePtr>(parts.front())
             ? assembleTable(parts, layout, ranks, producer)
             : assembleTensor(parts, layout, ranks);
}

} // namespace headrace::interpreter
