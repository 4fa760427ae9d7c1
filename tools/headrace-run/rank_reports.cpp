// The profile, a zero, the trace.
#include "tools/headrace-run/rank_reports.h"

#include "runtime/telemetry/telemetry.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace headrace::run {

Expected<RankReports> RankReports::create(int ranks) {
  RankReports reports;
  for (int rank = 0; rank < ranks; ++rank) {
    reports.files_.push_back(memfd_create("headrace-rank", MFD_CLOEXEC));
    if (reports.files_.back() < 0) {
      // no test: it takes a process without file descriptors
      return makeError(ErrorKind::kIo,
                       "no file in memory for what a rank measures: ", std::strerror(errno));
    }
  }
  return reports;
}

RankReports::~RankReports() {
  for (int file : files_) {
    close(file);
  }
}

Status RankReports::put(int rank, const exec::RunResult &result) const {
  std::string text = result.profile.toJson() + '\0' + result.traceJson;
  for (size_t written = 0; written < text.size();) {
    ssize_t bytes = write(files_[rank], text.data() + written, text.size() - written);
    if (bytes < 0) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kIo, "cannot tell what was measured: ", std::strerror(errno));
    }
    written += static_cast<size_t>(bytes);
  }
  return {};
}

Status RankReports::addTo(exec::RunResult &result) const {
  std::vector<std::string> traces{result.traceJson};
  for (size_t rank = 1; rank < files_.size(); ++rank) {
    std::string text(static_cast<size_t>(lseek(files_[rank], 0, SEEK_END)), '\0');
    if (pread(files_[rank], text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      // no test: a file in memory can be read
      return makeError(ErrorKind::kIo, "cannot read what was measured: ", std::strerror(errno));
    }
    size_t end = text.find('\0');
    HR_ASSIGN_OR_RETURN(plan::Profile profile, plan::Profile::fromJson(text.substr(0, end)));
    result.profile.add(profile);
    traces.push_back(text.substr(end + 1));
  }
  if (!result.traceJson.empty()) {
    result.traceJson = mergedTraces(traces);
  }
  return {};
}

} // namespace headrace::run
