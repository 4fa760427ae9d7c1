// The store's thread: one loop over poll().
#include "runtime/bootstrap/store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/bootstrap/frames.h"

namespace headrace {

namespace {
int64_t now() { return RealClock::instance().nowNanoseconds(); }
} // namespace

Expected<std::unique_ptr<Store>> Store::start(const HostPort &where, Credentials credentials,
                                              int size, double patienceSeconds) {
  HR_ASSIGN_OR_RETURN(Socket listener, listenAt(where));
  Socket wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::unique_ptr<Store> store(
      new Store(std::move(credentials), size, patienceSeconds, std::move(wake)));
  store->reception_ = std::make_unique<Reception>(std::move(listener), store->credentials_,
                                                  Introduction{kStorePurpose, 0, size});
  store->address_ = store->reception_->address();
  store->thread_ = std::thread([raw = store.get()] { raw->serve(); });
  return store;
}

Store::Store(Credentials credentials, int size, double patienceSeconds, Socket wake)
    : credentials_(std::move(credentials)), size_(size),
      patience_(static_cast<int64_t>(patienceSeconds * 1e9)), wake_(std::move(wake)) {}

Store::~Store() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake_.descriptor(), &one, sizeof(one));
  thread_.join();
}

void Store::serve() {
  int64_t end = 0; // when to stop waiting for others to leave; 0: not asked to end
  while (true) {
    std::vector<pollfd> polls = {{end == 0 ? wake_.descriptor() : -1, POLLIN, 0}};
    reception_->addTo(polls);
    for (const auto &[rank, client] : clients_) {
      if (!client.left) {
        short events = client.outgoing.empty() ? POLLIN : POLLIN | POLLOUT;
        polls.push_back({client.socket.descriptor(), events, 0});
      }
    }
    poll(polls.data(), polls.size(), end == 0 ? pollMilliseconds() : Reception::kTickMilliseconds);
    if (end == 0 && (polls[0].revents & POLLIN) != 0) {
      end = now() + kLeaveNanosecondsMax;
    }
    for (Reception::Guest &guest : reception_->admit()) {
      welcome(std::move(guest));
    }
    for (auto &[rank, client] : clients_) {
      if (!client.left) {
        read(rank, client);
        flush(rank, client);
      }
    }
    answerIfComplete();
    failIfLate();
    if (end != 0 && (othersHaveLeft() || now() > end)) {
      return;
    }
  }
}

int Store::pollMilliseconds() const {
  if (reception_->isWaiting()) {
    return Reception::kTickMilliseconds;
  }
  if (waitingSince_ == 0) {
    return -1;
  }
  int64_t left = waitingSince_ + patience_ - now();
  return static_cast<int>(std::clamp<int64_t>(left / 1'000'000 + 1, 0, 60'000));
}

void Store::welcome(Reception::Guest guest) {
  auto [found, isNew] = clients_.try_emplace(guest.rank);
  Client &client = found->second;
  if (isNew) {
    client.host = otherEnd(guest.socket).host;
    client.socket = std::move(guest.socket);
    return;
  }
  Client second;
  second.socket = std::move(guest.socket);
  second.outgoing = packAnswer(makeError(
      ErrorKind::kUser, "two processes say that they are the same rank, here and on host ",
      client.host, ", rank: ", guest.rank));
  flush(guest.rank, second);
}

void Store::read(int rank, Client &client) {
  while (!client.left) {
    char part[4096];
    ssize_t got = recv(client.socket.descriptor(), part, sizeof(part), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    }
    if (got <= 0) {
      leave(rank, client);
      return;
    }
    client.incoming.append(part, static_cast<size_t>(got));
    std::optional<std::string> record = takeFrame(client.incoming);
    if (client.incoming.size() > Bootstrap::kRecordBytesMax + sizeof(uint32_t) ||
        (record && client.record)) {
      // no test: it takes a rank that breaks the protocol and knows the secret
      leave(rank, client);
      return;
    }
    if (record && !failure_.ok()) {
      client.outgoing += packAnswer(failure_);
    } else if (record) {
      client.record = std::move(record);
      waitingSince_ = waitingSince_ == 0 ? now() : waitingSince_;
    }
  }
}

void Store::flush(int rank, Client &client) {
  while (!client.left && !client.outgoing.empty()) {
    ssize_t sent = send(client.socket.descriptor(), client.outgoing.data(), client.outgoing.size(),
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        leave(rank, client);
      }
      return;
    }
    client.outgoing.erase(0, static_cast<size_t>(sent));
  }
}

void Store::leave(int rank, Client &client) {
  client.left = true;
  client.socket.close();
  client.outgoing.clear();
}

void Store::answerIfComplete() {
  if (waitingSince_ == 0) {
    return;
  }
  std::vector<std::string> records;
  for (auto &[rank, client] : clients_) {
    if (client.left && !client.record) {
      fail(makeError(ErrorKind::kIo, "the others waited for a rank that has left, rank ", rank,
                     " on host: ", client.host));
      return;
    }
    if (client.record) {
      records.push_back(*client.record);
    }
  }
  if (records.size() < static_cast<size_t>(size_)) {
    return;
  }
  std::string answer = packAnswer(records);
  waitingSince_ = 0;
  for (auto &[rank, client] : clients_) {
    client.record.reset();
    client.outgoing += answer;
    flush(rank, client);
  }
}

void Store::failIfLate() {
  if (waitingSince_ != 0 && now() - waitingSince_ > patience_) {
    fail(makeError(ErrorKind::kIo, "the others waited for ", static_cast<double>(patience_) / 1e9,
                   " s (--join-timeout) for:", missing()));
  }
}

void Store::fail(const Status &why) {
  failure_ = why;
  waitingSince_ = 0;
  for (auto &[rank, client] : clients_) {
    if (client.record) {
      client.record.reset();
      client.outgoing += packAnswer(why);
      flush(rank, client);
    }
  }
}

bool Store::othersHaveLeft() const {
  return std::all_of(clients_.begin(), clients_.end(),
                     [](const auto &each) { return each.second.left; });
}

std::string Store::missing() const {
  constexpr int kNamedMax = 8;
  std::string text;
  int count = 0;
  for (int rank = 0; rank < size_; ++rank) {
    auto found = clients_.find(rank);
    if (found != clients_.end() && found->second.record) {
      continue;
    }
    if (++count <= kNamedMax) {
      text += " rank " + std::to_string(rank) +
              (found == clients_.end() ? " (never came)" : " on host " + found->second.host);
    }
  }
  return count > kNamedMax ? text + " and " + std::to_string(count - kNamedMax) + " more" : text;
}

} // namespace headrace
