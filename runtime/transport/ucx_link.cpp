// Sends that are under way, and arrivals in the order in which they were sent.
#include "runtime/transport/ucx_link.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/random.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"

namespace headrace {

namespace {

constexpr unsigned kMessageId = 0;
/// For what closing or sending may take at the end.
constexpr int64_t kCloseNanosecondsMax = 500'000'000;
/// For which a peer that has left is listened to.
constexpr int64_t kLastWordsNanosecondsMax = 100'000'000;
/// Turns in which UCX is not ready to tell of what comes, before others have theirs.
constexpr int kTurnsMax = 16;
/// Messages of a rank that overtook others.
constexpr size_t kComingsMax = 8192;
/// The interface of UCX that the declarations here are of.
constexpr unsigned kMajor = 1, kMinor = 10;

} // namespace

class UcxLink final : public Link {
public:
  UcxLink(UcxEngine &engine, int rank, std::string name, UcxEngine::Word word)
      : engine_(engine), rank_(rank), name_(std::move(name)), word_(word) {}

  ~UcxLink() override {
    std::lock_guard lock(engine_.mutex_);
    engine_.links_.erase(rank_);
    int64_t end = RealClock::instance().nowNanoseconds() + kCloseNanosecondsMax;
    if (endpoint_) {
      close(failure_.ok() ? 0 : ucx::kCloseByForce);
    }
    waitUntil(end, [&] { return !isUnderWay(closing_); });
    waitUntil(end, [&] {
      reap();
      return underWay_.empty() && comings_.empty();
    });
    if (ucx::isRequest(closing_)) {
      engine_.library_.requestFree(closing_);
    }
    if (socket_ >= 0) {
      ::close(socket_);
    }
  }

  void adopt(int socket) { socket_ = socket; }
  const char *passageName() const override { return "UCX"; }

  Expected<ucx::Endpoint> connect(const void *address) {
    ucx::EndpointParams params;
    params.fields = ucx::kEndpointAddress | ucx::kEndpointErrorMode | ucx::kEndpointOnError;
    params.address = address;
    params.errorMode = ucx::kErrorsOfPeer;
    params.onError = [](void *link, ucx::Endpoint, ucx::Code code) {
      auto *self = static_cast<UcxLink *>(link);
      self->fail(makeError(ErrorKind::kIo, "the link is down (",
                           self->engine_.library_.statusString(code), "): ", self->name_));
    };
    params.errorArgument = this;
    ucx::Code code = engine_.library_.epCreate(engine_.worker_, &params, &endpoint_);
    if (code != ucx::kOk) {
      endpoint_ = nullptr;
      return engine_.failed("an endpoint", code);
    }
    return endpoint_;
  }

  // ---- sending ----

  Expected<Room> write(std::deque<Outgoing> &queue) override {
    std::lock_guard lock(engine_.mutex_);
    HR_RETURN_IF_ERROR(failure_);
    while (!queue.empty()) {
      UnderWay &next = underWay_.emplace_back();
      next.message = std::move(queue.front());
      next.header = {word_, static_cast<uint64_t>(engine_.rank_), sendCount_++, next.message.frame};
      queue.pop_front();
      ucx::RequestParams params;
      const BufferRef &body = next.message.body;
      next.outcome = engine_.library_.amSendNbx(endpoint_, kMessageId, &next.header,
                                                sizeof(next.header), body ? body.data() : nullptr,
                                                next.message.frame.bodyBytes, &params);
    }
    reap();
    HR_RETURN_IF_ERROR(failure_);
    return underWay_.empty() ? Room::kForMore : Room::kNone;
  }

  uint64_t leftCount() override {
    std::lock_guard lock(engine_.mutex_);
    return sendCount_ - underWay_.size();
  }

  bool drained() override {
    std::lock_guard lock(engine_.mutex_);
    return underWay_.empty();
  }

  void giveUp() override {
    std::lock_guard lock(engine_.mutex_);
    fail(peerLeft(name_));
    if (endpoint_) {
      close(ucx::kCloseByForce); // what is under way ends soon, and keeps its buffers until then
    }
  }

  void finish(int64_t endNanoseconds) override {
    std::lock_guard lock(engine_.mutex_);
    waitUntil(endNanoseconds, [&] {
      reap();
      return underWay_.empty() || !failure_.ok();
    });
  }

  // ---- receiving ----

  int descriptor() const override { return socket_; }

  /// Nothing is sent over the socket: it is at its end. What the peer had said before it left may
  /// still be on its way, until UCX tells of the end, too.
  Status take(Landing &) override {
    char byte = 0;
    if (recv(socket_, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR)) {
      return {};
    }
    int64_t now = RealClock::instance().nowNanoseconds();
    hungUpNanoseconds_ = hungUpNanoseconds_ == 0 ? now : hungUpNanoseconds_;
    std::lock_guard lock(engine_.mutex_);
    return failure_.ok() && now - hungUpNanoseconds_ < kLastWordsNanosecondsMax ? Status()
                                                                                : peerLeft(name_);
  }

  bool polled() const override { return true; }

  Status poll(Landing &) override {
    std::lock_guard lock(engine_.mutex_);
    return failure_;
  }

  // ---- with the engine's mutex held ----

  void fail(const Status &why) {
    if (failure_.ok()) {
      failure_ = why;
    }
  }

  /// Takes back what has been sent.
  void reap() {
    while (!underWay_.empty() && !isUnderWay(underWay_.front().outcome)) {
      ucx::Outcome outcome = underWay_.front().outcome;
      ucx::Code code = ucx::isRequest(outcome) ? engine_.library_.requestCheckStatus(outcome)
                                               : ucx::codeOf(outcome);
      if (ucx::isRequest(outcome)) {
        engine_.library_.requestFree(outcome);
      }
      if (code < 0) {
        fail(engine_.failed("a message", code));
      }
      underWay_.pop_front();
    }
  }

  ucx::Code take(const UcxEngine::Header &header, void *data, size_t bytes, bool rendezvous) {
    if (!failure_.ok()) {
      return ucx::kOk;
    }
    if (header.frame.bodyBytes != bytes || header.number < nextComing_ ||
        comings_.contains(header.number) || comings_.size() == kComingsMax) {
      // no test: it takes a rank that has the secret and sends at will
      fail(makeError(ErrorKind::kCorrupt, "a message is not what its header says, from ", name_,
                     ": ", bytes, " bytes as number ", header.number));
      return ucx::kOk;
    }
    Expected<BufferRef> body = engine_.landing_->bufferFor(header.frame);
    if (!body.ok()) {
      fail(body.status());
      return ucx::kOk;
    }
    Coming &coming = comings_[header.number];
    coming.frame = header.frame;
    coming.body = std::move(*body);
    if (coming.body && rendezvous) {
      ucx::RequestParams params;
      coming.outcome = engine_.library_.amRecvDataNbx(engine_.worker_, data,
                                                      coming.body.mutableData(), bytes, &params);
    } else if (coming.body) {
      std::memcpy(coming.body.mutableData(), data, bytes);
    }
    return ucx::isRequest(coming.outcome) ? ucx::kInProgress : ucx::kOk;
  }

  /// Hands on what is complete, in the order in which it was sent.
  void deliver(Landing *landing) {
    for (auto next = comings_.begin(); next != comings_.end(); next = comings_.erase(next)) {
      Coming &coming = next->second;
      bool inOrder = next->first == nextComing_;
      if (isUnderWay(coming.outcome) || (failure_.ok() && !inOrder)) {
        return;
      }
      ucx::Code code = ucx::isRequest(coming.outcome)
                           ? engine_.library_.requestCheckStatus(coming.outcome)
                           : ucx::codeOf(coming.outcome);
      if (ucx::isRequest(coming.outcome)) {
        engine_.library_.requestFree(coming.outcome);
      }
      nextComing_ += inOrder;
      if (code < 0) {
        fail(engine_.failed("a body", code));
      } else if (landing && inOrder && failure_.kind() != ErrorKind::kCorrupt) {
        if (Status status = landing->deliver(rank_, coming.frame, std::move(coming.body));
            !status.ok()) {
          fail(status);
        }
      }
    }
  }

private:
  struct UnderWay {
    Outgoing message;
    UcxEngine::Header header; ///< UCX reads it until it is done
    ucx::Outcome outcome = nullptr;
  };
  struct Coming {
    Frame frame;
    BufferRef body;
    ucx::Outcome outcome = nullptr;
  };

  bool isUnderWay(ucx::Outcome outcome) const {
    return ucx::isRequest(outcome) &&
           engine_.library_.requestCheckStatus(outcome) == ucx::kInProgress;
  }

  void close(uint32_t flags) {
    ucx::RequestParams params;
    params.fields = ucx::kRequestFlags;
    params.flags = flags;
    closing_ = engine_.library_.epCloseNbx(std::exchange(endpoint_, nullptr), &params);
  }

  template <typename Done> void waitUntil(int64_t end, const Done &done) {
    while (!done() && RealClock::instance().nowNanoseconds() < end) {
      engine_.progress();
      deliver(engine_.landing_);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  UcxEngine &engine_;
  int rank_;
  std::string name_;
  int socket_ = -1;
  UcxEngine::Word word_;          ///< the peer's
  int64_t hungUpNanoseconds_ = 0; ///< when the socket was first seen at its end
  ucx::Endpoint endpoint_ = nullptr;
  ucx::Outcome closing_ = nullptr;
  Status failure_;

  std::deque<UnderWay> underWay_; ///< an element stays where it is
  uint64_t sendCount_ = 0;

  std::map<uint64_t, Coming> comings_; ///< by number
  uint64_t nextComing_ = 0;
};

Expected<std::unique_ptr<UcxEngine>> UcxEngine::open(int rank, const std::string &transports) {
  HR_ASSIGN_OR_RETURN(const ucx::Library *library, ucx::library());
  std::unique_ptr<UcxEngine> engine(new UcxEngine(rank, *library));
  HR_RETURN_IF_ERROR(engine->start(transports));
  return engine;
}

Status UcxEngine::start(const std::string &transports) {
  ucx::Config config = nullptr;
  if (ucx::Code code = library_.configRead(nullptr, nullptr, &config); code != ucx::kOk) {
    return failed("its settings", code); // no test: it takes a broken environment
  }
  if (!transports.empty()) {
    library_.configModify(config, "TLS", transports.c_str());
  }
  ucx::ContextParams params;
  params.fields = ucx::kContextFeatures;
  params.features = ucx::kFeatureActiveMessages | ucx::kFeatureWakeup;
  ucx::Code code = library_.initVersion(kMajor, kMinor, &params, config, &context_);
  library_.configRelease(config);
  if (code != ucx::kOk) {
    context_ = nullptr;
    return failed("a context", code);
  }
  ucx::WorkerParams worker;
  worker.fields = ucx::kWorkerThreadMode;
  worker.threadMode = ucx::kThreadsOneAtATime;
  if (code = library_.workerCreate(context_, &worker, &worker_); code != ucx::kOk) {
    worker_ = nullptr;
    return failed("a worker", code);
  }
  ucx::HandlerParams handler;
  handler.fields = ucx::kHandlerId | ucx::kHandlerCallback | ucx::kHandlerArgument;
  handler.id = kMessageId;
  handler.onMessage = onMessage;
  handler.argument = this;
  ucx::Address address = nullptr;
  size_t bytes = 0;
  if ((code = library_.workerSetAmRecvHandler(worker_, &handler)) != ucx::kOk ||
      (code = library_.workerGetEfd(worker_, &descriptor_)) != ucx::kOk ||
      (code = library_.workerGetAddress(worker_, &address, &bytes)) != ucx::kOk) {
    return failed("a descriptor and an address", code);
  }
  address_.assign(reinterpret_cast<const char *>(address), bytes);
  library_.workerReleaseAddress(worker_, address);
  HR_CHECK(getrandom(word_.data(), word_.size(), 0) == static_cast<ssize_t>(word_.size()));
  return {};
}

UcxEngine::~UcxEngine() {
  HR_CHECK(links_.empty());
  if (worker_) {
    library_.workerDestroy(worker_);
  }
  if (context_) {
    library_.cleanup(context_);
  }
}

Status UcxEngine::failed(const char *what, ucx::Code code) const {
  return makeError(ErrorKind::kIo, "UCX refused ", what, ": ", library_.statusString(code));
}

std::string UcxEngine::card() const {
  return library_.version() + "\n" + std::string(word_.data(), word_.size()) + address_;
}

Expected<std::unique_ptr<Link>> UcxEngine::link(int rank, std::string name,
                                                const std::string &card) {
  size_t end = card.find('\n');
  std::string version = card.substr(0, end);
  Word word;
  if (version != library_.version() || card.size() < end + 1 + word.size()) {
    return makeError(ErrorKind::kUnsupported, "UCX of ", name, " is ",
                     version.empty() ? "not there" : version, ", and here ", library_.version());
  }
  std::memcpy(word.data(), card.data() + end + 1, word.size());
  auto link = std::make_unique<UcxLink>(*this, rank, std::move(name), word);
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(link->connect(card.data() + end + 1 + word.size()).status());
  links_[rank] = link.get();
  return std::unique_ptr<Link>(std::move(link));
}

void UcxEngine::adopt(int rank, int socket) { links_.at(rank)->adopt(socket); }

ucx::Code UcxEngine::onMessage(void *engine, const void *header, size_t headerBytes, void *data,
                               size_t bytes, const ucx::MessageParams *params) {
  auto &self = *static_cast<UcxEngine *>(engine);
  Header copy;
  if (headerBytes != sizeof(copy) || !self.landing_) {
    return ucx::kOk; // of no rank, or when nobody receives any more
  }
  std::memcpy(&copy, header, sizeof(copy));
  auto found = self.links_.find(static_cast<int>(copy.source));
  if (copy.word != self.word_ || copy.source > INT32_MAX || found == self.links_.end()) {
    return ucx::kOk;
  }
  return found->second->take(copy, data, bytes, (params->attributes & ucx::kRendezvous) != 0);
}

bool UcxEngine::progress() {
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    while (library_.workerProgress(worker_) != 0) {
    }
    // From now on the descriptor tells of what comes; if something came meanwhile, once more.
    if (library_.workerArm(worker_) != ucx::kBusy) {
      return true;
    }
  }
  return false;
}

void UcxEngine::poll(Landing &landing) {
  std::lock_guard lock(mutex_);
  landing_ = &landing;
  if (!progress()) {
    landing.inbox().ring();
  }
  for (auto &[rank, link] : links_) {
    link->deliver(&landing);
    link->reap();
  }
  landing_ = nullptr;
}

} // namespace headrace
