// The profile as JSON, both ways.
#include "model/plan/profile.h"

#include "model/plan/names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headrace::plan {

std::string Profile::toJson() const {
  nlohmann::ordered_json json;
  json["wall_seconds"] = wallSeconds;
  json["ranks"] = ranks;
  json["threads"] = threads;
  json["peak_bytes"] = peakBytes;
  json["spilled_bytes"] = spilledBytes;
  if (!keyShares.empty()) {
    json["key_shares"] = keyShares;
  }
  json["tasks"] = nlohmann::ordered_json::array();
  for (const TaskProfile &task : tasks) {
    json["tasks"].push_back({{"rank", task.rank},
                             {"task", task.task},
                             {"name", task.name},
                             {"kind", task.kind},
                             {"start_seconds", task.startSeconds},
                             {"end_seconds", task.endSeconds},
                             {"busy_seconds", task.busySeconds},
                             {"load_seconds", task.loadSeconds},
                             {"rows_in", task.rowsIn},
                             {"rows_out", task.rowsOut},
                             {"bytes", task.bytes},
                             {"morsels", task.morsels},
                             {"finish_seconds", task.finishSeconds},
                             {"finish_busy_seconds", task.finishBusySeconds},
                             {"state_rows", task.stateRows},
                             {"stage_rows", task.stageRows}});
    if (task.kind == nameOf(TaskKind::kExchange)) {
      json["tasks"].back().update({{"received_bytes", task.receivedBytes},
                                   {"heavy_keys", task.heavyKeys},
                                   {"heavy_rows", task.heavyRows}});
    }
    if (task.orderWords > 0) {
      json["tasks"].back()["order_words"] = task.orderWords;
    }
    if (task.sharingMessages > 0) {
      json["tasks"].back().update({{"morsels_taken", task.morselsTaken},
                                   {"morsels_given", task.morselsGiven},
                                   {"sharing_messages", task.sharingMessages}});
    }
    if (!task.way.empty()) {
      json["tasks"].back().update(
          {{"chosen_by", task.chosenBy}, {"at_most", task.atMost}, {"way", task.way}});
    }
  }
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Expected<Profile> Profile::fromJson(const std::string &text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    Profile profile;
    profile.wallSeconds = json.at("wall_seconds");
    profile.ranks = json.at("ranks");
    profile.threads = json.at("threads");
    json.at("peak_bytes").get_to(profile.peakBytes);
    json.at("spilled_bytes").get_to(profile.spilledBytes);
    profile.keyShares = json.value("key_shares", std::vector<double>());
    for (const nlohmann::json &entry : json.at("tasks")) {
      TaskProfile task;
      task.rank = entry.at("rank");
      task.task = entry.at("task");
      task.name = entry.at("name");
      task.kind = entry.at("kind");
      task.startSeconds = entry.at("start_seconds");
      task.endSeconds = entry.at("end_seconds");
      task.busySeconds = entry.at("busy_seconds");
      task.loadSeconds = entry.at("load_seconds");
      task.rowsIn = entry.at("rows_in");
      task.rowsOut = entry.at("rows_out");
      task.bytes = entry.at("bytes");
      task.morsels = entry.at("morsels");
      task.finishSeconds = entry.at("finish_seconds");
      task.finishBusySeconds = entry.at("finish_busy_seconds");
      task.stateRows = entry.at("state_rows");
      entry.at("stage_rows").get_to(task.stageRows);
      task.orderWords = entry.value("order_words", int64_t{0});
      task.receivedBytes = entry.value("received_bytes", int64_t{0});
      task.heavyKeys = entry.value("heavy_keys", int64_t{0});
      task.heavyRows = entry.value("heavy_rows", int64_t{0});
      task.morselsTaken = entry.value("morsels_taken", int64_t{0});
      task.morselsGiven = entry.value("morsels_given", int64_t{0});
      task.sharingMessages = entry.value("sharing_messages", int64_t{0});
      if (entry.contains("way")) {
        task.way = entry.at("way");
        task.chosenBy = entry.at("chosen_by");
        task.atMost = entry.at("at_most");
      }
      profile.tasks.push_back(std::move(task));
    }
    return profile;
  } catch (const nlohmann::json::exception &error) {
    return makeError(ErrorKind::kCorrupt, "not the profile of a run: ", error.what());
  }
}

void Profile::add(const Profile &other) {
  wallSeconds = std::max(wallSeconds, other.wallSeconds);
  threads += other.threads;
  peakBytes.insert(peakBytes.end(), other.peakBytes.begin(), other.peakBytes.end());
  spilledBytes.insert(spilledBytes.end(), other.spilledBytes.begin(), other.spilledBytes.end());
  tasks.insert(tasks.end(), other.tasks.begin(), other.tasks.end());
}

} // namespace headrace::plan
