// A builder of small plans over the test kernels, and running them.
#pragma once

#include "runtime/exec/program.h"
#include "test/unit/exec/table_source.h"
#include "test/unit/exec/test_kernels.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::exec {

class PlanBuilder {
public:
  PlanBuilder();
  plan::Plan plan;
  uint32_t chunkRows = 65536;
  uint32_t capacityChunks = 4;

  int32_t kernel(const std::string &symbol);
  /// A stream of `columns` 64-bit integers.
  int32_t stream(size_t columns = 2);
  int32_t stream(plan::Schema schema);
  /// A load of a slot with `columns` 64-bit integers; returns its stream.
  int32_t load(const std::string &table, size_t columns = 2);
  /// States of the test kernels.
  int32_t state(plan::StateKind kind, uint32_t rowBytes, const std::string &merge = "");
  /// A run task; returns its id.
  int32_t run(const std::string &symbol, int32_t inputStream,
              std::vector<plan::StateArgument> states, int32_t outputStream = plan::kNone,
              std::vector<int32_t> after = {});
  int32_t runState(const std::string &symbol, int32_t sourceState, int32_t outputStream,
                   std::vector<int32_t> after);
  /// An exchange of a stream of two columns; returns the new stream.
  int32_t exchange(plan::ExchangeKind kind, int32_t inputStream,
                   std::vector<plan::OrderKey> order = {});
  /// A stream of two columns that is kept in parts.
  int32_t parted(uint32_t parts);
  /// A repeat of these tasks, behind what writes the parts that they read.
  int32_t repeat(std::vector<int32_t> tasks, std::vector<int32_t> after);
  void result(int32_t stream);

private:
  plan::Task &task(const std::string &name, plan::TaskWork work);
  int32_t nextChannel_ = 0;
};

plan::Schema integers(size_t columns);

using Rows = std::vector<std::pair<int64_t, int64_t>>;
/// The rows of a result of two integer columns, in their order.
Rows rowsOf(const ResultRows &table);
Rows sorted(Rows rows);

struct Tables {
  std::map<std::string, TestTable> tables;
  size_t morselRows = 1000;
};
struct RunShape {
  int threads = 2;
  uint32_t ranks = 1;
  int64_t memoryBytes = 1 << 30;
  int64_t bufferBytes = 1 << 20;
  std::optional<SimOptions> simulation = {};
  SpillOptions spill = {};
  std::vector<uint32_t> keyShares = {};
};

Expected<RunResult> runPlan(const PlanBuilder &builder, const Tables &tables,
                            const RunShape &shape = {});
/// Fails the test on an error.
Rows runRows(const PlanBuilder &builder, const Tables &tables, const RunShape &shape = {});

/// The rows of `t` in 16 parts, grouped part after part: the sum of the keys and how many there
/// are.
PlanBuilder groupsInRounds();

} // namespace headrace::exec
