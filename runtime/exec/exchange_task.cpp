// An exchange task: chunks of its input stream to the ranks they are for, and what arrives to its
// output.
//
// One job at a time encodes and sends; the rank's thread takes in. Rows for this rank itself keep
// their chunk. With credits, send buffers or room in the output missing, the job keeps its chunk
// and gives its worker back.
#include "runtime/exec/chunk_codec.h"
#include "runtime/exec/task.h"

#include "runtime/communication/exchange.h"
#include "runtime/memory/buffer_pool.h"

#include <atomic>

namespace headrace::exec {
namespace {

class ExchangeTask final : public TaskRunnerOf<plan::ExchangeTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  ~ExchangeTask() override { job_ = Job(); }
  Status start() override;
  PollState poll() override;
  const char *waitsFor() const override;

private:
  /// What the sending job waits for.
  enum class Wait : uint8_t { kInput, kCredit, kBuffer, kRoom };

  const plan::Schema &schema() const { return context_.plan->streams[task_.inputStream].schema; }
  Status drive(int worker);
  Status beginChunk();
  Expected<bool> sendPieces();
  bool mayGoOn();
  Status takeIn(bool &moved);

  std::shared_ptr<ChunkStream> input_;
  std::shared_ptr<ChunkStream> output_;
  plan::GroupPlace place_; ///< of this rank in the group; peers are places in it
  std::unique_ptr<BufferPool> sendPool_;
  std::unique_ptr<BufferPool> receivePool_;
  std::unique_ptr<Exchange> exchange_;

  // The sending job's own; the rank's thread looks at them only between jobs.
  ChunkHandle chunk_;      ///< being sent
  uint32_t nextRow_ = 0;   ///< of chunk_, not yet in a piece
  bool local_ = false;     ///< chunk_ goes to this rank too
  std::vector<int> peers_; ///< that the current piece still has to go to
  ExchangeMessage piece_;  ///< encoded, not accepted by peers_ yet
  bool pieceReady_ = false;
  Wait wait_ = Wait::kInput;
  bool finished_ = false; ///< finish() was called
  ChunkHandle arrived_;   ///< taken in, without room in the output
  Job job_;               ///< last: ended before the rest goes
};

Status ExchangeTask::start() {
  input_ = context_.streams[task_.inputStream];
  output_ = context_.streams[task_.outputStream];
  place_ = context_.place.along(task_.axes);
  if (place_.count == 1) {
    return {};
  }
  const ExchangeSettings &settings = context_.exchange;
  HR_ASSIGN_OR_RETURN(auto account, context_.openAccount(index_));
  context_.poolAccounts.push_back(account);
  auto peers = static_cast<int64_t>(place_.count);
  HR_ASSIGN_OR_RETURN(sendPool_,
                      account->createPool({settings.bufferBytes, 2 * peers, context_.doorbell}));
  HR_ASSIGN_OR_RETURN(
      receivePool_,
      account->createPool({settings.bufferBytes, settings.window * peers, context_.doorbell}));
  ExchangeOptions options;
  options.channel = ChannelId(static_cast<uint32_t>(task_.channel));
  options.members = context_.place.group(task_.axes);
  options.window = settings.window;
  options.receivePool = receivePool_.get();
  options.checksums = settings.checksums;
  options.task = TaskId(static_cast<uint32_t>(index_));
  HR_ASSIGN_OR_RETURN(
      exchange_, Exchange::open(*context_.transport, *context_.board, context_.doorbell, options));
  return {};
}

Status ExchangeTask::beginChunk() {
  nextRow_ = 0;
  peers_.clear();
  local_ = true;
  auto self = static_cast<int>(place_.index);
  switch (task_.exchange) {
  case plan::ExchangeKind::kHash:
    local_ = chunk_->target == self;
    break;
  case plan::ExchangeKind::kGather:
    local_ = self == 0;
    break;
  case plan::ExchangeKind::kBroadcast:
    break;
  }
  return {};
}

/// Encodes and sends until chunk_ is out. False: something is missing (wait_ says what).
Expected<bool> ExchangeTask::sendPieces() {
  auto self = static_cast<int>(place_.index);
  bool remote = exchange_ && (task_.exchange == plan::ExchangeKind::kBroadcast || !local_);
  while (remote && (pieceReady_ || nextRow_ < chunk_->rows)) {
    if (!pieceReady_) {
      BufferRef body = sendPool_->tryTake();
      if (!body) {
        wait_ = Wait::kBuffer;
        return false;
      }
      uint32_t rows = rowsThatFit(*chunk_, schema(), nextRow_, body.capacity());
      if (rows == 0) {
        return makeError(ErrorKind::kMemory,
                         "a row does not fit a message of an exchange; raise exchangeBuffer, now ",
                         body.capacity(), " bytes");
      }
      encodeRows(*chunk_, schema(), nextRow_, rows, body);
      nextRow_ += rows;
      piece_.rows = rows;
      piece_.body = std::move(body);
      for (int peer = 0; peer < static_cast<int>(place_.count); ++peer) {
        bool wanted = task_.exchange == plan::ExchangeKind::kBroadcast ? true
                      : task_.exchange == plan::ExchangeKind::kGather  ? peer == 0
                                                                       : peer == chunk_->target;
        if (wanted && peer != self) {
          peers_.push_back(peer);
        }
      }
      pieceReady_ = true;
    }
    while (!peers_.empty()) {
      ExchangeMessage message = piece_;
      message.peer = peers_.back();
      int64_t bytes = message.body.size();
      switch (exchange_->trySend(message)) {
      case SendResult::kAccepted:
        counters_.bytes += bytes;
        peers_.pop_back();
        break;
      case SendResult::kNoCredit:
        wait_ = Wait::kCredit;
        return false;
      case SendResult::kFailed:
        return exchange_->status();
      }
    }
    piece_ = ExchangeMessage();
    pieceReady_ = false;
  }
  return true;
}

Status ExchangeTask::drive(int worker) {
  ScopedSpan span(context_.workerTrack(worker), SpanKind::kLink, "send",
                  TaskId(static_cast<uint32_t>(index_)));
  int64_t begin = context_.clock->nowNanoseconds();
  int64_t sentBefore = counters_.bytes;
  auto book = [&] {
    counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
    span.addBytes(counters_.bytes - sentBefore);
  };
  while (!context_.stopped()) {
    if (!chunk_) {
      chunk_ = input_->tryPop();
      if (!chunk_) {
        wait_ = Wait::kInput;
        break;
      }
      counters_.rowsIn += chunk_->rows;
      span.addRows(chunk_->rows);
      ++counters_.morsels;
      HR_RETURN_IF_ERROR(beginChunk());
    }
    HR_ASSIGN_OR_RETURN(bool sent, sendPieces());
    if (!sent) {
      break;
    }
    if (local_) {
      uint32_t rows = chunk_->rows;
      if (!output_->tryPush(chunk_)) {
        wait_ = Wait::kRoom;
        break;
      }
      counters_.rowsOut += rows;
    }
    chunk_.reset();
  }
  book();
  return {};
}

/// Whether what the job waited for has come.
bool ExchangeTask::mayGoOn() {
  switch (wait_) {
  case Wait::kInput:
    return input_->size() > 0;
  case Wait::kCredit:
    return exchange_->credits(peers_.back()) > 0;
  case Wait::kBuffer:
    return sendPool_->freeBuffers() > 0;
  case Wait::kRoom:
    return output_->hasRoom();
  }
  return false;
}

Status ExchangeTask::takeIn(bool &moved) {
  while (output_->hasRoom()) {
    if (!arrived_) {
      std::optional<ExchangeMessage> message = exchange_->receive();
      if (!message) {
        return {};
      }
      ScopedSpan span(context_.taskTrack(index_), SpanKind::kLink, "receive",
                      TaskId(static_cast<uint32_t>(index_)));
      span.addRows(message->rows);
      span.addBytes(message->body.size());
      int64_t begin = context_.clock->nowNanoseconds();
      HR_ASSIGN_OR_RETURN(arrived_, decodeRows(message->body, schema()));
      counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
    }
    uint32_t rows = arrived_->rows;
    // A local chunk may have taken the room meanwhile: then it stays in hand.
    if (!output_->tryPush(arrived_)) {
      return {};
    }
    moved = true;
    counters_.rowsOut += rows;
  }
  return {};
}

const char *ExchangeTask::waitsFor() const {
  if (job_.valid()) {
    return nullptr;
  }
  if (!chunk_) {
    return input_->ended() ? "rows of the other ranks" : "input";
  }
  switch (wait_) {
  case Wait::kInput:
    return "input";
  case Wait::kCredit:
    return "credits of a peer";
  case Wait::kBuffer:
    return "send buffers";
  case Wait::kRoom:
    return "room in its output";
  }
  return nullptr;
}

PollState ExchangeTask::poll() {
  PollState exchanged = exchange_ ? PollState::kPending : PollState::kDone;
  for (bool moved = true; exchange_ && moved;) {
    moved = false;
    exchanged = exchange_->poll();
    if (exchanged == PollState::kFailed) {
      return fail(exchange_->status());
    }
    if (Status status = takeIn(moved); !status.ok()) {
      return fail(status);
    }
  }
  if (job_.valid()) {
    if (job_.poll() == PollState::kPending) {
      return PollState::kPending;
    }
    Status status = job_.status();
    job_ = Job();
    if (!status.ok()) {
      return fail(status);
    }
  }
  if (mayGoOn()) {
    job_ = context_.pool->submit(context_.jobOf(index_),
                                 [this](int worker, int64_t) { return drive(worker); });
    return PollState::kPending;
  }
  if (chunk_ || !input_->ended()) {
    return PollState::kPending;
  }
  if (exchange_ && !finished_) {
    exchange_->finish();
    finished_ = true;
    return poll();
  }
  if (exchanged == PollState::kPending || arrived_) {
    return PollState::kPending;
  }
  output_->close();
  exchange_.reset();
  return PollState::kDone;
}

} // namespace

std::unique_ptr<TaskRunner> makeExchangeTask(RankContext &context, int32_t task) {
  return std::make_unique<ExchangeTask>(context, task);
}

} // namespace headrace::exec
