// Both sides of the door.
#include "runtime/session/door.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/bootstrap/frames.h"

namespace headrace::session {

namespace {

constexpr char kPurpose[] = "door";
constexpr int64_t kSecond = 1'000'000'000;
/// For proving the secret; rank 0's thread at the door does nothing else.
constexpr int64_t kProofNanosecondsMax = 3 * kSecond;
constexpr int kAskMilliseconds = 50;

int64_t now() { return RealClock::instance().nowNanoseconds(); }
bool inFolder(const Launch &launch) { return launch.meeting.find('/') != std::string::npos; }
std::string fileOf(const Launch &launch) { return launch.meeting + "/door"; }

/// One that an earlier job has left gives way.
Status writeFile(const Launch &launch, const std::string &text) {
  std::error_code ignored;
  std::filesystem::create_directories(launch.meeting, ignored);
  std::string path = fileOf(launch);
  std::string unfinished = path + ".part" + std::to_string(getpid());
  int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) {
    close(file);
  }
  if (written && rename(unfinished.c_str(), path.c_str()) == 0) {
    return {};
  }
  Status failed = makeError(ErrorKind::kIo, "cannot write a file of the job (",
                            std::strerror(errno), "): ", path);
  unlink(unfinished.c_str());
  return failed;
}

struct Entrance {
  HostPort where;
  Credentials credentials;
};

/// Where the door is, and what opens it; nothing if there is none.
Expected<std::optional<Entrance>> findDoor(const Launch &launch) {
  if (!inFolder(launch)) {
    HR_ASSIGN_OR_RETURN(HostPort where, HostPort::parse(launch.meeting));
    return std::optional<Entrance>({where, launch.credentials});
  }
  std::string path = fileOf(launch);
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) {
    return std::optional<Entrance>();
  }
  if (found.st_uid != geteuid() || (found.st_mode & 077) != 0) {
    return makeError(ErrorKind::kUser, "others may read or have written the job's secret: ", path);
  }
  std::ifstream file(path, std::ios::binary);
  std::string where;
  Credentials credentials;
  std::getline(file, where);
  credentials.secret.assign(std::istreambuf_iterator<char>(file), {});
  HR_ASSIGN_OR_RETURN(HostPort address, HostPort::parse(where));
  return std::optional<Entrance>({address, credentials});
}

/// A connection with rank 0's door; none if there is nobody, or somebody else.
Socket prove(const HostPort &where, const Credentials &credentials, const Launch &launch) {
  Expected<Socket> started = startConnecting(where);
  if (!started.ok()) {
    return {};
  }
  auto handshake = Handshake::connecting(std::move(*started), credentials,
                                         {kPurpose, launch.rank, launch.size}, 0);
  int64_t end = now() + kProofNanosecondsMax;
  while (now() < end) {
    switch (handshake.advance()) {
    case Handshake::Phase::kDone:
      return handshake.release();
    case Handshake::Phase::kFailed:
      return {};
    default:
      break;
    }
    pollfd ready{handshake.socket().descriptor(), handshake.events(), 0};
    poll(&ready, 1, kAskMilliseconds);
  }
  return {};
}

} // namespace

Expected<std::unique_ptr<Door>> Door::open(const Launch &launch, const Credentials &credentials,
                                           const std::string &address) {
  HostPort where{address, 0};
  if (!inFolder(launch)) {
    HR_ASSIGN_OR_RETURN(where, HostPort::parse(launch.meeting));
  }
  HR_ASSIGN_OR_RETURN(Socket listener, listenAt(where));
  std::unique_ptr<Door> door(new Door(credentials));
  door->reception_ = std::make_unique<Reception>(std::move(listener), door->credentials_,
                                                 Introduction{kPurpose, 0, launch.size});
  door->wake_ = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (inFolder(launch)) {
    HR_RETURN_IF_ERROR(
        writeFile(launch, door->reception_->address().toString() + "\n" + credentials.secret));
    door->withFile_ = launch;
  }
  door->thread_ = std::thread([raw = door.get()] { raw->serve(); });
  return door;
}

Door::~Door() {
  if (withFile_) {
    removeFile(*withFile_);
  }
  if (thread_.joinable()) {
    uint64_t one = 1;
    (void)!write(wake_.descriptor(), &one, sizeof(one));
    thread_.join();
  }
}

void Door::removeFile(const Launch &launch) {
  if (inFolder(launch)) {
    unlink(fileOf(launch).c_str());
    rmdir(launch.meeting.c_str()); // not if it has others' files
  }
}

std::vector<int> Door::waiting() const {
  std::lock_guard lock(mutex_);
  std::vector<int> ranks;
  for (const auto &[rank, socket] : waiting_) {
    ranks.push_back(rank);
  }
  return ranks;
}

void Door::invite(int rank, const Membership &membership) {
  std::lock_guard lock(mutex_);
  if (auto found = waiting_.find(rank); found != waiting_.end()) {
    std::string frame = packFrame(membership.pack());
    // It fits what the kernel keeps; who has not come then is missed at the meeting.
    (void)!send(found->second.descriptor(), frame.data(), frame.size(),
                MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void Door::forget(int rank) {
  std::lock_guard lock(mutex_);
  waiting_.erase(rank);
}

void Door::forgetThoseWhoLeft() {
  std::erase_if(waiting_, [](const auto &each) {
    char said = 0;
    ssize_t got = recv(each.second.descriptor(), &said, 1, MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  });
}

void Door::serve() {
  int64_t nextSign = 0;
  while (true) {
    std::vector<pollfd> polls{{wake_.descriptor(), POLLIN, 0}};
    reception_->addTo(polls);
    bool anybody = false;
    {
      std::lock_guard lock(mutex_);
      for (const auto &[rank, socket] : waiting_) {
        polls.push_back({socket.descriptor(), POLLIN, 0});
        anybody = true;
      }
    }
    poll(polls.data(), polls.size(),
         anybody || reception_->isWaiting() ? Reception::kTickMilliseconds : -1);
    if ((polls[0].revents & POLLIN) != 0) {
      return;
    }
    std::vector<Reception::Guest> guests = reception_->admit();
    std::lock_guard lock(mutex_);
    for (Reception::Guest &guest : guests) {
      waiting_[guest.rank] = std::move(guest.socket);
      log(LogLevel::kInfo, "rank ", guest.rank, " of the launch is there again");
    }
    forgetThoseWhoLeft();
    if (now() >= nextSign) {
      nextSign = now() + kSecond;
      std::string sign = packFrame({});
      for (const auto &[rank, socket] : waiting_) {
        (void)!send(socket.descriptor(), sign.data(), sign.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      }
    }
  }
}

Expected<std::optional<Admission>> knock(const Launch &launch, const KnockOptions &options) {
  HR_ASSIGN_OR_RETURN(auto door, findDoor(launch));
  Socket socket = door ? prove(door->where, door->credentials, launch) : Socket();
  if (!socket.isOpen()) {
    return std::optional<Admission>();
  }
  std::string address = launch.address.empty() ? ownEnd(socket).host : launch.address;
  std::string incoming;
  int64_t lastSign = now();
  while (true) {
    pollfd ready{socket.descriptor(), POLLIN, 0};
    poll(&ready, 1, kAskMilliseconds);
    char part[4096];
    ssize_t got = recv(socket.descriptor(), part, sizeof(part), MSG_DONTWAIT);
    if (got > 0) {
      incoming.append(part, static_cast<size_t>(got));
      lastSign = now();
    }
    while (std::optional<std::string> frame = takeFrame(incoming)) {
      if (!frame->empty()) {
        HR_ASSIGN_OR_RETURN(Membership membership, Membership::unpack(*frame));
        return std::optional<Admission>({membership, door->credentials, address});
      }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      return makeError(ErrorKind::kIo,
                       "the job ended before this rank came in, at: ", door->where.toString());
    }
    if (static_cast<double>(now() - lastSign) > options.silenceSecondsMax * kSecond) {
      return makeError(ErrorKind::kIo, "rank 0 does not answer, at: ", door->where.toString());
    }
    if (options.interrupted && options.interrupted()) {
      return stoppedByUser();
    }
  }
}

} // namespace headrace::session
