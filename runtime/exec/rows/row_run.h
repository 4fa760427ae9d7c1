// Rows of a state in the rank's spill file, and their way back.
#pragma once

#include "model/plan/plan.h"
#include "runtime/exec/memory/memory_account.h"
#include "runtime/exec/memory/spill_file.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace::exec {

/// A part of a run: whole rows, each followed by its texts.
struct RunPiece {
  SpillFile::Extent extent;
  uint32_t rows = 0;
  uint64_t firstWord = 0; ///< of what the first row is sorted by, if the writer was told
};

/// Purpose: where the rows of a run are. Ownership: of its extents. Immutable once it is shared.
class RowRun {
public:
  explicit RowRun(std::shared_ptr<SpillFile> file) : file_(std::move(file)) {}
  ~RowRun();
  RowRun(const RowRun &) = delete;
  RowRun &operator=(const RowRun &) = delete;

  std::span<const RunPiece> pieces() const { return pieces_; }
  uint64_t rows() const { return rows_; }
  SpillFile &file() const { return *file_; }
  /// Errors: those of the spill file.
  Status append(std::span<const uint8_t> bytes, uint32_t rows, uint64_t firstWord);

private:
  const std::shared_ptr<SpillFile> file_;
  std::vector<RunPiece> pieces_;
  uint64_t rows_ = 0;
};

/// Purpose: writes rows in the order in which they are given. Not thread-safe.
class RunWriter {
public:
  using WordOf = std::function<uint64_t(const uint8_t *row)>;
  /// `room`: what pieces are put together in; outlives the writer. A piece is smaller than it where
  /// no row needs all of it. `wordOf`: says the first word of a row that is sorted.
  RunWriter(const plan::State &state, std::shared_ptr<SpillFile> file, const Block &room,
            WordOf wordOf = nullptr);

  /// Whether the room is large enough for the row.
  bool fits(const uint8_t *row) const;
  /// Errors: those of the spill file; kMemory for a row that does not fit.
  Status add(const uint8_t *row);
  /// The run; the writer is done.
  Expected<std::shared_ptr<const RowRun>> end();

private:
  uint64_t bytesOf(const uint8_t *row) const;
  Status flush();

  const plan::State &state_;
  const Block &room_;
  const WordOf wordOf_;
  uint64_t used_ = 0;
  uint32_t rows_ = 0;
  uint64_t firstWord_ = 0; ///< of the rows
  std::shared_ptr<RowRun> run_;
};

/// Purpose: the rows of a run, or of one of its pieces, one after another. Not thread-safe. Rows
/// stay valid as long as the block that they are in.
class RunReader {
public:
  RunReader(const plan::State &state, std::shared_ptr<const RowRun> run,
            std::shared_ptr<MemoryAccount> account);
  RunReader(const plan::State &state, std::shared_ptr<const RowRun> run, size_t piece,
            std::shared_ptr<MemoryAccount> account);

  /// The row that it stands at; null behind the last.
  const uint8_t *row() const { return row_; }
  /// What holds the row.
  const std::shared_ptr<const void> &block() const { return block_; }
  /// The first row will be the one that so many pieces begin before. Not after advance().
  void skipPieces(size_t pieces) { nextPiece_ += pieces; }
  /// To the first row, or the next one.
  Status advance();

private:
  Status open(const RunPiece &piece);

  const plan::State &state_;
  const std::shared_ptr<const RowRun> run_;
  const std::shared_ptr<MemoryAccount> account_;
  size_t nextPiece_ = 0;
  size_t endPiece_;
  uint32_t left_ = 0; ///< rows of the piece behind this one
  std::shared_ptr<const void> block_;
  uint8_t *row_ = nullptr;
  uint8_t *next_ = nullptr;
};

/// Of a piece: what a reader holds in memory for each run.
inline constexpr int64_t kRunPieceBytes = 128 << 10;

} // namespace headrace::exec
