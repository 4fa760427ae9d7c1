// Numbers at equal distances as a table: few are constants, many a cross product of fewer.
#include "passes/import/RelationBuilder.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace headrace::import;

namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;

/// That many rows are written out.
static constexpr int64_t kConstantRows = 1024;

MaybeRelation RelationBuilder::series(StringRef name, int64_t start, int64_t step, int64_t length,
                                      Location at) {
  Type i64 = builder.getI64Type();
  // From start + step * first on, in order.
  auto constants = [&](int64_t first, int64_t count, int64_t from, int64_t by) {
    SmallVector<SmallVector<Attribute>> rows;
    for (int64_t row : llvm::seq<int64_t>(first, first + count)) {
      rows.push_back({IntegerAttr::get(i64, from + by * row)});
    }
    return values({{name.str(), i64}}, rows, at);
  };
  if (length <= kConstantRows) {
    return constants(0, length, start, step);
  }
  const int64_t blocks = length / kConstantRows, rest = length % kConstantRows;
  MaybeRelation high = series(name, 0, 1, blocks, at);
  MaybeRelation low = constants(0, kConstantRows, 0, 1);
  if (failed(high) || failed(low)) {
    return failure();
  }
  MaybeRelation pairs = join(*high, *low, JoinRequest(), at);
  if (failed(pairs)) {
    return failure();
  }
  Computed number{std::nullopt, name.str(), [=](ExpressionBuilder &b) -> MaybeExpression {
                    auto compute = [&](Arithmetic op, const Expression &x, const Expression &y) {
                      return *b.arithmetic(op, x, y, i64, at);
                    };
                    Expression block = compute(Arithmetic::kMultiply, *b.field(0, at),
                                               b.integer(kConstantRows, i64, at));
                    Expression index = compute(Arithmetic::kAdd, block, *b.field(1, at));
                    Expression steps =
                        compute(Arithmetic::kMultiply, index, b.integer(step, i64, at));
                    return compute(Arithmetic::kAdd, b.integer(start, i64, at), steps);
                  }};
  MaybeRelation all = project(*pairs, number, at);
  if (succeeded(all) && rest != 0) {
    MaybeRelation last = constants(length - rest, rest, start, step);
    all = failed(last) ? last : unite({*all, *last}, at);
  }
  if (succeeded(all) && rowsIdentified) {
    all->identity = all->fields;
    *all = prune(*all, at);
  }
  if (succeeded(all) && rowsInOrder) { // the numbers say where they stand
    all->order = {
        frame::SortKeyAttr::get(context.getContext(), all->fields.front(),
                                step > 0 ? frame::SortDirection::Asc : frame::SortDirection::Desc,
                                frame::NullsOrder::Last)};
  }
  return all;
}
