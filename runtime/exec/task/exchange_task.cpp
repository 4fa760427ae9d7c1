// An exchange task: chunks of its input stream to the ranks they are for, and what arrives to its
// output.
//
// One job at a time encodes and sends; the rank's thread takes in. Rows for this rank itself keep
// their chunk; a row that is larger than a message goes in parts. With credits, send buffers or
// room in the output missing, the job keeps its chunk and gives its worker back. An exchange by
// range or of a pair first tells the others what its rows are like, and goes on when all have.
#include "runtime/exec/chunk/chunk_codec.h"
#include "runtime/exec/chunk/row_parts.h"
#include "runtime/exec/range/range_division.h"
#include "runtime/exec/skew/skew_division.h"
#include "runtime/exec/task/task.h"

#include "runtime/base/readable.h"
#include "runtime/base/settings.h"
#include "runtime/communication/exchange.h"
#include "runtime/memory/buffer_pool.h"

#include <algorithm>
#include <atomic>
#include <deque>

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
  enum class Wait : uint8_t { kInput, kCredit, kBuffer, kRoom, kSamples };
  /// What a message is: rows, samples by which ranges are agreed on and their end, or a sketch of
  /// keys.
  enum Tag : uint64_t { kRows, kSamples, kSamplesEnd, kSketch };

  /// Of rows, and of what is being sent.
  const plan::Schema &schema() const { return context_.plan->streams[task_.inputStream].schema; }
  const plan::Schema &sentSchema() const {
    return sends_ == kRows ? schema() : ranges_->keys().schema();
  }
  Expected<ChunkHandle> nextChunk();
  Expected<ChunkHandle> nextOfRanges();
  Expected<ChunkHandle> nextOfPair();
  size_t sideOfPair() const;
  Status hear(const ExchangeMessage &message, std::shared_ptr<const WholeRow> row);
  /// The rows of a message, or of a row that came in parts.
  static Expected<std::shared_ptr<Chunk>> decode(const ExchangeMessage &message,
                                                 std::shared_ptr<const WholeRow> row,
                                                 const plan::Schema &schema);
  /// Whether a piece of what is being sent is for the peer.
  bool isFor(int peer) const;
  Status drive(int worker);
  void listPeers();
  void beginChunk();
  void putPiece(uint32_t rows, BufferRef body, uint64_t rowBytes = 0);
  Status putPart(BufferRef body);
  Expected<bool> sendPieces();
  bool keeps() const;
  bool mayGoOn();
  Status takeIn(bool &moved);

  std::shared_ptr<ChunkStream> input_;
  std::shared_ptr<ChunkStream> output_;
  plan::GroupPlace place_; ///< of this rank in the group; peers are places in it
  std::unique_ptr<BufferPool> sendPool_;
  std::unique_ptr<BufferPool> receivePool_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<RangeDivision> ranges_; ///< of an exchange by range with other ranks
  std::unique_ptr<SkewDivision> skew_;    ///< of one of a pair
  std::unique_ptr<RowParts> parts_;       ///< that arrive

  // The sending job's own; the rank's thread looks at them only between jobs.
  ChunkHandle chunk_;      ///< being sent
  uint32_t nextRow_ = 0;   ///< of chunk_, not yet in a piece
  uint64_t partsEnd_ = 0;  ///< bytes of this row that are in pieces: it is larger than a message
  Tag sends_ = kRows;      ///< what chunk_ has
  bool allTold_ = false;   ///< the samples or sketches of all ranks are there
  bool local_ = false;     ///< chunk_ goes to this rank too
  std::vector<int> peers_; ///< that the current piece still has to go to
  ExchangeMessage piece_;  ///< encoded, not accepted by peers_ yet
  bool pieceReady_ = false;
  Wait wait_ = Wait::kInput;
  bool finished_ = false;           ///< finish() was called
  std::deque<ChunkHandle> arrived_; ///< taken in, without room in the output
  Job job_;                         ///< last: ended before the rest goes
};

/// Whether rows of the stream are under way from other ranks, with no state in between.
bool comesFromExchange(const plan::Plan &plan, int32_t stream) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(), [&](const plan::Task &task) {
    return task.outputStream() == stream &&
           (task.as<plan::ExchangeTask>() ||
            (task.inputStream() != plan::kNone && comesFromExchange(plan, task.inputStream())));
  });
}

Status ExchangeTask::start() {
  input_ = context_.streams[task_.inputStream];
  output_ = context_.streams[task_.outputStream];
  place_ = context_.place.along(task_.axes);
  if (place_.count == 1) {
    return {};
  }
  const ExchangeSettings &settings = context_.exchange;
  HR_ASSIGN_OR_RETURN(auto account, context_.openAccount(index_));
  const ExchangePools pools = ExchangePools::of(task_, place_, settings);
  HR_ASSIGN_OR_RETURN(
      sendPool_, account->createPool({settings.bufferBytes, pools.sendBuffers, context_.doorbell},
                                     context_.transport->bodyBlocks()));
  HR_ASSIGN_OR_RETURN(receivePool_, account->createPool({settings.bufferBytes, pools.receiveBuffers,
                                                         context_.doorbell}));
  HR_ASSIGN_OR_RETURN(auto rowAccount, context_.openAccount(index_));
  parts_ = std::make_unique<RowParts>(std::move(rowAccount), place_.count);
  ExchangeOptions options;
  options.channel = ChannelId(static_cast<uint32_t>(task_.channel));
  options.members = context_.place.group(task_.axes);
  options.receivers =
      task_.exchange == plan::ExchangeKind::kGather ? Receivers::kFirst : Receivers::kAll;
  options.window = settings.window;
  options.receivePool = receivePool_.get();
  options.checksums = settings.checksums;
  options.task = TaskId(static_cast<uint32_t>(index_));
  HR_ASSIGN_OR_RETURN(
      exchange_, Exchange::open(*context_.transport, *context_.board, context_.doorbell, options));
  if (task_.exchange == plan::ExchangeKind::kRange) {
    ranges_ = std::make_unique<RangeDivision>(schema(), task_.order, place_, account);
  }
  if (isPaired(task_, place_)) {
    skew_ = std::make_unique<SkewDivision>(task_, context_.plan->streams[task_.inputStream], place_,
                                           context_.skewPairs[task_.pair], sideOfPair(),
                                           comesFromExchange(*context_.plan, task_.inputStream)
                                               ? SkewDivision::Feed::kExchange
                                               : SkewDivision::Feed::kOwn,
                                           account);
  }
  return {};
}

/// The exchange that comes first in the plan is side 0.
size_t ExchangeTask::sideOfPair() const {
  for (int32_t t = 0; t < index_; ++t) {
    const auto *other = context_.plan->tasks[t].as<plan::ExchangeTask>();
    if (other && other->pair == task_.pair) {
      return 1;
    }
  }
  return 0;
}

/// Null: there is none at the moment (wait_ says what for), or at all.
Expected<ChunkHandle> ExchangeTask::nextChunk() {
  wait_ = Wait::kInput;
  if (ranges_) {
    return nextOfRanges();
  }
  if (skew_) {
    return nextOfPair();
  }
  ChunkHandle chunk = input_->tryPop();
  counters_.rowsIn += chunk ? chunk->rows : 0;
  return chunk;
}

Expected<ChunkHandle> ExchangeTask::nextOfRanges() {
  using Step = RangeDivision::Step;
  if (ranges_->step() == Step::kKeep) {
    HR_RETURN_IF_ERROR(ranges_->keep(*input_));
    counters_.rowsIn = static_cast<int64_t>(ranges_->rows());
  }
  if (ranges_->step() == Step::kTell) {
    sends_ = kSamples;
    HR_ASSIGN_OR_RETURN(ChunkHandle samples, ranges_->tell());
    if (samples) {
      return samples;
    }
    sends_ = kSamplesEnd;
    return ChunkHandle(std::make_shared<Chunk>());
  }
  sends_ = kRows;
  if (ranges_->step() == Step::kAgree && !allTold_) {
    wait_ = Wait::kSamples;
    return ChunkHandle();
  }
  return ranges_->step() == Step::kKeep ? ChunkHandle() : ranges_->next();
}

Expected<ChunkHandle> ExchangeTask::nextOfPair() {
  using Step = SkewDivision::Step;
  if (skew_->step() == Step::kKeep) {
    HR_RETURN_IF_ERROR(skew_->keep(*input_));
  }
  if (skew_->step() == Step::kTell) {
    sends_ = kSketch;
    auto sketch = std::make_shared<Chunk>(); // its rows are made when there is a buffer
    sketch->rows = 1;
    return ChunkHandle(std::move(sketch));
  }
  sends_ = kRows;
  if (skew_->step() == Step::kAgree && !allTold_) {
    wait_ = Wait::kSamples;
    return ChunkHandle();
  }
  if (skew_->step() == Step::kKeep) {
    return ChunkHandle();
  }
  Expected<ChunkHandle> chunk = skew_->next(*input_);
  counters_.rowsIn = static_cast<int64_t>(skew_->rowsTaken());
  counters_.heavyKeys = static_cast<int64_t>(skew_->heavyKeys());
  counters_.heavyRows = static_cast<int64_t>(skew_->heavyRows());
  return chunk;
}

void ExchangeTask::beginChunk() {
  nextRow_ = 0;
  peers_.clear();
  local_ = true;
  auto self = static_cast<int>(place_.index);
  switch (task_.exchange) {
  case plan::ExchangeKind::kHash:
    local_ = sends_ == kRows && (chunk_->target == self || chunk_->target == kAllRanks);
    break;
  case plan::ExchangeKind::kGather:
    local_ = self == 0;
    break;
  case plan::ExchangeKind::kBroadcast:
    break;
  case plan::ExchangeKind::kRange:
    local_ = !ranges_ || (sends_ == kRows && chunk_->target == self);
    break;
  }
  if (sends_ == kSamplesEnd) {
    piece_.rows = static_cast<int64_t>(ranges_->rows());
    piece_.tag = sends_;
    listPeers();
    pieceReady_ = true;
  }
}

bool ExchangeTask::isFor(int peer) const {
  if (peer == static_cast<int>(place_.index)) {
    return false;
  }
  return task_.exchange == plan::ExchangeKind::kBroadcast || sends_ != kRows ||
         chunk_->target == kAllRanks ||
         peer == (task_.exchange == plan::ExchangeKind::kGather ? 0 : chunk_->target);
}

void ExchangeTask::listPeers() {
  const bool one =
      task_.exchange == plan::ExchangeKind::kHash && sends_ == kRows && chunk_->target != kAllRanks;
  if (one) {
    peers_.push_back(static_cast<int>(chunk_->target));
    return;
  }
  for (int peer = 0; peer < static_cast<int>(place_.count); ++peer) {
    if (isFor(peer)) {
      peers_.push_back(peer);
    }
  }
}

void ExchangeTask::putPiece(uint32_t rows, BufferRef body, uint64_t rowBytes) {
  nextRow_ += rows;
  piece_.rows = rows;
  piece_.tag = messageTag(sends_, rowBytes);
  piece_.body = std::move(body);
  listPeers();
  pieceReady_ = true;
}

/// The next part of a row that is larger than a message.
Status ExchangeTask::putPart(BufferRef body) {
  const uint64_t whole = encodedBytes(*chunk_, sentSchema(), nextRow_, 1);
  if (whole > kRowBytesMax) {
    // no test: it takes a row of 4 GiB
    return makeError(ErrorKind::kUnsupported, "a row of ", formatBytes(static_cast<int64_t>(whole)),
                     " is too large for another rank: at most 4 GiB");
  }
  encodePart(*chunk_, sentSchema(), nextRow_, partsEnd_, body);
  partsEnd_ += static_cast<uint64_t>(body.size());
  const bool isLast = partsEnd_ == whole;
  putPiece(isLast ? 1 : 0, std::move(body), whole);
  partsEnd_ = isLast ? 0 : partsEnd_;
  return {};
}

/// Encodes and sends until chunk_ is out. False: something is missing (wait_ says what).
Expected<bool> ExchangeTask::sendPieces() {
  bool toAll = task_.exchange == plan::ExchangeKind::kBroadcast || chunk_->target == kAllRanks;
  bool remote = exchange_ && (toAll || !local_);
  while (remote && (pieceReady_ || nextRow_ < chunk_->rows)) {
    if (!pieceReady_) {
      BufferRef body = sendPool_->tryTake();
      if (!body) {
        wait_ = Wait::kBuffer;
        return false;
      }
      if (sends_ == kSketch) {
        skew_->tell(body);
        putPiece(1, std::move(body));
        continue;
      }
      uint32_t rows =
          partsEnd_ != 0 ? 0 : rowsThatFit(*chunk_, sentSchema(), nextRow_, body.capacity());
      if (rows == 0) {
        HR_RETURN_IF_ERROR(putPart(std::move(body)));
        continue;
      }
      encodeRows(*chunk_, sentSchema(), nextRow_, rows, body);
      putPiece(rows, std::move(body));
    }
    while (!peers_.empty()) {
      ExchangeMessage message = piece_;
      message.peer = peers_.back();
      int64_t bytes = message.body ? message.body.size() : 0;
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
      HR_ASSIGN_OR_RETURN(chunk_, nextChunk());
      if (!chunk_) {
        break;
      }
      span.addRows(chunk_->rows);
      ++counters_.morsels;
      beginChunk();
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

/// Whether the end of the input lets it begin.
bool ExchangeTask::keeps() const {
  return (ranges_ && ranges_->step() == RangeDivision::Step::kKeep) ||
         (skew_ && skew_->step() == SkewDivision::Step::kKeep);
}

/// Whether what the job waited for has come.
bool ExchangeTask::mayGoOn() {
  switch (wait_) {
  case Wait::kInput:
    return input_->size() > 0 || (keeps() && (input_->ended() || (skew_ && skew_->isUrged())));
  case Wait::kSamples:
    allTold_ = ranges_ ? ranges_->hasAllSamples() : skew_->complete();
    return allTold_;
  case Wait::kCredit:
    return exchange_->credits(peers_.back()) > 0;
  case Wait::kBuffer:
    return sendPool_->freeBuffers() > 0;
  case Wait::kRoom:
    return output_->hasRoom();
  }
  return false;
}

Expected<std::shared_ptr<Chunk>> ExchangeTask::decode(const ExchangeMessage &message,
                                                      std::shared_ptr<const WholeRow> row,
                                                      const plan::Schema &schema) {
  if (!row) {
    return decodeRows(message.body, schema);
  }
  HR_ASSIGN_OR_RETURN(std::shared_ptr<Chunk> chunk, decodeRows(row->body(), schema));
  chunk->pins.push_back(std::move(row));
  return chunk;
}

/// What another rank says of its rows.
Status ExchangeTask::hear(const ExchangeMessage &message, std::shared_ptr<const WholeRow> row) {
  const uint64_t kind = messageKind(message.tag);
  if (skew_ && kind == kSketch) {
    context_.doorbell->ring(); // the other of the pair may have waited for it
    return skew_->hear(message.peer, message.body);
  }
  if (ranges_ && kind == kSamplesEnd) {
    ranges_->endSamples(message.peer, static_cast<uint64_t>(message.rows));
    return {};
  }
  if (ranges_ && kind == kSamples) {
    HR_ASSIGN_OR_RETURN(ChunkHandle samples,
                        decode(message, std::move(row), ranges_->keys().schema()));
    return ranges_->addSamples(message.peer, *samples);
  }
  // no test: a rank with the same plan sends no such message
  return makeError(ErrorKind::kCorrupt,
                   "an exchange does not expect messages with tag: ", message.tag);
}

/// Sketches are heard even if nobody takes the rows that came before them: who would may wait for
/// what is agreed on. The credits of the others bound how many rows are held.
Status ExchangeTask::takeIn(bool &moved) {
  while (output_->hasRoom() || (skew_ && !skew_->complete())) {
    if (!arrived_.empty() && output_->hasRoom()) {
      uint32_t rows = arrived_.front()->rows;
      // A local chunk may have taken the room meanwhile: then it stays in hand.
      if (!output_->tryPush(arrived_.front())) {
        continue;
      }
      arrived_.pop_front();
      moved = true;
      counters_.rowsOut += rows;
      continue;
    }
    std::optional<ExchangeMessage> message = exchange_->receive();
    if (!message) {
      return {};
    }
    ScopedSpan span(context_.taskTrack(index_), SpanKind::kLink, "receive",
                    TaskId(static_cast<uint32_t>(index_)));
    span.addRows(message->rows);
    span.addBytes(message->body ? message->body.size() : 0);
    int64_t begin = context_.clock->nowNanoseconds();
    counters_.receivedBytes += message->body ? message->body.size() : 0;
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const WholeRow> row, parts_->add(*message));
    if (rowBytesOf(message->tag) != 0 && !row) {
      continue; // more of it is to come
    }
    if (messageKind(message->tag) != kRows) {
      HR_RETURN_IF_ERROR(hear(*message, std::move(row)));
      continue;
    }
    HR_ASSIGN_OR_RETURN(std::shared_ptr<Chunk> rows, decode(*message, std::move(row), schema()));
    if (context_.streamOrders[task_.outputStream] == StreamOrder::kNone) {
      rows->order.clear(); // told apart by nobody
    }
    arrived_.push_back(std::move(rows));
    counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
  }
  return {};
}

const char *ExchangeTask::waitsFor() const {
  if (job_.valid()) {
    return nullptr;
  }
  if (!chunk_ && wait_ == Wait::kInput) {
    return input_->ended() ? "rows of the other ranks" : "input";
  }
  switch (wait_) {
  case Wait::kSamples:
    return "samples of the other ranks";
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
  bool divides = (ranges_ && ranges_->step() != RangeDivision::Step::kDone) ||
                 (skew_ && (skew_->step() != SkewDivision::Step::kRoute || skew_->holds()));
  if (chunk_ || divides || !input_->ended()) {
    return PollState::kPending;
  }
  if (exchange_ && !finished_) {
    exchange_->finish();
    finished_ = true;
    return poll();
  }
  if (exchanged == PollState::kPending || !arrived_.empty()) {
    return PollState::kPending;
  }
  output_->close();
  exchange_.reset();
  return PollState::kDone;
}

} // namespace

/// Of many peers not all are sent to at once.
static constexpr int64_t kSendBuffersMax = 256;

ExchangePools ExchangePools::of(const plan::ExchangeTask &task, plan::GroupPlace place,
                                const ExchangeSettings &settings) {
  const int64_t peers = place.count;
  const int64_t receive = settings.buffersAPeer * peers;
  if (task.exchange == plan::ExchangeKind::kGather) {
    return place.index == 0 ? ExchangePools{1, receive} : ExchangePools{2 * settings.window, 1};
  }
  return {std::min(2 * peers, kSendBuffersMax), receive};
}

std::unique_ptr<TaskRunner> makeExchangeTask(RankContext &context, int32_t task) {
  return std::make_unique<ExchangeTask>(context, task);
}

} // namespace headrace::exec
