// curl's multi interface in one thread. A forked process begins with no client.
#include "runtime/storage/files/http_client.h"

#include "runtime/base/log.h"
#include "runtime/base/settings.h"
#include "runtime/storage/files/curl_library.h"
#include "runtime/storage/files/store_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <list>
#include <mutex>
#include <pthread.h>
#include <random>
#include <thread>

namespace headrace::storage {
namespace {

using Clock = std::chrono::steady_clock;

/// Twice as long before each further attempt, and up to as much less at random.
constexpr std::chrono::milliseconds kFirstBackOff{100};
/// Less in each second of the time-out is as good as nothing.
constexpr long kSlowBytesPerSecond = 1024;
constexpr size_t kBodyBytesMax = 64 << 20;

std::atomic<int64_t> limitSeconds{0}, limitRequests{0}; ///< 0: not set yet

bool mayPass(long status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 ||
         status == 503 || status == 504;
}

bool mayPass(CURLcode code) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
  case CURLE_HTTP2:
  case CURLE_PARTIAL_FILE:
  case CURLE_OPERATION_TIMEDOUT:
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_HTTP2_STREAM:
    return true;
  default:
    return false;
  }
}

} // namespace

struct HttpCall::State {
  enum class Phase : uint8_t { kWaiting, kRunning, kDone };

  explicit State(HttpRequest asked) : request(std::move(asked)) {}

  HttpRequest request;
  // Of the client's thread.
  CURL *handle = nullptr;
  curl_slist *headers = nullptr;
  HttpAnswer answer;
  size_t filled = 0; ///< of request.out
  bool overflows = false, isWhole = false;
  int attempts = 0;
  Clock::time_point due{};
  // Under the client's lock.
  const void *client = nullptr; ///< another than now: of the process that this one was forked from
  Phase phase = Phase::kWaiting;
  bool cancelled = false;
  Status failure;
};

namespace {

using Call = HttpCall::State;

size_t takeHeader(char *data, size_t, size_t bytes, void *to) {
  auto &call = *static_cast<Call *>(to);
  std::string_view line(data, bytes);
  if (line.starts_with("HTTP/")) { // the first, or that behind a redirection
    call.answer.headers.clear();
    call.answer.status =
        std::strtol(std::string(line.substr(std::min(line.find(' '), bytes))).c_str(), nullptr, 10);
  }
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
    line.remove_prefix(colon + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
      line.remove_prefix(1);
    }
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) {
      line.remove_suffix(1);
    }
    call.answer.headers[name] = line;
  }
  return bytes;
}

/// One client a process; it and its thread are left to the end of the process.
class Client {
public:
  static Expected<Client *> get();

  void add(std::shared_ptr<Call> call) {
    std::lock_guard lock(mutex_);
    call->client = this;
    waiting_.push_back(std::move(call));
    wake();
  }
  void wait(Call &call) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return call.phase == Call::Phase::kDone; });
  }
  void cancel(Call &call) {
    std::unique_lock lock(mutex_);
    call.cancelled = true;
    if (call.phase != Call::Phase::kDone) {
      wake();
      changed_.wait(lock, [&] { return call.phase == Call::Phase::kDone; });
    }
  }

private:
  explicit Client(const CurlLibrary &curl) : curl_(curl), multi_(curl.multi_init()) {
    std::thread([this] { run(); }).detach();
  }

  static size_t takeBody(char *data, size_t, size_t bytes, void *to);
  void wake() { curl_.multi_wakeup(multi_); }
  void run();
  void begin(Call &call);
  void end(const std::shared_ptr<Call> &call, CURLcode code);
  void letGo(Call &call);
  void startDue();

  static std::mutex creating;
  static Client *instance;

  const CurlLibrary &curl_;
  CURLM *const multi_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::shared_ptr<Call>> waiting_, running_;
  std::minstd_rand random_{std::random_device{}()}; ///< of the thread
};

std::mutex Client::creating;
Client *Client::instance = nullptr;

Expected<Client *> Client::get() {
  HR_ASSIGN_OR_RETURN(const CurlLibrary *curl, CurlLibrary::get());
  static const int forks = ::pthread_atfork([] { creating.lock(); }, [] { creating.unlock(); },
                                            [] {
                                              instance = nullptr; // its thread is the parent's
                                              creating.unlock();
                                            });
  static_cast<void>(forks);
  std::lock_guard lock(creating);
  if (!instance) {
    instance = new Client(*curl);
  }
  return instance;
}

size_t Client::takeBody(char *data, size_t, size_t bytes, void *to) {
  auto &call = *static_cast<Call *>(to);
  const std::span<uint8_t> out = call.request.out;
  if (!out.empty() && call.answer.status == 206) {
    if (bytes > out.size() - call.filled) {
      call.overflows = true;
      return 0;
    }
    std::memcpy(out.data() + call.filled, data, bytes);
    call.filled += bytes;
    return bytes;
  }
  if (!out.empty() && call.answer.status == 200) {
    call.isWhole = true; // however long it is
    return 0;
  }
  if (call.answer.body.size() + bytes > kBodyBytesMax) {
    return 0;
  }
  call.answer.body.append(data, bytes);
  return bytes;
}

void Client::run() {
  // A connection that the other side has closed is an error of a call, not the end of the process.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) {
    startDue();
    int running = 0;
    curl_.multi_perform(multi_, &running);
    int left = 0;
    while (CURLMsg *message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) {
        continue;
      }
      CURL *const handle = message->easy_handle;
      const CURLcode code = message->data.result;
      std::shared_ptr<Call> ended;
      {
        std::lock_guard lock(mutex_);
        auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto &call) { return call->handle == handle; });
        ended = *found;
        running_.erase(found);
      }
      end(ended, code);
    }
    // curl looks only now and then at what has stalled, and only when it is called.
    Clock::duration wait = std::chrono::milliseconds(running > 0 ? 250 : 10'000);
    {
      std::lock_guard lock(mutex_);
      for (const std::shared_ptr<Call> &call : waiting_) {
        const bool hasRoom = running_.size() < static_cast<size_t>(limitRequests.load());
        wait = hasRoom || call->cancelled ? std::min(wait, call->due - Clock::now()) : wait;
      }
    }
    const int64_t milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(wait).count() + 1;
    if (wait > Clock::duration::zero()) {
      curl_.multi_poll(multi_, nullptr, 0, static_cast<int>(milliseconds), nullptr);
    }
  }
}

/// Lets cancelled calls go and begins those whose time has come.
void Client::startDue() {
  std::vector<std::shared_ptr<Call>> begun;
  {
    std::lock_guard lock(mutex_);
    bool changed = false;
    auto drop = [&](const std::shared_ptr<Call> &call) {
      if (call->cancelled) {
        letGo(*call);
        call->phase = Call::Phase::kDone;
        changed = true;
      }
      return call->cancelled;
    };
    std::erase_if(running_, drop);
    std::erase_if(waiting_, drop);
    if (changed) {
      changed_.notify_all();
    }
    const auto most = static_cast<size_t>(limitRequests.load());
    const Clock::time_point now = Clock::now();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if ((*at)->due > now) {
        ++at;
      } else if (running_.size() < most) {
        begun.push_back(*at);
        (*at)->phase = Call::Phase::kRunning;
        running_.push_back(std::move(*at));
        at = waiting_.erase(at);
      } else {
        break;
      }
    }
  }
  for (const std::shared_ptr<Call> &call : begun) {
    begin(*call);
  }
}

void Client::begin(Call &call) {
  const HttpRequest &request = call.request;
  ++call.attempts;
  call.answer = {};
  call.filled = 0;
  call.overflows = call.isWhole = false;
  std::vector<std::string> headers = request.headers;
  if (request.sign) {
    request.sign(headers);
  }
  headers.emplace_back("Expect:"); // a body is sent at once
  if (std::none_of(headers.begin(), headers.end(),
                   [](const std::string &each) { return each.starts_with("Content-Type:"); })) {
    headers.emplace_back("Content-Type:" +
                         std::string(request.body.empty() ? "" : " application/octet-stream"));
  }
  for (const std::string &header : headers) {
    call.headers = curl_.slist_append(call.headers, header.c_str());
  }
  call.handle = curl_.easy_init();
  auto set = [&](CURLoption option, auto value) { curl_.easy_setopt(call.handle, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTPHEADER, call.headers);
  set(CURLOPT_HEADERFUNCTION, &takeHeader);
  set(CURLOPT_HEADERDATA, &call);
  set(CURLOPT_WRITEFUNCTION, &takeBody);
  set(CURLOPT_WRITEDATA, &call);
  set(CURLOPT_BUFFERSIZE, 128L << 10);
  set(CURLOPT_USERAGENT, "headrace");
  // What is signed is for one host.
  set(CURLOPT_FOLLOWLOCATION, request.sign ? 0L : 1L);
  set(CURLOPT_MAXREDIRS, 5L);
  const long seconds = request.seconds ? request.seconds : static_cast<long>(limitSeconds.load());
  set(CURLOPT_CONNECTTIMEOUT, seconds);
  set(CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  set(CURLOPT_LOW_SPEED_TIME, seconds);
  if (request.method != "GET") {
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.method == "PUT" || request.method == "POST") {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, request.body.data());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
  }
  curl_.multi_add_handle(multi_, call.handle);
}

void Client::letGo(Call &call) {
  if (call.handle) {
    curl_.multi_remove_handle(multi_, call.handle);
    curl_.easy_cleanup(call.handle);
    curl_.slist_free_all(call.headers);
    call.handle = nullptr;
    call.headers = nullptr;
  }
}

void Client::end(const std::shared_ptr<Call> &call, CURLcode code) {
  letGo(*call);
  const std::string where = call->request.shown;
  const std::span<uint8_t> out = call->request.out;
  const bool isPart = !out.empty() && call->answer.status == 206;
  Status failure;
  bool again = false;
  if (call->isWhole) {
    failure = makeError(ErrorKind::kUnsupported,
                        "the server does not answer requests for a part of a file, download the "
                        "file first: ",
                        where);
  } else if (call->overflows) {
    failure = makeError(ErrorKind::kIo, "the server sends more than it was asked for: ", where);
  } else if (code != CURLE_OK) {
    again = mayPass(code);
    failure = makeError(ErrorKind::kIo, "cannot reach ", where, ": ", curl_.easy_strerror(code));
  } else if (isPart && call->filled != out.size()) {
    again = true;
    // no test: curl says it first, but for a server that announces less than it was asked for
    failure = makeError(ErrorKind::kIo, "cannot reach ", where, ": the answer was cut short");
  } else if (mayPass(call->answer.status)) {
    again = true;
    failure = makeError(ErrorKind::kIo, "cannot reach ", where, ": the server answers ",
                        call->answer.status);
  }
  std::lock_guard lock(mutex_);
  if (again && call->attempts < call->request.attempts && !call->cancelled) {
    log(LogLevel::kInfo, failure.message(), ", attempt ", call->attempts);
    const auto longest = kFirstBackOff * (1 << (call->attempts - 1));
    call->due = Clock::now() + longest / 2 + longest * (random_() % 1024) / 2048;
    call->phase = Call::Phase::kWaiting;
    waiting_.push_back(call);
    return;
  }
  if (again) {
    failure = Status(failure.kind(),
                     failure.message() + " (" + std::to_string(call->attempts) + " attempts)");
  }
  call->failure = std::move(failure);
  call->phase = Call::Phase::kDone;
  changed_.notify_all();
}

void readEnvironment() {
  if (limitRequests.load() == 0) {
    Expected<Settings> settings = Settings::fromEnvironment();
    setStoreLimits(settings.ok() ? *settings : Settings());
  }
}

} // namespace

const std::string &HttpAnswer::header(const std::string &name) const {
  static const std::string none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

Expected<std::unique_ptr<HttpCall>> HttpCall::start(HttpRequest request) {
  HR_ASSIGN_OR_RETURN(Client * client, Client::get());
  readEnvironment();
  auto state = std::make_shared<State>(std::move(request));
  client->add(state);
  return std::unique_ptr<HttpCall>(new HttpCall(std::move(state)));
}

HttpCall::~HttpCall() {
  if (Expected<Client *> client = Client::get(); client.ok() && *client == state_->client) {
    (*client)->cancel(*state_);
  }
}

Expected<HttpAnswer> HttpCall::wait() {
  HR_ASSIGN_OR_RETURN(Client * client, Client::get());
  if (client != state_->client) {
    // no test: runs of this process alone wait
    return makeError(ErrorKind::kInternal,
                     "a request of the process that this one was forked from");
  }
  client->wait(*state_);
  if (!state_->failure.ok()) {
    return state_->failure;
  }
  return state_->answer;
}

Expected<HttpAnswer> askHttp(HttpRequest request) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<HttpCall> call, HttpCall::start(std::move(request)));
  return call->wait();
}

void setStoreLimits(const Settings &settings) {
  limitSeconds = settings.storeTimeout;
  limitRequests = settings.storeRequests;
}

int64_t secondsOfMoment(const std::string &text) {
  for (const char *format : {"%a, %d %b %Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm utc{};
    if (::strptime(text.c_str(), format, &utc)) {
      return ::timegm(&utc);
    }
  }
  return 0;
}

} // namespace headrace::storage
