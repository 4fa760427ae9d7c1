// The profile as JSON.
#include "runtime/exec/profile.h"

#include <nlohmann/json.hpp>

namespace headrace::exec {

std::string Profile::toJson() const {
  nlohmann::ordered_json json;
  json["wall_seconds"] = wallSeconds;
  json["ranks"] = ranks;
  json["threads"] = threads;
  json["peak_bytes"] = peakBytes;
  json["tasks"] = nlohmann::ordered_json::array();
  for (const TaskProfile &task : tasks) {
    json["tasks"].push_back({{"rank", task.rank},
                             {"task", task.task},
                             {"name", task.name},
                             {"kind", task.kind},
                             {"phase", task.phase},
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
    if (!task.way.empty()) {
      json["tasks"].back().update(
          {{"chosen_by", task.chosenBy}, {"at_most", task.atMost}, {"way", task.way}});
    }
  }
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace headrace::exec
