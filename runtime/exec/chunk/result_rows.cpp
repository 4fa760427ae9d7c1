// Rows are counted here; where they wait is the business of KeptChunks.
#include "runtime/exec/chunk/result_rows.h"

namespace headrace::exec {

namespace {
uint64_t rowsOf(const std::vector<ChunkHandle> &chunks) {
  uint64_t rows = 0;
  for (const ChunkHandle &chunk : chunks) {
    rows += chunk->rows;
  }
  return rows;
}
} // namespace

ResultRows::ResultRows(plan::Schema schema, std::vector<ChunkHandle> chunks)
    : schema_(std::move(schema)), rows_(rowsOf(chunks)), kept_(schema_, std::move(chunks)) {}

std::shared_ptr<const ResultRows> ResultRows::of(plan::Schema schema,
                                                 std::vector<ChunkHandle> chunks) {
  return std::shared_ptr<const ResultRows>(new ResultRows(std::move(schema), std::move(chunks)));
}

Status ResultRows::add(ChunkHandle chunk) {
  rows_ += chunk->rows;
  return kept_.add(std::move(chunk));
}

} // namespace headrace::exec
