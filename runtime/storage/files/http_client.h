// Requests of HTTP, many at once and each again while its failure can pass, by one thread of the
// process.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace::storage {

struct HttpRequest {
  std::string method = "GET";
  std::string url;                  ///< as it is sent
  std::vector<std::string> headers; ///< "Name: value"
  std::string body;
  std::span<uint8_t> out; ///< what an answer of status 206 goes to; must fill it
  std::string shown;      ///< of the address, for messages
  int attempts = 5;
  long seconds = 0; ///< until a server that sends nothing is given up; 0: as the settings say
  /// Before each attempt, which it may add headers to: a signature is of a moment.
  std::function<void(std::vector<std::string> &)> sign;
};

struct HttpAnswer {
  long status = 0;
  std::map<std::string, std::string> headers; ///< by names in small letters
  std::string body;                           ///< of all answers that did not go to `out`

  /// Empty: it is not there.
  const std::string &header(const std::string &name) const;
};

/// Purpose: one request under way. Ownership: `out` of the request must live as long as this.
/// Thread-safety: wait() by one thread. The destructor waits until the thread of requests lets go
/// of it, not for the answer.
class HttpCall {
public:
  /// Starts it. kUnsupported: there is no libcurl.
  static Expected<std::unique_ptr<HttpCall>> start(HttpRequest request);
  ~HttpCall();
  HttpCall(const HttpCall &) = delete;
  HttpCall &operator=(const HttpCall &) = delete;

  /// The answer, whatever its status. kIo: none after several attempts, or one that may pass
  /// (429, 500, 503, …) each time.
  Expected<HttpAnswer> wait();

  struct State;

private:
  explicit HttpCall(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State> state_;
};

/// start() and wait().
Expected<HttpAnswer> askHttp(HttpRequest request);

/// "Thu, 26 Nov 2026 12:00:00 GMT", or "2026-11-26T12:00:00Z" as documents have it; whole seconds
/// since 1970, 0: none.
int64_t secondsOfMoment(const std::string &text);

} // namespace headrace::storage
