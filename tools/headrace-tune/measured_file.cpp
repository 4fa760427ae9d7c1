// Seconds and rows of tasks to JSON and back; what follows from the plan itself is not written.
#include "tools/headrace-tune/measured_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace headrace::tune {
namespace {

using Json = nlohmann::ordered_json;

cost::TaskRows rowsOf(const Json &json) {
  cost::TaskRows rows;
  rows.source = json.at("source");
  rows.stages = json.at("stages").get<std::vector<double>>();
  rows.states = json.at("states").get<std::vector<double>>();
  rows.bytes = json.at("bytes");
  rows.pieces = json.at("pieces");
  rows.lanes = json.at("lanes");
  rows.ranks = json.at("ranks");
  rows.copies = json.at("copies");
  rows.order =
      json.at("clustered").get<bool>() ? cost::RowOrder::kClustered : cost::RowOrder::kNone;
  rows.orderExtent = json.at("order_extent");
  return rows;
}

Json planJson(const MeasuredPlan &plan) {
  Json json = {{"plan", plan.name}, {"seconds", plan.seconds}, {"all_seconds", plan.allSeconds}};
  for (const plan::State &state : plan.counted.states) {
    json["order_words"].push_back(state.orderWords);
  }
  for (const auto &[id, task] : plan.tasks) {
    json["tasks"].push_back({{"task", id},
                             {"busy_seconds", task.busySeconds},
                             {"load_seconds", task.loadSeconds},
                             {"finish_seconds", task.finishSeconds},
                             {"passed_seconds", task.passedSeconds},
                             {"sum", rowsJson(task.sum)},
                             {"most", rowsJson(task.most)}});
  }
  return json;
}

/// Fills in what `json` says of the plan; false if it is about another one.
bool take(MeasuredPlan &plan, const Json &json) {
  const Json words = json.value("order_words", Json::array());
  const Json tasks = json.value("tasks", Json::array());
  if (json.at("plan") != plan.name || words.size() != plan.counted.states.size()) {
    return false;
  }
  plan.seconds = json.at("seconds");
  plan.allSeconds = json.at("all_seconds").get<std::vector<double>>();
  for (size_t state = 0; state < words.size(); ++state) {
    plan.counted.states[state].orderWords = words[state];
  }
  for (const Json &entry : tasks) {
    auto id = entry.at("task").get<int32_t>();
    if (id < 0 || static_cast<size_t>(id) >= plan.counted.tasks.size()) {
      return false;
    }
    plan.tasks[id] = {entry.at("busy_seconds"),   entry.at("load_seconds"),
                      entry.at("finish_seconds"), entry.at("passed_seconds"),
                      rowsOf(entry.at("sum")),    rowsOf(entry.at("most"))};
  }
  return true;
}

} // namespace

Json rowsJson(const cost::TaskRows &rows) {
  return {{"source", rows.source},
          {"stages", rows.stages},
          {"states", rows.states},
          {"bytes", rows.bytes},
          {"pieces", rows.pieces},
          {"lanes", rows.lanes},
          {"ranks", rows.ranks},
          {"copies", rows.copies},
          {"clustered", rows.order == cost::RowOrder::kClustered},
          {"order_extent", rows.orderExtent}};
}

Status writeMeasured(const std::string &path, const std::vector<MeasuredPlan> &plans) {
  Json records = Json::array();
  for (const MeasuredPlan &plan : plans) {
    records.push_back(planJson(plan));
  }
  std::ofstream file(path, std::ios::binary);
  file << records.dump(1) << '\n';
  return file.flush() ? Status() : makeError(ErrorKind::kIo, "cannot write: ", path);
}

Expected<std::vector<MeasuredPlan>> readMeasured(const std::string &path,
                                                 const std::vector<std::string> &directories) {
  std::ifstream file(path, std::ios::binary);
  std::vector<MeasuredPlan> plans;
  try {
    const Json records = Json::parse(file);
    for (size_t i = 0; i < directories.size(); ++i) {
      HR_ASSIGN_OR_RETURN(MeasuredPlan plan, unmeasuredPlan(directories[i]));
      if (records.size() != directories.size() || !take(plan, records.at(i))) {
        return makeError(ErrorKind::kUser, path, ": measurements of other plans than: ", plan.name);
      }
      plans.push_back(std::move(plan));
    }
  } catch (const nlohmann::json::exception &error) {
    return makeError(ErrorKind::kUser, path, ": no measurements of plans: ", error.what());
  }
  return plans;
}

} // namespace headrace::tune
