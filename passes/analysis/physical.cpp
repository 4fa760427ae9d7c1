// Row layouts: wide fields first, so that no padding is needed between them; validity bytes last.
#include "passes/analysis/physical.h"
#include "dialects/frame/LogicalTypes.h"
#include "passes/analysis/window_layout.h"

#include "model/plan/names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

namespace headrace {

HrType physicalType(Type type) {
  if (isa<pipe::StringType>(type)) {
    return HR_STRING;
  }
  if (type.isF32()) {
    return HR_F32;
  }
  if (type.isF64()) {
    return HR_F64;
  }
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return HR_BOOL;
  case 8:
    return HR_I8;
  case 16:
    return HR_I16;
  case 32:
    return HR_I32;
  case 64:
    return HR_I64;
  case 128:
    return HR_I128;
  }
  llvm_unreachable("not a physical type");
}

namespace {

plan::StateKind planKind(pipe::StateKind kind) {
  switch (kind) {
  case pipe::StateKind::Scalar:
    return plan::StateKind::kScalar;
  case pipe::StateKind::Group:
    return plan::StateKind::kGroupTable;
  case pipe::StateKind::Join:
    return plan::StateKind::kJoinTable;
  case pipe::StateKind::Sort:
    return plan::StateKind::kSortBuffer;
  case pipe::StateKind::Window:
    return plan::StateKind::kWindow;
  case pipe::StateKind::Rows:
    return plan::StateKind::kRowBuffer;
  }
  llvm_unreachable("unknown state kind");
}

plan::Combine planCombine(pipe::Combine combine) {
  switch (combine) {
  case pipe::Combine::Key:
    return plan::Combine::kKey;
  case pipe::Combine::Sum:
    return plan::Combine::kSum;
  case pipe::Combine::SumDoubleDouble:
    return plan::Combine::kSumDoubleDouble;
  case pipe::Combine::Min:
    return plan::Combine::kMin;
  case pipe::Combine::Max:
    return plan::Combine::kMax;
  case pipe::Combine::Payload:
    return plan::Combine::kPayload;
  case pipe::Combine::Computed:
    return plan::Combine::kComputed;
  case pipe::Combine::BitAnd:
    return plan::Combine::kBitAnd;
  case pipe::Combine::BitOr:
    return plan::Combine::kBitOr;
  case pipe::Combine::BitXor:
    return plan::Combine::kBitXor;
  case pipe::Combine::Product:
    return plan::Combine::kProduct;
  }
  llvm_unreachable("unknown combination");
}

uint32_t headerBytes(pipe::StateKind kind) {
  bool hashed = kind == pipe::StateKind::Group || kind == pipe::StateKind::Window;
  return kind == pipe::StateKind::Join ? 16 : hashed ? 8 : 0;
}

template <typename T> void putBytes(std::vector<uint8_t> &row, uint32_t offset, T value) {
  std::memcpy(row.data() + offset, &value, sizeof(T));
}

template <typename T> void putExtreme(std::vector<uint8_t> &row, uint32_t offset, bool lowest) {
  using Limits = std::numeric_limits<T>;
  T high = Limits::has_quiet_NaN ? Limits::quiet_NaN() : Limits::max(); // NaN is the largest
  T low = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  putBytes<T>(row, offset, lowest ? low : high);
}

/// The neutral element of min, max, products and the bits that all have; all else starts at zero.
void putIdentity(std::vector<uint8_t> &row, const plan::StateField &field) {
  if (field.combine == plan::Combine::kProduct) {
    return putBytes<double>(row, field.offset, 1);
  }
  if (field.combine == plan::Combine::kBitAnd) {
    std::fill_n(row.begin() + field.offset, abi::bytesOf(field.type), uint8_t{0xff});
    return;
  }
  if (field.combine != plan::Combine::kMin && field.combine != plan::Combine::kMax) {
    return;
  }
  bool lowest = field.combine == plan::Combine::kMax;
  switch (field.type) {
  case HR_BOOL:
    row[field.offset] = lowest ? 0 : 1;
    return;
  case HR_I8:
    return putExtreme<int8_t>(row, field.offset, lowest);
  case HR_I16:
    return putExtreme<int16_t>(row, field.offset, lowest);
  case HR_I32:
    return putExtreme<int32_t>(row, field.offset, lowest);
  case HR_I64:
    return putExtreme<int64_t>(row, field.offset, lowest);
  case HR_I128: {
    auto low = static_cast<__int128>(static_cast<unsigned __int128>(1) << 127);
    return putBytes<__int128>(row, field.offset, lowest ? low : ~low);
  }
  case HR_F32:
    return putExtreme<float>(row, field.offset, lowest);
  case HR_F64:
    return putExtreme<double>(row, field.offset, lowest);
  case HR_STRING:
    return; // the validity byte says that there is none yet
  }
}

} // namespace

plan::Cardinality cardinalityOf(pipe::CardinalityAttr rows) {
  return rows ? plan::Cardinality{rows.getMin(), rows.getExpected(), rows.getP95(), rows.getMax()}
              : plan::Cardinality();
}

plan::State layoutState(pipe::StateOp op) {
  plan::State state;
  state.name = op.getSymName().str();
  state.kind = planKind(op.getKind());
  state.limit = op.getLimit().value_or(0);
  state.offset = op.getOffset().value_or(0);
  state.firstCome = op.getFirstCome();
  if (std::optional<APFloat> words = op.getOrderWords()) {
    state.orderWords = words->convertToDouble();
  }
  state.rows = cardinalityOf(op.getHoldsAttr());
  for (auto field : op.getFields().getAsRange<pipe::FieldAttr>()) {
    plan::StateField out;
    out.name = field.getName().str();
    out.type = physicalType(field.getType());
    out.nullable = field.getNullable();
    out.combine = planCombine(field.getCombine());
    state.fields.push_back(out);
  }
  std::vector<plan::StateField *> order;
  for (plan::StateField &field : state.fields) {
    order.push_back(&field);
  }
  llvm::stable_sort(order,
                    [](auto *a, auto *b) { return abi::bytesOf(a->type) > abi::bytesOf(b->type); });
  uint32_t offset = headerBytes(op.getKind());
  for (plan::StateField *field : order) {
    field->offset = offset;
    offset += abi::bytesOf(field->type);
  }
  for (plan::StateField *field : order) {
    if (field->nullable) {
      field->validOffset = offset++;
    }
  }
  addWindows(op, state);
  state.rowBytes = (std::max(offset, 8u) + 7) / 8 * 8;
  state.identity.assign(state.rowBytes, 0);
  for (const plan::StateField &field : state.fields) {
    putIdentity(state.identity, field);
  }
  if (pipe::DirectAttr direct = op.getDirectAttr()) {
    state.directory = direct.getSparse() ? plan::Directory::kRanks : plan::Directory::kArray;
    state.base = direct.getBase();
    state.extent = static_cast<uint64_t>(direct.getExtent());
    for (const plan::StateField &field : state.fields) {
      if (field.combine == plan::Combine::kKey) {
        state.directKeyOffset = field.offset;
        state.directKeyType = field.type;
      }
    }
  }
  return state;
}

plan::Schema schemaOf(pipe::RowsType rows, ArrayAttr logical) {
  plan::Schema schema;
  for (size_t index = 0; index < rows.size(); ++index) {
    plan::Column column;
    column.name = rows.getNames()[index].str();
    column.type = physicalType(rows.getTypes()[index]);
    column.nullable = rows.getNullable()[index];
    if (logical && index < logical.size()) {
      column.logical = logicalType(cast<TypeAttr>(logical[index]).getValue());
    }
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

SmallVector<StringRef> statesOf(pipe::PipelineOp pipeline) {
  SmallVector<StringRef> names;
  auto use = [&](StringRef name) {
    if (!llvm::is_contained(names, name)) {
      names.push_back(name);
    }
  };
  for (Operation &op : pipeline.getBody().front()) {
    if (auto lookup = dyn_cast<pipe::LookupOp>(op)) {
      use(lookup.getState());
    } else if (auto insert = dyn_cast<pipe::InsertOp>(op)) {
      use(insert.getState());
    } else if (auto combine = dyn_cast<pipe::CombineOp>(op)) {
      use(combine.getState());
    }
  }
  return names;
}

} // namespace headrace
