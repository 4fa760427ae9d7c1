// Lists as rows, for any front end.
#include "passes/import/RelationBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

MaybeRelation RelationBuilder::unnest(const Relation &input, ArrayRef<Computed> lists,
                                      Location at) {
  Type i64 = builder.getI64Type();
  SmallVector<Computed> wanted(lists);
  wanted.push_back({std::nullopt, "elements",
                    [=, all = SmallVector<Computed>(lists),
                     fields = input.columns()](ExpressionBuilder &b) -> MaybeExpression {
                      Expression none = b.integer(0, i64, at);
                      SmallVector<Expression> sizes;
                      for (const Computed &list : all) {
                        MaybeExpression value =
                            list.field ? b.field(*list.field, at) : list.build(b);
                        if (failed(value)) {
                          return failure();
                        }
                        if (!frame::isList(value->type())) {
                          // no test: DuckDB's binder sees to it
                          return b.fail(at, "unsupported UNNEST of what is no list");
                        }
                        MaybeExpression size =
                            b.text(*headrace::textFunctionNamed("list_length"), *value, i64, at);
                        size = failed(size) ? size : b.coalesce({*size, none}, at);
                        if (failed(size)) {
                          return failure();
                        }
                        sizes.push_back(*size);
                      }
                      return b.extreme(ExpressionBuilder::Extreme::kGreatest, sizes, at);
                    }});
  SmallVector<StringAttr> names;
  MaybeRelation source = addColumns(input, input.columns(), wanted, names, at);
  if (failed(source)) {
    return failure();
  }
  StringAttr by = names.back(), number = uniqueName("element");
  SmallVector<frame::Column> columns = source->type().getColumns();
  columns.push_back({number, i64});
  Relation rows = *source;
  rows.sorted = false;
  if (!rows.order.empty()) {
    rows.order.push_back(frame::SortKeyAttr::get(
        context.getContext(), number, frame::SortDirection::Asc, frame::NullsOrder::Last));
  }
  if (rowsIdentified) {
    rows.identity.push_back(number);
  }
  rows.table = frame::ExpandOp::create(builder, locate("unnest", at),
                                       frame::TableType::get(context.getContext(), columns),
                                       source->table, by, number);
  const auto fields = static_cast<int64_t>(input.fields.size());
  SmallVector<Computed> results;
  for (int64_t field = 0; field < fields; ++field) {
    results.push_back(Computed::ofField(field, at));
  }
  rows.fields.assign(input.fields.begin(), input.fields.end());
  ArrayRef<StringAttr> listNames = ArrayRef(names).drop_back();
  for (auto [index, name] : llvm::enumerate(listNames)) {
    rows.fields.push_back(name);
    const auto field = fields + static_cast<int64_t>(index);
    const auto place = fields + static_cast<int64_t>(lists.size());
    results.push_back({std::nullopt, "element", [=](ExpressionBuilder &b) -> MaybeExpression {
                         MaybeExpression list = b.field(field, at), number = b.field(place, at);
                         return failed(list) || failed(number) ? MaybeExpression(failure())
                                                               : b.element(*list, *number, at);
                       }});
  }
  rows.fields.push_back(number);
  results.push_back(Computed::ofField(fields + static_cast<int64_t>(lists.size()), at));
  return project(rows, results, at);
}
