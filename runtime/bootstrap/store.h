// Store: the exchange of records among the ranks that are connected to rank 0 over TCP.
//
//   rank -> store:  | bytes 4 | record |
//   store -> rank:  | bytes 4 | 0 | for each rank: bytes 4, record |
//                   | bytes 4 | kind of error | message |
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/reception.h"

namespace headrace {

/// The purpose of connections to a store.
constexpr char kStorePurpose[] = "store";

/// Purpose: rank 0's server; its thread sleeps while nobody says anything.
/// Ownership: owns its connections. Thread-safety: none but its own thread. Ordering: an exchange
/// ends when each rank has given one more record. A rank whose connection closes has left: whoever
/// waits for it learns so at once. Lifetime: its end waits for the others to leave, for as long as
/// kLeaveNanosecondsMax, since answers may be on their way to them.
class Store {
public:
  static constexpr int64_t kLeaveNanosecondsMax = 5'000'000'000;

  static Expected<std::unique_ptr<Store>> start(const HostPort &where, Credentials credentials,
                                                int size, double patienceSeconds);
  ~Store();

  HostPort address() const { return address_; }

private:
  struct Client {
    Socket socket;
    std::string host;
    std::string incoming;
    std::string outgoing;
    std::optional<std::string> record; ///< for the exchange under way
    bool left = false;
  };

  Store(Credentials credentials, int size, double patienceSeconds, Socket wake);
  void serve();
  int pollMilliseconds() const;
  void welcome(Reception::Guest guest);
  void read(int rank, Client &client);
  void flush(int rank, Client &client);
  void leave(int rank, Client &client);
  void answerIfComplete();
  void failIfLate();
  void fail(const Status &why);
  bool othersHaveLeft() const;
  std::string missing() const;

  const Credentials credentials_;
  const int size_;
  const int64_t patience_;
  std::unique_ptr<Reception> reception_;
  HostPort address_;
  std::map<int, Client> clients_; ///< by rank, those that have joined
  int64_t waitingSince_ = 0;      ///< of the exchange under way; 0: nobody waits
  Status failure_;
  Socket wake_; ///< rung at the end
  std::thread thread_;
};

} // namespace headrace
