// One thread a rank.
#include "test/unit/bootstrap/meetings.h"

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include "runtime/bootstrap/tcp.h"

namespace headrace::test {

std::ostream &operator<<(std::ostream &out, const Meeting &meeting) {
  return out << meetingName(meeting);
}

std::string meetingName(const Meeting &meeting) {
  return (meeting.kind == Kind::kStore ? "Store_" : "Folder_") + std::to_string(meeting.size);
}

std::vector<Meeting> allMeetings() {
  std::vector<Meeting> meetings;
  for (Kind kind : {Kind::kStore, Kind::kFolder}) {
    for (int size = 1; size <= 4; ++size) {
      meetings.push_back({kind, size});
    }
  }
  return meetings;
}

int freePort() {
  // The system gives the numbers from 32768 on to whoever asks for any, a test beside this one,
  // too.
  constexpr int kFrom = 10'000, kCount = 20'000;
  static int next = static_cast<int>(getpid() * 64L % kCount);
  for (;;) {
    int port = kFrom + next;
    next = (next + 1) % kCount;
    if (listenAt({"127.0.0.1", port}).ok()) {
      return port;
    }
  }
}

Place::Place(const Meeting &meeting) : meeting_(meeting) {
  if (meeting.kind == Kind::kStore) {
    meetingPoint_ = "127.0.0.1:" + std::to_string(freePort());
  } else {
    std::string name = std::filesystem::temp_directory_path() / "headrace-meeting-XXXXXX";
    meetingPoint_ = mkdtemp(name.data());
  }
}

Place::~Place() {
  if (meeting_.kind == Kind::kFolder) {
    std::filesystem::remove_all(meetingPoint_);
  }
}

Launch Place::launch(int rank) const {
  return {rank, meeting_.size, meetingPoint_, {kSecret, "first start"}};
}

std::vector<std::string> Place::filesLeft() const {
  std::vector<std::string> files;
  if (meeting_.kind == Kind::kFolder) {
    for (const auto &entry : std::filesystem::directory_iterator(meetingPoint_)) {
      files.push_back(entry.path().filename());
    }
  }
  return files;
}

std::vector<Status> meet(const Meeting &meeting, const Body &body, double patienceSeconds,
                         const std::function<void(Launch &)> &change) {
  Place place(meeting);
  std::vector<Status> outcomes(static_cast<size_t>(meeting.size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < meeting.size; ++rank) {
    threads.emplace_back([&, rank] {
      Launch launch = place.launch(rank);
      if (change) {
        change(launch);
      }
      launch.address = meeting.kind == Kind::kFolder ? "127.0.0.1" : "";
      Expected<std::unique_ptr<Bootstrap>> bootstrap =
          join(launch, {.patienceSeconds = patienceSeconds});
      outcomes[static_cast<size_t>(rank)] = bootstrap.ok() ? body(**bootstrap) : bootstrap.status();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  bool allWell = true;
  for (const Status &outcome : outcomes) {
    allWell &= outcome.ok();
  }
  if (allWell && !place.filesLeft().empty()) {
    outcomes[0] = makeError(ErrorKind::kInternal, "a file was left: ", place.filesLeft().front());
  }
  return outcomes;
}

} // namespace headrace::test
