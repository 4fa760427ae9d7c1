// Keys of rows: hash and equality, by runtime/primitives/hash/hash.h.
#include "passes/lower/code/pipeline_code.h"

#include "dialects/topo/TopoDialect.h"

#include "runtime/primitives/hash/hash.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace headrace::lower {

Value PipelineCode::hashValue(Type type, RowValue input) {
  Type i64 = b_.getI64Type();
  auto shiftRight = [&](Value value, int64_t bits) -> Value {
    return arith::ShRUIOp::create(b_, b_.loc(), value, b_.integer(value.getType(), bits));
  };
  auto exclusiveOr = [&](Value a, Value b) -> Value {
    return arith::XOrIOp::create(b_, b_.loc(), a, b);
  };
  auto multiply = [&](Value value, uint64_t by) -> Value {
    return arith::MulIOp::create(b_, b_.loc(), value, b_.i64(static_cast<int64_t>(by)));
  };
  auto hashInteger = [&](Value value) {
    Value hash = exclusiveOr(value, shiftRight(value, 32));
    hash = multiply(hash, primitives::kHashMultiplier1);
    hash = exclusiveOr(hash, shiftRight(hash, 29));
    hash = multiply(hash, primitives::kHashMultiplier2);
    return exclusiveOr(hash, shiftRight(hash, 32));
  };
  Value hash;
  if (isa<pipe::StringType>(type)) {
    // Length and prefix are all of a short string.
    Value head = b_.load(i64, input.value);
    Value out = b_.slot(i64);
    b_.store(hashInteger(head), out);
    Value isLong =
        b_.compare(arith::CmpIPredicate::ugt, b_.truncate(head, b_.getI32Type()), b_.i32(4));
    b_.ifThen(isLong, [&] { b_.store(b_.callImport("hr_string_hash", {input.value}), out); });
    hash = b_.load(i64, out);
  } else if (type.isInteger(1)) {
    hash = hashInteger(b_.zeroExtend(input.value, i64));
  } else if (type.isInteger(128)) {
    Value low = b_.truncate(input.value, i64);
    Value high = b_.truncate(shiftRight(input.value, 64), i64);
    Value fits = b_.compare(arith::CmpIPredicate::eq, b_.signExtend(low, type), input.value);
    Value narrow = hashInteger(low);
    Value first = hashInteger(high);
    Value rotated = arith::OrIOp::create(
        b_, b_.loc(), arith::ShLIOp::create(b_, b_.loc(), first, b_.i64(5)), shiftRight(first, 59));
    Value mixed = multiply(exclusiveOr(rotated, narrow), primitives::kHashMultiplier1);
    hash = b_.select(fits, narrow, exclusiveOr(mixed, shiftRight(mixed, 32)));
  } else if (isa<FloatType>(type)) {
    Value value = input.value;
    if (type.isF32()) {
      value = arith::ExtFOp::create(b_, b_.loc(), b_.getF64Type(), value);
    }
    Value zero = arith::ConstantOp::create(b_, b_.loc(), b_.getF64FloatAttr(0));
    Value isZero = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::OEQ, value, zero);
    Value isNan = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::UNO, value, value);
    Value bits = arith::BitcastOp::create(b_, b_.loc(), i64, value);
    bits = b_.select(isZero, b_.i64(0), bits);
    hash = hashInteger(b_.select(isNan, b_.i64(0x7ff8000000000000), bits));
  } else {
    hash = hashInteger(b_.signExtend(input.value, i64));
  }
  if (input.valid) {
    hash = b_.select(input.valid, hash, b_.i64(static_cast<int64_t>(primitives::kNullHash)));
  }
  return hash;
}

Value PipelineCode::mixHashes(Value hash, Value next) {
  if (!hash) {
    return next;
  }
  Value rotated =
      arith::OrIOp::create(b_, b_.loc(), arith::ShLIOp::create(b_, b_.loc(), hash, b_.i64(5)),
                           arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(59)));
  Value mixed =
      arith::MulIOp::create(b_, b_.loc(), arith::XOrIOp::create(b_, b_.loc(), rotated, next),
                            b_.i64(static_cast<int64_t>(primitives::kHashMultiplier1)));
  return arith::XOrIOp::create(b_, b_.loc(), mixed,
                               arith::ShRUIOp::create(b_, b_.loc(), mixed, b_.i64(32)));
}

namespace {

/// Of one of the ranks along the axes `all` of a mesh, its place along `some` of them: i32, like
/// the rank.
Value placeOfRank(CodeBuilder &b, topo::MeshAttr mesh, Value rank, ArrayRef<StringAttr> all,
                  ArrayAttr some) {
  auto sizeOf = [&](StringAttr axis) { return mesh.getAxisSizes()[mesh.findAxis(axis)]; };
  Value place = b.i32(0);
  for (auto axis : some.getAsRange<StringAttr>()) {
    int64_t stride = 1;
    for (StringAttr faster : all.drop_front(llvm::find(all, axis) - all.begin() + 1)) {
      stride *= sizeOf(faster);
    }
    Value size = b.i32(static_cast<int32_t>(sizeOf(axis)));
    Value along = arith::DivUIOp::create(b, b.loc(), rank, b.i32(static_cast<int32_t>(stride)));
    along = arith::RemUIOp::create(b, b.loc(), along, size);
    place =
        arith::AddIOp::create(b, b.loc(), arith::MulIOp::create(b, b.loc(), place, size), along);
  }
  return place;
}

} // namespace

std::pair<Value, Value> PipelineCode::placeAlong(Operation *op, ArrayAttr axes) {
  topo::MeshAttr mesh = topo::meshOf(op);
  int64_t ranks = topo::ranksAlong(op, axes);
  // Over all of them a program runs on any number of ranks.
  if (!mesh || ranks == mesh.getRankCount()) {
    return {rankNumber(), rankCount()};
  }
  return {placeOfRank(b_, mesh, rankNumber(), mesh.getAxisNames(), axes),
          b_.i32(static_cast<int32_t>(ranks))};
}

/// A value in all lanes, if it has none and others are vectors.
static Value likeLanes(CodeBuilder &b, Value value, Type other) {
  auto lanes = dyn_cast<VectorType>(other);
  return lanes && !isa<VectorType>(value.getType())
             ? vector::BroadcastOp::create(b, b.loc(), lanes.clone(value.getType()), value)
             : value;
}

Value PipelineCode::placeInCycle(RowValue key, uint64_t cycle) {
  const uint64_t scale = primitives::scaleOfCycle(static_cast<int64_t>(cycle));
  Type type = key.value.getType();
  auto lanes = dyn_cast<VectorType>(type);
  Type wide = lanes ? Type(lanes.clone(b_.getI64Type())) : b_.getI64Type();
  Value number = type == wide ? key.value : arith::ExtSIOp::create(b_, b_.loc(), wide, key.value);
  if (key.valid) {
    number = arith::SelectOp::create(b_, b_.loc(), likeLanes(b_, key.valid, wide), number,
                                     likeLanes(b_, b_.i64(0), wide));
  }
  Value position = arith::MulIOp::create(b_, b_.loc(), number,
                                         likeLanes(b_, b_.i64(static_cast<int64_t>(scale)), wide));
  return arith::ShRUIOp::create(b_, b_.loc(), position, likeLanes(b_, b_.i64(32), wide));
}

std::pair<Value, Value> PipelineCode::keyPlacesAlong(Operation *op, ArrayAttr axes) {
  topo::MeshAttr mesh = topo::meshOf(op);
  if (!mesh || topo::ranksAlong(op, axes) == mesh.getRankCount()) {
    return keyPlaces();
  }
  // primitives::equalInterval of a group.
  auto [rank, ranks] = placeAlong(op, axes);
  Value size = b_.zeroExtend(ranks, b_.getI64Type());
  auto begin = [&](Value of) -> Value {
    Value scaled = arith::ShLIOp::create(b_, b_.loc(), of, b_.i64(32));
    scaled = b_.add(scaled, arith::SubIOp::create(b_, b_.loc(), size, b_.i64(1)));
    return arith::DivUIOp::create(b_, b_.loc(), scaled, size);
  };
  Value first = begin(b_.zeroExtend(rank, b_.getI64Type()));
  Value next = begin(b_.add(b_.zeroExtend(rank, b_.getI64Type()), b_.i64(1)));
  return {first, arith::SubIOp::create(b_, b_.loc(), next, first)};
}

Value PipelineCode::isOwn(Value place, pipe::OwnsOp owns) {
  Value count;
  Value first = prologueValue([&] {
    auto [begin, places] = keyPlacesAlong(owns, owns.getAxes());
    count = places;
    return begin;
  });
  Type type = place.getType();
  place = arith::SubIOp::create(b_, b_.loc(), place, likeLanes(b_, first, type));
  return arith::CmpIOp::create(b_, b_.loc(), arith::CmpIPredicate::ult, place,
                               likeLanes(b_, count, type));
}

FailureOr<Value> PipelineCode::outputOfRow(RowReader &rows, pipe::EmitOp emit, Value outputs) {
  auto stream = symbols_.lookup<pipe::StreamOp>(emit.getStream());
  FailureOr<Value> hash = failure();
  if (stream && stream.getCycle()) {
    auto key = cast<StringAttr>(emit.getKeys()[0]);
    FailureOr<RowValue> value = rows.read(columns_.lookup(key.getValue()));
    if (succeeded(value)) {
      // A hash of that place.
      hash = Value(arith::ShLIOp::create(b_, b_.loc(), placeInCycle(*value, *stream.getCycle()),
                                         b_.i64(16)));
    }
  } else {
    hash = hashKeys(rows, emit.getKeys(), nullptr);
  }
  if (failed(hash)) {
    return failure();
  }
  ArrayAttr toward = stream ? stream.getTowardAttr() : ArrayAttr();
  if (!toward) {
    Value rank = rankOfHash(*hash, outputs);
    Value bounds = prologueValue([&] { return keyBounds(); });
    if (!bounds) {
      return rank;
    }
    Value found = b_.slot(b_.getI32Type());
    b_.store(rank, found);
    Value none = LLVM::ZeroOp::create(b_, b_.loc(), b_.ptrType());
    Value unequal = LLVM::ICmpOp::create(b_, b_.loc(), LLVM::ICmpPredicate::ne, bounds, none);
    b_.ifThen(unequal,
              [&] { b_.store(b_.callImport("hr_rank_of_hash", {*hash, bounds, outputs}), found); });
    return b_.load(b_.getI32Type(), found);
  }
  Value rank = rankOfHash(*hash, b_.i32(static_cast<int32_t>(topo::ranksAlong(emit, toward))));
  return placeOfRank(b_, topo::meshOf(emit), rank, llvm::to_vector(toward.getAsRange<StringAttr>()),
                     *stream.getAxes());
}

/// The lower half of `bits`, read as a fraction, times `count`.
static Value scaled(CodeBuilder &b, Value bits, Value count) {
  Value size = b.zeroExtend(count, b.getI64Type());
  bits = arith::AndIOp::create(b, b.loc(), bits, b.i64(0xffffffff));
  Value product = arith::MulIOp::create(b, b.loc(), bits, size);
  return b.truncate(arith::ShRUIOp::create(b, b.loc(), product, b.i64(32)), b.getI32Type());
}

Value PipelineCode::placeOfHash(Value hash) {
  hash = arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(16));
  return arith::AndIOp::create(b_, b_.loc(), hash, b_.i64(primitives::kKeyPlaces - 1));
}

Value PipelineCode::rankOfHash(Value hash, Value ranks) {
  return scaled(b_, arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(16)), ranks);
}

Value PipelineCode::partOfHash(Value hash, Value parts) {
  Value bits = arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(16));
  Value mixer = b_.i64(static_cast<int64_t>(primitives::kPartMixer));
  return scaled(b_, arith::MulIOp::create(b_, b_.loc(), bits, mixer), parts);
}

FailureOr<Value> PipelineCode::hashKeys(RowReader &rows, ArrayAttr keys, Value *anyNull) {
  Value hash;
  for (auto name : keys.getAsRange<StringAttr>()) {
    Column column = columns_.lookup(name.getValue());
    if (Column known = columns_.lookup(keyHashes_.lookup(name.getValue()))) {
      FailureOr<RowValue> made = rows.read(known);
      if (failed(made)) {
        return failure();
      }
      hash = mixHashes(hash, made->value);
      continue;
    }
    FailureOr<RowValue> value = rows.read(column);
    if (failed(value)) {
      return failure();
    }
    hash = mixHashes(hash, hashValue(column->type, *value));
    if (anyNull && value->valid) {
      Value null = arith::XOrIOp::create(b_, b_.loc(), value->valid, b_.integer(b_.getI1Type(), 1));
      *anyNull = *anyNull ? Value(arith::OrIOp::create(b_, b_.loc(), *anyNull, null)) : null;
    }
  }
  return hash ? hash : b_.i64(0);
}

Value PipelineCode::equalValues(Type type, Value a, Value b) {
  if (isa<pipe::StringType>(type)) {
    // Most unequal strings differ in length or prefix: the first eight bytes of the view.
    Value same = b_.slot(b_.getI1Type());
    Value head = b_.compare(arith::CmpIPredicate::eq, b_.load(b_.getI64Type(), a),
                            b_.load(b_.getI64Type(), b));
    b_.store(head, same);
    // Strings of at most four bytes are settled by then.
    Value isLong = b_.compare(arith::CmpIPredicate::ugt, b_.load(b_.getI32Type(), a), b_.i32(4));
    b_.ifThen(arith::AndIOp::create(b_, b_.loc(), head, isLong), [&] {
      Value equal = b_.callImport("hr_string_equal", {a, b});
      b_.store(b_.compare(arith::CmpIPredicate::ne, equal, b_.i32(0)), same);
    });
    return b_.load(b_.getI1Type(), same);
  }
  if (isa<FloatType>(type)) {
    // Keys: NaN equals NaN.
    Value equal = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::OEQ, a, b);
    Value nanA = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::UNO, a, a);
    Value nanB = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::UNO, b, b);
    return arith::OrIOp::create(b_, b_.loc(), equal,
                                arith::AndIOp::create(b_, b_.loc(), nanA, nanB));
  }
  return b_.compare(arith::CmpIPredicate::eq, a, b);
}

Value PipelineCode::equalKey(const plan::StateField &field, Type type, RowValue input, Value row) {
  Value equal = equalValues(type, input.value, loadValue(b_, type, b_.at(row, field.offset)));
  if (!field.nullable) {
    return equal;
  }
  // Equal if both are NULL, or both are values and equal (the value under NULL is 0).
  Value stored = loadValue(b_, b_.getI1Type(), b_.at(row, field.validOffset));
  Value valid = input.valid ? input.valid : b_.integer(b_.getI1Type(), 1);
  Value bothNull = arith::OrIOp::create(b_, b_.loc(), stored, valid);
  bothNull = arith::XOrIOp::create(b_, b_.loc(), bothNull, b_.integer(b_.getI1Type(), 1));
  Value bothValid = arith::AndIOp::create(b_, b_.loc(), stored, valid);
  return arith::OrIOp::create(b_, b_.loc(), bothNull,
                              arith::AndIOp::create(b_, b_.loc(), bothValid, equal));
}

} // namespace headrace::lower
