// Exchanges of rows and collectives of tensors over all ranks in lock step.
#include "passes/interpreter/movement.h"
#include "passes/interpreter/relations.h"
#include "passes/interpreter/tensor_parts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::interpreter {
namespace {

using ExpectedParts = llvm::Expected<Parts>;

SmallVector<StringAttr> axesOf(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsRange<StringAttr>());
}

ExpectedParts exchange(ExchangeOp op, ArrayRef<Value> input, const MeshRanks &ranks) {
  SmallVector<StringAttr> axes = axesOf(op.getAxes());
  frame::TableType type = op.getInput().getType();
  SmallVector<unsigned> keys;
  if (op.getKeysAttr()) {
    keys = columnPositions(type, op.getKeysAttr());
  }
  const auto cycle = static_cast<int64_t>(op.getCycle().value_or(0));
  // Of hashes: those of the ranks along all axes toward which rows go, that are where this one is
  // along these.
  SmallVector<StringAttr> toward = op.getToward() ? axesOf(*op.getToward()) : axes;
  Parts results(input.size());
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    SmallVector<int64_t> members = ranks.group(rank, axes);
    int64_t position = ranks.position(rank, axes);
    SmallVector<int64_t> named = ranks.group(rank, toward);
    if (op.getKind() == ExchangeKind::Broadcast && position > 0) {
      results[rank] = results[members.front()]; // the same rows for all
      continue;
    }
    Table arrived{type, {}};
    if (op.getKind() == ExchangeKind::Range) {
      for (int64_t source : members) {
        llvm::append_range(arrived.rows, std::get<TablePtr>(input[source])->rows);
      }
      auto parts = static_cast<int64_t>(members.size());
      arrived = cutByRange(std::move(arrived), *op.getOrder(), parts)[position];
      results[rank] = valueOf(std::move(arrived));
      continue;
    }
    for (int64_t source : members) {
      for (const Row &row : std::get<TablePtr>(input[source])->rows) {
        bool mine = op.getKind() == ExchangeKind::Broadcast ||
                    (op.getKind() == ExchangeKind::Gather && position == 0) ||
                    (op.getKind() == ExchangeKind::Hash &&
                     ranks.position(named[hashRank(row, keys, cycle, ranks.parts(toward))], axes) ==
                         position);
        if (mine) {
          arrived.rows.push_back(row);
        }
      }
    }
    if (!op.getOrder()) {
      std::reverse(arrived.rows.begin(), arrived.rows.end());
    }
    results[rank] = valueOf(std::move(arrived));
  }
  return results;
}

ExpectedParts keep(KeepOp op, ArrayRef<Value> input, const MeshRanks &ranks) {
  SmallVector<StringAttr> axes = axesOf(op.getAxes());
  frame::TableType type = op.getInput().getType();
  SmallVector<unsigned> keys =
      op.getKeysAttr() ? columnPositions(type, op.getKeysAttr()) : SmallVector<unsigned>();
  Parts results;
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    int64_t position = ranks.position(rank, axes);
    Table kept{type, {}};
    for (const Row &row : std::get<TablePtr>(input[rank])->rows) {
      int64_t owner = keys.empty()
                          ? 0
                          : hashRank(row, keys, static_cast<int64_t>(op.getCycle().value_or(0)),
                                     ranks.parts(axes));
      if (owner == position) {
        kept.rows.push_back(row);
      }
    }
    results.push_back(valueOf(std::move(kept)));
  }
  return results;
}

/// The tensors of the ranks along the axes, in order.
std::vector<TensorPtr> tensorsAlong(ArrayRef<Value> input, const MeshRanks &ranks, int64_t rank,
                                    ArrayRef<StringAttr> axes) {
  std::vector<TensorPtr> tensors;
  for (int64_t member : ranks.group(rank, axes)) {
    tensors.push_back(std::get<TensorPtr>(input[member]));
  }
  return tensors;
}

Tensor evenSlice(const Tensor &tensor, int64_t dim, int64_t parts, int64_t position) {
  EvenPart part = evenPart(tensor.shape[dim], parts, position);
  return sliceTensor(tensor, dim, part.offset, part.extent);
}

using Collective =
    llvm::function_ref<llvm::Expected<Tensor>(const std::vector<TensorPtr> &, int64_t position)>;

ExpectedParts forEachRank(ArrayRef<Value> input, ArrayAttr axesAttr, const MeshRanks &ranks,
                          Collective collective) {
  SmallVector<StringAttr> axes = axesOf(axesAttr);
  Parts results;
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    llvm::Expected<Tensor> tensor =
        collective(tensorsAlong(input, ranks, rank, axes), ranks.position(rank, axes));
    if (!tensor) {
      return tensor.takeError();
    }
    results.push_back(valueOf(std::move(*tensor)));
  }
  return results;
}

ExpectedParts place(PlaceOp op, ArrayRef<Value> input, const MeshRanks &ranks) {
  Parts results;
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    int64_t position = ranks.position(rank, axesOf(op.getAxes()));
    Table placed{op.getType(), std::get<TablePtr>(input[rank])->rows};
    for (Row &row : placed.rows) {
      row.push_back(Scalar{analysis::Int128(position)});
    }
    results.push_back(valueOf(std::move(placed)));
  }
  return results;
}

} // namespace

ExpectedParts evaluateMovement(Operation *op, ArrayRef<Value> input, const MeshRanks &ranks) {
  using Tensors = const std::vector<TensorPtr> &;
  using Result = llvm::Expected<Tensor>;
  return llvm::TypeSwitch<Operation *, ExpectedParts>(op)
      .Case([&](ExchangeOp op) { return exchange(op, input, ranks); })
      .Case([&](PlaceOp op) { return place(op, input, ranks); })
      .Case([&](KeepOp op) { return keep(op, input, ranks); })
      .Case([&](AllReduceOp op) {
        return forEachRank(input, op.getAxes(), ranks, [&](Tensors parts, int64_t) {
          return combineTensors(parts, op.getCombine());
        });
      })
      .Case([&](AllGatherOp op) {
        return forEachRank(input, op.getAxes(), ranks, [&](Tensors parts, int64_t) {
          return concatenateTensors(parts, static_cast<int64_t>(op.getDim()));
        });
      })
      .Case([&](ReduceScatterOp op) {
        return forEachRank(input, op.getAxes(), ranks,
                           [&](Tensors parts, int64_t position) -> Result {
                             Result whole = combineTensors(parts, op.getCombine());
                             if (!whole) {
                               return whole;
                             }
                             return evenSlice(*whole, static_cast<int64_t>(op.getDim()),
                                              static_cast<int64_t>(parts.size()), position);
                           });
      })
      .Case([&](AllToAllOp op) {
        return forEachRank(
            input, op.getAxes(), ranks, [&](Tensors parts, int64_t position) -> Result {
              std::vector<TensorPtr> slices;
              for (const TensorPtr &part : parts) {
                slices.push_back(std::make_shared<const Tensor>(
                    evenSlice(*part, static_cast<int64_t>(op.getSplit()),
                              static_cast<int64_t>(parts.size()), position)));
              }
              return concatenateTensors(slices, static_cast<int64_t>(op.getConcat()));
            });
      })
      .Case([&](SliceOp op) {
        return forEachRank(input, op.getAxes(), ranks,
                           [&](Tensors parts, int64_t position) -> Result {
                             return evenSlice(*parts[position], static_cast<int64_t>(op.getDim()),
                                              static_cast<int64_t>(parts.size()), position);
                           });
      })
      .Case([&](LocalExtentOp op) -> ExpectedParts {
        SmallVector<StringAttr> axes = axesOf(op.getAxes());
        Parts results;
        for (int64_t rank = 0; rank < ranks.size(); ++rank) {
          int64_t extent = std::get<int64_t>(std::get<Element>(input[rank]));
          results.push_back(
              Element(evenPart(extent, ranks.parts(axes), ranks.position(rank, axes)).extent));
        }
        return results;
      })
      .Default([](Operation *other) -> ExpectedParts {
        return programError("the interpreter does not know " + other->getName().getStringRef());
      });
}

} // namespace headrace::interpreter
