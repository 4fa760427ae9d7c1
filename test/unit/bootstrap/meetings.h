// Ranks as threads that meet by a bootstrap of each kind.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/bootstrap/launch.h"

namespace headrace::test {

enum class Kind : uint8_t { kStore, kFolder };

struct Meeting {
  Kind kind;
  int size;
};
std::ostream &operator<<(std::ostream &out, const Meeting &meeting);
/// "Store_3": for names of test instances.
std::string meetingName(const Meeting &meeting);
/// Both kinds with 1 to 4 ranks.
std::vector<Meeting> allMeetings();

constexpr char kSecret[] = "what only the ranks know";

/// A free port of this machine.
int freePort();

/// A place to meet, which is gone with it; in a folder, it says whether it was left empty.
class Place {
public:
  explicit Place(const Meeting &meeting);
  ~Place();
  Launch launch(int rank) const;
  std::vector<std::string> filesLeft() const;

private:
  Meeting meeting_;
  std::string meetingPoint_;
};

/// What a rank does; it is not called if the rank could not join.
using Body = std::function<Status(Bootstrap &)>;
/// The outcome of each rank. `launch` may be changed for some ranks.
std::vector<Status> meet(const Meeting &meeting, const Body &body, double patienceSeconds = 20,
                         const std::function<void(Launch &)> &change = {});

} // namespace headrace::test
