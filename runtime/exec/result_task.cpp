// A result task: keeps the chunks that reach rank 0 for the caller; drops those of other ranks.
#include "runtime/exec/task.h"

namespace headrace::exec {
namespace {

class ResultTask final : public TaskRunnerOf<plan::ResultTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;

  Status start() override {
    input_ = context_.streams[task_.inputStream];
    HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
    return {};
  }

  PollState poll() override {
    while (ChunkHandle chunk = input_->tryPop()) {
      counters_.rowsIn += chunk->rows;
      if (context_.rank != 0) {
        continue;
      }
      if (chunk->pooled) {
        // Kept until the caller is done with it; the exchange needs its buffers back.
        const plan::Schema &schema = context_.plan->streams[task_.inputStream].schema;
        Expected<ChunkHandle> copy = copyChunk(*chunk, schema, account_);
        if (!copy.ok()) {
          return fail(copy.status());
        }
        chunk = std::move(*copy);
      }
      context_.resultChunks.push_back(std::move(chunk));
    }
    return input_->ended() ? PollState::kDone : PollState::kPending;
  }

  const char *waitsFor() const override { return "input"; }

private:
  std::shared_ptr<ChunkStream> input_;
  std::shared_ptr<MemoryAccount> account_;
};

} // namespace

std::unique_ptr<TaskRunner> makeResultTask(RankContext &context, int32_t task) {
  return std::make_unique<ResultTask>(context, task);
}

} // namespace headrace::exec
