// Reads schema measurements/1.
#include "model/cost/measurement.h"
#include "model/topology/json_reader.h"

namespace headrace::cost {

using topology::CollectiveKind;
using topology::JsonReader;
using topology::Presence;

namespace {

constexpr const char *kSchema = "measurements/1";

CollectiveKind readKind(JsonReader &reader) {
  std::string op = reader.text("op", Presence::kRequired);
  for (CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
    if (op == topology::collectiveName(kind)) {
      return kind;
    }
  }
  reader.fail("unknown collective: ", op);
  return CollectiveKind::kAllReduce;
}

void readCurve(JsonReader &reader, std::vector<Measurement> &points) {
  Measurement point;
  point.source = reader.text("source", Presence::kRequired);
  point.system = reader.text("system", Presence::kRequired);
  point.kind = readKind(reader);
  point.shape.members = reader.integer("ranks", Presence::kRequired);
  point.shape.nodes = reader.integer("nodes", Presence::kOptional, 1);
  point.groups = reader.integer("groups", Presence::kOptional, 1);
  if (!reader.ok()) {
    return;
  }
  if (point.shape.members < 2 || point.shape.nodes < 1 || point.groups < 1 ||
      point.shape.members % point.shape.nodes != 0) {
    reader.fail("ranks must be at least 2 and a multiple of nodes, got ", point.shape.members);
    return;
  }
  if (point.shape.nodes > 1) {
    point.shape.remotePeers = point.shape.members - point.shape.members / point.shape.nodes;
  }
  reader.elements("points", Presence::kRequired, [&](JsonReader &pair) {
    const nlohmann::json &value = pair.value();
    if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number()) {
      pair.fail("expected [bytes, seconds]");
      return;
    }
    point.bytes = value[0].get<double>();
    point.seconds = value[1].get<double>();
    if (!(point.bytes > 0) || !(point.seconds > 0)) {
      pair.fail("bytes and seconds must be positive");
      return;
    }
    points.push_back(point);
  });
  reader.finish();
}

} // namespace

Expected<Measurements> parseMeasurements(std::string_view json) {
  HR_ASSIGN_OR_RETURN(nlohmann::json document, topology::parseJson(json));
  topology::ReadFailure failure;
  JsonReader root(document, "$", failure);
  std::string schema = root.text("schema", Presence::kRequired);
  if (root.ok() && schema != kSchema) {
    root.fail("unsupported schema: expected ", kSchema, ", got ", schema);
  }
  Measurements measurements;
  root.members("systems", Presence::kOptional, [&](const std::string &name, JsonReader &value) {
    double link = value.number("link", Presence::kRequired);
    if (value.ok() && link <= 0) {
      value.fail("link must be positive, got ", link);
    }
    value.finish();
    measurements.linkBandwidth[name] = link;
  });
  root.members("sources", Presence::kOptional, [&](const std::string &name, JsonReader &value) {
    topology::Source &source = measurements.sources[name];
    source.reference = value.text("ref", Presence::kRequired);
    source.date = value.text("date", Presence::kOptional);
    source.license = value.text("license", Presence::kOptional);
    value.finish();
  });
  root.elements("curves", Presence::kRequired,
                [&](JsonReader &value) { readCurve(value, measurements.points); });
  root.ignore({"units"});
  root.finish();
  HR_RETURN_IF_ERROR(failure.status);
  return measurements;
}

} // namespace headrace::cost
