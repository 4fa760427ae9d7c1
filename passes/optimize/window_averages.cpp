// Averages of window frames: sum and count of the same frames, then a division.
#include "passes/optimize/avg.h"

#include "dialects/frame/FreshNames.h"
#include "passes/optimize/expressions.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::optimize {

void decomposeWindowAverages(WindowOp window) {
  auto averages = [](WindowFunctionAttr function) {
    return function.getAggregate() &&
           ruleOf(*function.getAggregate()).result == AggregateResult::kMean;
  };
  if (llvm::none_of(window.getFunctionRange(), averages)) {
    return;
  }
  OpBuilder builder(window);
  MLIRContext *context = window.getContext();
  TableType type = window.getType(), input = window.getInput().getType();
  FreshNames names(context);
  names.take(type.getNames());
  struct Average {
    StringAttr name, sum, count;
  };
  SmallVector<Average> made;
  SmallVector<Attribute> functions;
  SmallVector<Column> columns = input.getColumns();
  auto add = [&](WindowFunctionAttr like, AggregateFunction aggregate, StringAttr name,
                 Type result) {
    auto function = WindowFunctionAttr::get(context, WindowFunctionKind::Aggregate, aggregate,
                                            like.getArguments(), name, like.getFrame(), ArrayAttr(),
                                            /*ignoreNulls=*/false);
    functions.push_back(function);
    columns.push_back({name, result ? result : WindowOp::resultType(function, input)});
  };
  for (WindowFunctionAttr function : window.getFunctionRange()) {
    Type result = type.getColumnType(function.getName());
    if (!averages(function)) {
      functions.push_back(function);
      columns.push_back({function.getName(), result});
      continue;
    }
    Average average{function.getName(), names.make("sum_" + function.getName().getValue()),
                    names.make("count_" + function.getName().getValue())};
    MeanParts parts = partsOfMean(*function.getAggregate());
    add(function, parts.sum, average.sum,
        sumTypeOf(input.getColumnType(function.getColumn(0)), result));
    add(function, parts.count, average.count, Type());
    made.push_back(average);
  }
  auto narrow = WindowOp::create(builder, window.getLoc(), TableType::get(context, columns),
                                 window.getInput(), window.getPartition(), window.getOrder(),
                                 builder.getArrayAttr(functions));
  SmallVector<StringAttr> averaged;
  for (const Average &average : made) {
    averaged.push_back(average.name);
  }
  const Average *next = made.begin();
  auto divide = [&](RegionBuilder &inside, StringAttr name) -> Value {
    const Average &average = *next++;
    Value sum = inside.column(average.sum), count = inside.column(average.count);
    return createQuotient(inside.builder(), window.getLoc(), sum, count, type.getColumnType(name));
  };
  ProjectOp project =
      createProject(builder, window.getLoc(), narrow.getResult(), type, averaged, divide);
  window.getResult().replaceAllUsesWith(project.getResult());
  window.erase();
}

} // namespace headrace::optimize
