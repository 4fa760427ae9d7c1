// Aggregates of any front end: keys and arguments become columns, functions become measures.
#include "passes/import/MeasureParts.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

MaybeRelation RelationBuilder::aggregateBy(const Relation &source, ArrayRef<StringAttr> keys,
                                           const MeasureParts &measures,
                                           ArrayRef<StringAttr> inputs, Location at) {
  Relation result;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> keyNames;
  std::string text = "aggregate";
  for (StringAttr name : keys) {
    result.fields.push_back(name);
    if (!llvm::is_contained(keyNames, name)) { // GROUP BY a, a
      keyNames.push_back(name);
      columns.push_back({name, source.typeOf(name)});
      text += (keyNames.size() == 1 ? " by " : ", ") + name.str();
    }
  }
  auto grouping = keyNames.empty() ? frame::Grouping::kGlobal : frame::Grouping::kByKeys;
  SmallVector<Attribute> attributes;
  for (const MeasureParts::Part &part : measures.parts()) {
    StringAttr column = part.input ? inputs[*part.input] : StringAttr();
    FailureOr<Type> type =
        MeasureParts::typeOf(part, column ? source.typeOf(column) : Type(), grouping, context);
    if (failed(type)) {
      return failure();
    }
    StringRef functionName = frame::stringifyAggregateFunction(part.function);
    StringAttr name =
        uniqueName(column ? (functionName + "_" + column.getValue()).str() : functionName.str());
    attributes.push_back(
        frame::MeasureAttr::get(context.getContext(), part.function, column, name));
    columns.push_back({name, *type});
    result.fields.push_back(name);
  }
  Location location = locate(text, at);
  result.table = frame::AggregateOp::create(
      builder, location, frame::TableType::get(context.getContext(), columns), source.table,
      builder.getArrayAttr(keyNames), builder.getArrayAttr(attributes));
  if (measures.arePlain()) {
    return result;
  }
  auto firstPart = static_cast<int64_t>(keys.size());
  SmallVector<Computed> finished;
  for (int64_t key = 0; key < firstPart; ++key) {
    finished.push_back({key, {}, {}});
  }
  for (size_t measure = 0; measure < measures.size(); ++measure) {
    finished.push_back(measures.finished(measure, firstPart, location));
  }
  return project(result, finished, location);
}

MaybeRelation RelationBuilder::aggregate(const Relation &input, ArrayRef<Computed> keys,
                                         ArrayRef<MeasureRequest> measures, Location at) {
  GroupingSets all;
  all.sets.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, keys.size())));
  return aggregate(input, keys, measures, all, at);
}

/// Whether the key is a field whose equal values may differ.
static bool hasIntervals(const Computed &key, ArrayRef<frame::Column> fields) {
  const frame::Column *column = key.columnIn(fields);
  return column && frame::hasIntervals(column->type);
}

MaybeRelation RelationBuilder::aggregateEqual(const Relation &input, ArrayRef<Computed> keys,
                                              ArrayRef<MeasureRequest> measures, Location at) {
  const SmallVector<frame::Column> fields = input.columns();
  const auto count = static_cast<int64_t>(keys.size() + measures.size());
  SmallVector<Computed> equal, shown;
  std::vector<MeasureRequest> all = measures.vec();
  for (auto [index, key] : llvm::enumerate(keys)) {
    equal.push_back(equalBy(key, fields, at));
    const bool isShown = hasIntervals(key, fields);
    shown.push_back(Computed::ofField(isShown ? static_cast<int64_t>(keys.size() + all.size())
                                              : static_cast<int64_t>(index),
                                      at));
    if (isShown) { // the least bytes, so that it is the same one on any ranks
      all.push_back({.function = frame::AggregateFunction::Min, .arguments = {key}, .at = at});
    }
  }
  for (auto measure = static_cast<int64_t>(keys.size()); measure < count; ++measure) {
    shown.push_back(Computed::ofField(measure, at));
  }
  MaybeRelation grouped = aggregate(input, equal, all, at);
  return failed(grouped) ? grouped : project(*grouped, shown, at);
}

/// The value of grouping(…) of `arguments` for rows of one set: a bit for each, the first the
/// highest, that is 1 where the key is not in the set.
static int64_t groupingValue(ArrayRef<int64_t> arguments, ArrayRef<int64_t> set) {
  int64_t value = 0;
  for (int64_t key : arguments) {
    value = value * 2 + (llvm::is_contained(set, key) ? 0 : 1);
  }
  return value;
}

MaybeRelation RelationBuilder::aggregate(const Relation &input, ArrayRef<Computed> keys,
                                         ArrayRef<MeasureRequest> requests,
                                         const GroupingSets &grouping, Location at) {
  return rowsIdentified && !keys.empty() ? aggregateIdentified(input, keys, requests, grouping, at)
                                         : aggregateSets(input, keys, requests, grouping, at);
}

MaybeRelation RelationBuilder::aggregateIdentified(const Relation &input, ArrayRef<Computed> keys,
                                                   ArrayRef<MeasureRequest> requests,
                                                   const GroupingSets &grouping, Location at) {
  std::vector<MeasureRequest> all = requests.vec();
  all.push_back(
      {.function = frame::AggregateFunction::Min,
       .arguments = {{std::nullopt, "row",
                      [at](ExpressionBuilder &b) -> MaybeExpression { return b.rowNumber(at); }}},
       .at = at});
  GroupingSets sets = grouping;
  sets.numbered |= sets.sets.size() > 1;
  rowsIdentified = false; // of what is made on the way
  MaybeRelation result = aggregateSets(input, keys, all, sets, at);
  rowsIdentified = true;
  if (failed(result)) {
    return failure();
  }
  const size_t least = keys.size() + requests.size();
  result->identity = {result->fields[least]};
  if (sets.numbered) {
    result->identity.push_back(result->fields.back());
  }
  if (sets.numbered && !grouping.numbered) {
    result->fields.pop_back();
  }
  result->fields.erase(result->fields.begin() + static_cast<ptrdiff_t>(least));
  return result;
}

MaybeRelation RelationBuilder::aggregateSets(const Relation &input, ArrayRef<Computed> keys,
                                             ArrayRef<MeasureRequest> requests,
                                             const GroupingSets &grouping, Location at) {
  auto count = static_cast<int64_t>(keys.size());
  bool isOneGrouping = grouping.sets.size() == 1 && grouping.functions.empty() &&
                       !grouping.numbered &&
                       static_cast<int64_t>(grouping.sets.front().size()) == count;
  const SmallVector<frame::Column> fields = input.columns();
  const bool byEqual =
      llvm::any_of(keys, [&](const Computed &key) { return hasIntervals(key, fields); });
  if (byEqual && isOneGrouping) {
    return aggregateEqual(input, keys, requests, at);
  }
  // Which rows a measure is of depends on the group.
  bool choosesRows = byEqual || llvm::any_of(requests, [](const MeasureRequest &request) {
                       return request.rows != MeasureRows::kAll;
                     });
  std::vector<MeasureRequest> wanted = requests.vec();
  MaybeRelation chosen =
      choosesRows && isOneGrouping ? chooseRows(input, keys, wanted, at) : MaybeRelation(input);
  if (failed(chosen)) {
    return failure();
  }
  MeasureParts measures({});
  for (const MeasureRequest &request : wanted) {
    measures.add(request);
  }
  SmallVector<Computed> inputs(keys);
  llvm::append_range(inputs, measures.inputs());
  SmallVector<StringAttr> names;
  MaybeRelation source = addColumns(*chosen, chosen->columns(), inputs, names, at);
  if (failed(source)) {
    return failure();
  }
  ArrayRef<StringAttr> keyNames = ArrayRef(names).take_front(keys.size());
  ArrayRef<StringAttr> inputNames = ArrayRef(names).drop_front(keys.size());
  if (isOneGrouping) {
    return aggregateBy(*source, keyNames, measures, inputNames, at);
  }
  // A query for each set, all over the same rows: optimize-roll-up makes the coarse from the fine.
  SmallVector<Relation> parts;
  for (auto [number, set] : llvm::enumerate(grouping.sets)) {
    SmallVector<StringAttr> own;
    SmallVector<Computed> ownKeys;
    SmallVector<std::optional<int64_t>> place(keys.size()); // of a key among its own
    for (int64_t key : set) {
      place[key] = static_cast<int64_t>(own.size());
      own.push_back(keyNames[key]);
      ownKeys.push_back(keys[key]);
    }
    MaybeRelation part = choosesRows ? aggregate(input, ownKeys, requests, at)
                                     : aggregateBy(*source, own, measures, inputNames, at);
    if (failed(part)) {
      return failure();
    }
    SmallVector<Computed> columns;
    for (int64_t key = 0; key < count; ++key) {
      Type type = source->typeOf(keyNames[key]);
      columns.push_back(
          {place[key], keyNames[key].str(),
           [=](ExpressionBuilder &b) -> MaybeExpression { return b.null(type, at); }});
    }
    for (size_t measure = 0; measure < measures.size(); ++measure) {
      columns.push_back({static_cast<int64_t>(own.size() + measure), {}, {}});
    }
    auto addConstant = [&](StringRef name, int64_t value, unsigned bits) {
      columns.push_back({std::nullopt, name.str(), [=](ExpressionBuilder &b) -> MaybeExpression {
                           return b.integer(value, IntegerType::get(b.getContext(), bits), at);
                         }});
    };
    for (ArrayRef<int64_t> arguments : grouping.functions) {
      addConstant("grouping", groupingValue(arguments, set), 64);
    }
    if (grouping.numbered) {
      addConstant("grouping_set", static_cast<int64_t>(number), 32);
    }
    part = project(*part, columns, at);
    if (failed(part)) {
      return failure();
    }
    parts.push_back(std::move(*part));
  }
  return unite(parts, at);
}
