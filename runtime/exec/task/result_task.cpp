// A result task: keeps the chunks that reach rank 0 for the caller; drops those of other ranks,
// unless the result stays where it is.
#include "runtime/exec/task/task.h"

namespace headrace::exec {
namespace {

class ResultTask final : public TaskRunnerOf<plan::ResultTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;

  Status start() override {
    input_ = context_.streams[task_.inputStream];
    if (context_.rank == 0 || context_.plan->resident) {
      HR_ASSIGN_OR_RETURN(auto account, context_.openAccount(index_));
      context_.result = std::make_shared<ResultRows>(context_.plan->result, std::move(account));
    }
    return {};
  }

  PollState poll() override {
    while (ChunkHandle chunk = input_->tryPop()) {
      counters_.rowsIn += chunk->rows;
      if (!context_.result) {
        continue;
      }
      if (Status status = context_.result->add(std::move(chunk)); !status.ok()) {
        return fail(status);
      }
    }
    if (!input_->ended()) {
      return PollState::kPending;
    }
    if (context_.result) {
      context_.result->end();
    }
    return PollState::kDone;
  }

  const char *waitsFor() const override { return "input"; }

private:
  std::shared_ptr<ChunkStream> input_;
};

} // namespace

std::unique_ptr<TaskRunner> makeResultTask(RankContext &context, int32_t task) {
  return std::make_unique<ResultTask>(context, task);
}

} // namespace headrace::exec
