// The fields of every plan struct, listed once: the JSON writer and the JSON reader both walk these
// lists. A name here is a key of plan.json; renaming one is a change of the schema's major version.
#pragma once

#include "model/plan/plan.h"

namespace headrace::plan {

template <typename V> void visitFields(V &v, Cardinality &x) {
  v("min", x.min);
  v("expected", x.expected);
  v("p95", x.p95);
  v("max", x.max);
}

template <typename V> void visitFields(V &v, LogicalType &x) {
  v("kind", x.kind);
  v("precision", x.precision);
  v("scale", x.scale);
  v("unit", x.unit);
  v("zoned", x.zoned);
  v("children", x.children);
  v("names", x.names);
  v("size", x.size);
}

template <typename V> void visitFields(V &v, Column &x) {
  v("name", x.name);
  v("type", x.type);
  v("logical", x.logical);
  v("nullable", x.nullable);
}

template <typename V> void visitFields(V &v, Schema &x) { v("columns", x.columns); }

template <typename V> void visitFields(V &v, Place &x) {
  v("text", x.text);
  v("operation", x.operation);
}

template <typename V> void visitFields(V &v, Bound &x) {
  v("column", x.column);
  v("op", x.op);
  v("integer", x.integer);
  v("real", x.real);
  v("text", x.text);
}

template <typename V> void visitFields(V &v, SlotColumn &x) {
  v("file", x.file);
  v("ordinal", x.ordinal);
  v("logical", x.logical);
  v("type", x.type);
  v("nullable", x.nullable);
  v("ranged", x.ranged);
  v("min", x.min);
  v("max", x.max);
  v("ordered", x.ordered);
  v("fileBytes", x.fileBytes);
}

template <typename V> void visitFields(V &v, Cell &x) {
  v("null", x.null);
  v("integer", x.integer);
  v("high", x.high);
  v("real", x.real);
  v("text", x.text);
}

template <typename V> void visitFields(V &v, Stretches &x) {
  v("column", x.column);
  v("cycle", x.cycle);
  v("axes", x.axes);
}

template <typename V> void visitFields(V &v, Slot &x) {
  v("name", x.name);
  v("kind", x.kind);
  v("columns", x.columns);
  v("bounds", x.bounds);
  v("stretches", x.stretches);
  v("pieceRows", x.pieceRows);
  v("shape", x.shape);
  v("element", x.element);
  v("resident", x.resident);
  v("cells", x.cells);
}

template <typename V> void visitFields(V &v, StateField &x) {
  v("name", x.name);
  v("type", x.type);
  v("offset", x.offset);
  v("nullable", x.nullable);
  v("validOffset", x.validOffset);
  v("combine", x.combine);
}

template <typename V> void visitFields(V &v, OrderKey &x) {
  v("field", x.field);
  v("descending", x.descending);
  v("nullsFirst", x.nullsFirst);
}

template <typename V> void visitFields(V &v, RowCount &x) {
  v("field", x.field);
  v("number", x.number);
}

template <typename V> void visitFields(V &v, FrameBound &x) {
  v("edge", x.edge);
  v("distance", x.distance);
}

template <typename V> void visitFields(V &v, QuantileShare &x) {
  v("part", x.part);
  v("whole", x.whole);
}

template <typename V> void visitFields(V &v, WindowColumn &x) {
  v("function", x.function);
  v("result", x.result);
  v("input", x.input);
  v("count", x.count);
  v("otherwise", x.otherwise);
  v("ignoreNulls", x.ignoreNulls);
  v("distinct", x.distinct);
  v("unit", x.unit);
  v("start", x.start);
  v("end", x.end);
  v("exclude", x.exclude);
  v("order", x.order);
  v("quantileKind", x.quantileKind);
  v("shares", x.shares);
}

template <typename V> void visitFields(V &v, State &x) {
  v("name", x.name);
  v("kind", x.kind);
  v("tier", x.tier);
  v("rowBytes", x.rowBytes);
  v("fields", x.fields);
  v.bytes("identity", x.identity);
  v("rows", x.rows);
  v("mergeKernel", x.mergeKernel);
  v("linkKernel", x.linkKernel);
  v("limit", x.limit);
  v("offset", x.offset);
  v("firstCome", x.firstCome);
  v("orderWords", x.orderWords);
  v("order", x.order);
  v("windows", x.windows);
  v("directory", x.directory);
  v("directKeyOffset", x.directKeyOffset);
  v("directKeyType", x.directKeyType);
  v("base", x.base);
  v("extent", x.extent);
  v("place", x.place);
}

template <typename V> void visitFields(V &v, Stream &x) {
  v("name", x.name);
  v("schema", x.schema);
  v("capacityChunks", x.capacityChunks);
  v("chunkRows", x.chunkRows);
  v("tier", x.tier);
  v("rows", x.rows);
  v("writers", x.writers);
  v("textBytes", x.textBytes);
  v("fullest", x.fullest);
  v("parts", x.parts);
}

template <typename V> void visitFields(V &v, Literal &x) {
  v("kind", x.kind);
  v("offset", x.offset);
  v("integer", x.integer);
  v("high", x.high);
  v("real", x.real);
  v("text", x.text);
}

template <typename V> void visitFields(V &v, Work &x) {
  v("kind", x.kind);
  v("level", x.level);
  v("amount", x.amount);
  v("state", x.state);
}

template <typename V> void visitFields(V &v, Kernel &x) {
  v("symbol", x.symbol);
  v("contentHash", x.contentHash);
  v("scratchBytes", x.scratchBytes);
  v("literalBytes", x.literalBytes);
  v("threads", x.threads);
  v("literals", x.literals);
  v("places", x.places);
  v("work", x.work);
  v("selectivity", x.selectivity);
  v("stageOperators", x.stageOperators);
}

template <typename V> void visitFields(V &v, Split &x) {
  v("dimension", x.dimension);
  v("axes", x.axes);
  v("ragged", x.ragged);
}

template <typename V> void visitFields(V &v, Buffer &x) {
  v("name", x.name);
  v("tier", x.tier);
  v("element", x.element);
  v("shape", x.shape);
  v("splits", x.splits);
  v("bytes", x.bytes);
  v("sizedBy", x.sizedBy);
}

template <typename V> void visitFields(V &v, Hole &x) {
  v("name", x.name);
  v("bounds", x.bounds);
  v("producer", x.producer);
  v("agreed", x.agreed);
}

template <typename V> void visitFields(V &v, StateArgument &x) {
  v("state", x.state);
  v("use", x.use);
}

template <typename V> void visitFields(V &v, Step &x) {
  v("op", x.op);
  v("stage", x.stage);
}

template <typename V> void visitFields(V &v, Operator &x) {
  v("name", x.name);
  v("detail", x.detail);
  v("inputs", x.inputs);
  v("where", x.where);
  v("replicated", x.replicated);
  v("way", x.way);
  v("rows", x.rows);
  v("bytes", x.bytes);
  v("seconds", x.seconds);
  v("movedBytes", x.movedBytes);
  v("runnerUp", x.runnerUp);
  v("runnerUpSeconds", x.runnerUpSeconds);
}

template <typename V> void visitFields(V &v, Explanation &x) {
  v("note", x.note);
  v("topology", x.topology);
  v("ranks", x.ranks);
  v("totalSeconds", x.totalSeconds);
  v("boundSeconds", x.boundSeconds);
  v("solveSeconds", x.solveSeconds);
  v("memoryBytes", x.memoryBytes);
  v("memoryBytesMax", x.memoryBytesMax);
  v("order", x.order);
  v("whyNothingFits", x.whyNothingFits);
  v("operators", x.operators);
}

template <typename V> void visitFields(V &v, LoadTask &x) {
  v("slot", x.slot);
  v("split", x.split);
  v("outputStream", x.outputStream);
  v("shared", x.shared);
}

template <typename V> void visitFields(V &v, InputTask &x) {
  v("slot", x.slot);
  v("output", x.output);
}

template <typename V> void visitFields(V &v, RunTask &x) {
  v("kernel", x.kernel);
  v("inputStream", x.inputStream);
  v("sourceState", x.sourceState);
  v("states", x.states);
  v("outputStream", x.outputStream);
  v("partitioned", x.partitioned);
  v("part", x.part);
  v("deviceKernel", x.deviceKernel);
}

template <typename V> void visitFields(V &v, ExchangeTask &x) {
  v("exchange", x.exchange);
  v("channel", x.channel);
  v("axes", x.axes);
  v("inputStream", x.inputStream);
  v("outputStream", x.outputStream);
  v("order", x.order);
  v("pair", x.pair);
  v("heavy", x.heavy);
  v("keys", x.keys);
}

template <typename V> void visitFields(V &v, CollectiveTask &x) {
  v("operation", x.operation);
  v("combine", x.combine);
  v("axes", x.axes);
  v("input", x.input);
  v("output", x.output);
}

template <typename V> void visitFields(V &v, ComputeTask &x) {
  v("operation", x.operation);
  v("kernel", x.kernel);
  v("inputs", x.inputs);
  v("outputs", x.outputs);
  v("parameters", x.parameters);
}

template <typename V> void visitFields(V &v, ToTensorTask &x) {
  v("inputStream", x.inputStream);
  v("columns", x.columns);
  v("outputs", x.outputs);
}

template <typename V> void visitFields(V &v, ReserveTask &x) {
  v("state", x.state);
  v("bytes", x.bytes);
}

template <typename V> void visitFields(V &v, ReleaseTask &x) { v("reservation", x.reservation); }

template <typename V> void visitFields(V &v, ChooseTask &x) {
  v("hole", x.hole);
  v("threshold", x.threshold);
  v("thenTasks", x.thenTasks);
  v("elseTasks", x.elseTasks);
}

template <typename V> void visitFields(V &v, RepeatTask &x) {
  v("tasks", x.tasks);
  v("roomBytes", x.roomBytes);
}

template <typename V> void visitFields(V &v, ResultTask &x) { v("inputStream", x.inputStream); }

template <typename V> void visitFields(V &v, TensorResultTask &x) { v("buffer", x.buffer); }

/// The kind is written beside the fields that all have and those of the kind.
template <typename V> void visitFields(V &v, Task &x) {
  v.kindOf("kind", x);
  v("name", x.name);
  v("device", x.device);
  v("place", x.place);
  v("after", x.after);
  v("steps", x.steps);
  std::visit([&](auto &work) { visitFields(v, work); }, x.work);
}

template <typename V> void visitFields(V &v, MeshAxis &x) {
  v("name", x.name);
  v("size", x.size);
}

template <typename V> void visitFields(V &v, Plan &x) {
  v("schemaMajor", x.schemaMajor);
  v("schemaMinor", x.schemaMinor);
  v("abiVersion", x.abiVersion);
  v("importsHash", x.importsHash);
  v("topologyHash", x.topologyHash);
  v("isa", x.isa);
  v("program", x.program);
  v("mesh", x.mesh);
  v("places", x.places);
  v("slots", x.slots);
  v("states", x.states);
  v("streams", x.streams);
  v("kernels", x.kernels);
  v("buffers", x.buffers);
  v("holes", x.holes);
  v("tasks", x.tasks);
  v("result", x.result);
  v("ordered", x.ordered);
  v("resident", x.resident);
  v("residentKeys", x.residentKeys);
  v("movableKeys", x.movableKeys);
  v("explanation", x.explanation);
}

} // namespace headrace::plan
