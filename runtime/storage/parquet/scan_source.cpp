// A morsel is a row group or a piece of one; its chunks are loaded, then the promises checked.
#include "runtime/storage/parquet/scan_source.h"

#include "runtime/abi/kernel.h"
#include "runtime/storage/columns/share.h"
#include "runtime/storage/files/read_ahead.h"
#include "runtime/storage/parquet/group_parts.h"
#include "runtime/storage/parquet/pruning.h"

#include <algorithm>

namespace headrace::storage {
namespace {

constexpr uint32_t kGiven = ~uint32_t{0};

/// Where the columns of a slot are in one file.
struct FileColumns {
  std::shared_ptr<const GivenColumns> given; ///< what those are of which it has no bytes
  std::vector<uint32_t> columns; ///< by column of the slot: index in the file, or kGiven
  std::vector<uint32_t> stored;  ///< the indices, without those that are given
  std::vector<HrType> types;     ///< of `stored`
};

struct Piece {
  std::shared_ptr<const ParquetFile> file;
  const FileColumns *columns;
  uint32_t rowGroup;
  uint32_t number; ///< within the row group
  uint64_t rows;
  uint64_t firstRow; ///< within the source
  uint64_t place;    ///< of its first row in the table
  uint64_t placeInFile;
  std::shared_ptr<GroupParts> parts; ///< null: it is the whole row group, or not expected
  size_t unit = 0;                   ///< of `ahead`
};

/// Rows of all pieces of a row group but the last.
uint64_t rowsOfPieces(uint64_t rows, uint64_t pieceRows) {
  if (rows <= pieceRows + pieceRows / 2) {
    return rows;
  }
  const uint64_t pieces = (rows + pieceRows - 1) / pieceRows;
  const uint64_t tiles = ((rows + pieces - 1) / pieces + HR_TILE_ROWS - 1) / HR_TILE_ROWS;
  return tiles * HR_TILE_ROWS;
}

class ScanSource final : public MorselSource {
public:
  plan::Slot slot;
  std::vector<std::unique_ptr<FileColumns>> columnMaps; ///< by file
  std::vector<Piece> pieces;
  PageSupply supply;
  uint64_t totalRows = 0;
  MorselRange own;
  std::unique_ptr<ReadAhead> ahead; ///< of remote files; units are row groups

  void readAhead(uint64_t bytesMax);

  size_t morselCount() const override { return pieces.size(); }
  uint64_t rows(size_t index) const override { return pieces[index].rows; }
  uint64_t rows() const override { return totalRows; }
  MorselRange share() const override { return own; }
  void expect(MorselRange more) override;
  void leave(MorselRange left) override;
  Expected<MorselHandle> load(size_t index, Reservation &memory) const override;

private:
  Expected<std::vector<GroupParts::ColumnRows>>
  loadGroup(const Piece &piece, Reservation &memory,
            const std::shared_ptr<const InputFile> &input) const;
  Expected<std::vector<GroupParts::ColumnRows>> loadColumns(const Piece &piece,
                                                            Reservation &memory) const;
  std::vector<ByteRange> rangesOf(const Piece &piece) const;
  Status checkPromise(const Piece &piece, size_t column, const EncodedChunk &chunk) const;
};

Expected<std::vector<GroupParts::ColumnRows>>
ScanSource::loadGroup(const Piece &piece, Reservation &memory,
                      const std::shared_ptr<const InputFile> &input) const {
  std::vector<ChunkRequest> requests;
  for (size_t i = 0; i < piece.columns->stored.size(); ++i) {
    const uint32_t column = piece.columns->stored[i];
    requests.push_back({column, piece.columns->types[i], kWholeChunk, 0,
                        wholeChunk(piece.file->footer(), piece.rowGroup, column)});
  }
  HR_ASSIGN_OR_RETURN(std::vector<HeldChunkHandle> chunks,
                      readChunks(piece.file, piece.rowGroup, requests, supply, memory, input));
  std::vector<GroupParts::ColumnRows> columns(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    columns[i].chunks.push_back(std::move(chunks[i]));
  }
  return columns;
}

/// What is ahead of this piece gives way to it.
Expected<std::vector<GroupParts::ColumnRows>> ScanSource::loadColumns(const Piece &piece,
                                                                      Reservation &memory) const {
  while (true) {
    std::shared_ptr<const InputFile> input;
    Status status;
    if (ahead) {
      Expected<std::shared_ptr<const InputFile>> taken = ahead->take(piece.unit, memory);
      taken.ok() ? void(input = std::move(*taken)) : void(status = taken.status());
    }
    if (status.ok()) {
      auto columns = piece.parts ? piece.parts->take(piece.number, memory, input)
                                 : loadGroup(piece, memory, input);
      if (columns.ok()) {
        return columns;
      }
      status = columns.status();
    }
    if (!ahead || status.kind() != ErrorKind::kMemory || !ahead->dropAhead()) {
      return status;
    }
  }
}

/// What the row group's morsels need now of the file.
std::vector<ByteRange> ScanSource::rangesOf(const Piece &piece) const {
  if (piece.parts) {
    return piece.parts->rangesNeeded();
  }
  std::vector<ByteRange> ranges;
  for (size_t i = 0; i < piece.columns->stored.size(); ++i) {
    const uint32_t column = piece.columns->stored[i];
    if (!supply.cache->contains(
            {piece.file->number(), piece.rowGroup, column, piece.columns->types[i]})) {
      addRangesOf(*piece.file, piece.rowGroup, column, ranges);
    }
  }
  return ranges;
}

void ScanSource::readAhead(uint64_t bytesMax) {
  ahead = std::make_unique<ReadAhead>(bytesMax);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i == 0 || pieces[i].file != pieces[i - 1].file ||
        pieces[i].rowGroup != pieces[i - 1].rowGroup) {
      ahead->add({[file = pieces[i].file] { return file->input(); },
                  [this, i] { return rangesOf(pieces[i]); }});
    }
    pieces[i].unit = ahead->count() - 1;
  }
}

Status ScanSource::checkPromise(const Piece &piece, size_t column,
                                const EncodedChunk &chunk) const {
  const plan::SlotColumn &promise = slot.columns[column];
  auto place = [&] {
    const uint32_t index = piece.columns->columns[column];
    return index == kGiven ? piece.file->path() + ", column " + promise.file
                           : placeOf(*piece.file, piece.rowGroup, index);
  };
  if (chunk.hasNulls && !promise.nullable) {
    return makeError(
        ErrorKind::kData, place(),
        ": the plan's statistics promise that there is no NULL, but there is; recompile the plan");
  }
  if (promise.ranged && chunk.min <= chunk.max &&
      (chunk.min < promise.min || chunk.max > promise.max)) {
    __int128 value = chunk.min < promise.min ? chunk.min : chunk.max;
    return makeError(ErrorKind::kData, place(), ": the plan's statistics promise values in [",
                     promise.min, ", ", promise.max,
                     "], recompile the plan; found: ", integerText(value));
  }
  return Status();
}

/// The rows of several chunks, one after the other, as one column.
struct JoinedChunks {
  std::vector<HrSegment> segments;

  explicit JoinedChunks(const std::vector<HeldChunkHandle> &chunks) {
    for (const HeldChunkHandle &held : chunks) {
      segments.insert(segments.end(), held->chunk->segments.begin(), held->chunk->segments.end());
    }
  }
};

HrColumn columnOf(const GroupParts::ColumnRows &rows, LoadedMorsel &loaded) {
  HrColumn column = rows.chunks.front()->chunk->column();
  if (rows.chunks.size() > 1) {
    auto joined = std::make_shared<const JoinedChunks>(rows.chunks);
    column.segments = joined->segments.data();
    column.segmentCount = static_cast<uint32_t>(joined->segments.size());
    loaded.pins.push_back(std::move(joined));
  }
  for (const HeldChunkHandle &held : rows.chunks) {
    if (held->chunk->dictionary) { // of all chunks the same
      const HrColumn coded = held->chunk->column();
      column.dictionary = coded.dictionary;
      column.dictionaryCount = coded.dictionaryCount;
      column.dictionaryId = coded.dictionaryId;
    }
  }
  uint64_t skip = rows.skip;
  while (column.segmentCount != 0 && skip >= column.segments->rows) {
    skip -= column.segments->rows;
    ++column.segments;
    --column.segmentCount;
  }
  column.skip = static_cast<uint32_t>(skip);
  return column;
}

/// Pieces of one row group load its chunks together.
void ScanSource::expect(MorselRange more) {
  for (size_t i = more.first; i < more.end; ++i) {
    Piece &piece = pieces[i];
    if (ahead) {
      ahead->expect(piece.unit);
    }
    const uint64_t rows = piece.file->footer().rowGroups[piece.rowGroup].rows;
    if (piece.rows == rows) {
      continue;
    }
    auto neighbour = [&](size_t at) {
      return at < pieces.size() && pieces[at].file == piece.file &&
                     pieces[at].rowGroup == piece.rowGroup
                 ? &pieces[at]
                 : nullptr;
    };
    for (size_t at = i; !piece.parts && neighbour(at); --at) {
      piece.parts = neighbour(at)->parts;
    }
    for (size_t at = i; !piece.parts && neighbour(at); ++at) {
      piece.parts = neighbour(at)->parts;
    }
    if (!piece.parts) {
      piece.parts = std::make_shared<GroupParts>(piece.file, piece.rowGroup, piece.columns->stored,
                                                 piece.columns->types,
                                                 rowsOfPieces(rows, slot.pieceRows), supply);
    }
    piece.parts->expect(piece.number);
  }
}

void ScanSource::leave(MorselRange left) {
  for (size_t i = left.first; i < left.end; ++i) {
    if (pieces[i].parts) {
      pieces[i].parts->leave(pieces[i].number);
    }
    if (ahead) {
      ahead->leave(pieces[i].unit);
    }
  }
}

Expected<MorselHandle> ScanSource::load(size_t index, Reservation &memory) const {
  const Piece &piece = pieces[index];
  HR_ASSIGN_OR_RETURN(std::vector<GroupParts::ColumnRows> columns, loadColumns(piece, memory));
  auto loaded = std::make_shared<LoadedMorsel>();
  loaded->columns.reserve(slot.columns.size());
  auto next = columns.begin();
  for (size_t i = 0; i < slot.columns.size(); ++i) {
    GroupParts::ColumnRows rows;
    if (piece.columns->columns[i] == kGiven) {
      HR_ASSIGN_OR_RETURN(HeldChunkHandle given,
                          givenChunk(piece.columns->given->find(slot.columns[i].file),
                                     slot.columns[i].type, piece.placeInFile, piece.rows, memory));
      rows.chunks.push_back(std::move(given));
    } else {
      rows = std::move(*next++);
    }
    loaded->columns.push_back(columnOf(rows, *loaded));
    const std::shared_ptr<const EncodedChunk> &first = rows.chunks.front()->chunk;
    const bool isKept = first.use_count() > 1; // by the cache, and the morsel
    loaded->origins.push_back({isKept ? first : nullptr, rows.skip});
    if (rows.dictionary) {
      loaded->pins.push_back(std::move(rows.dictionary));
    }
    for (HeldChunkHandle &held : rows.chunks) {
      HR_RETURN_IF_ERROR(checkPromise(piece, i, *held->chunk));
      loaded->bytes += held->chunk->bytes;
      loaded->pins.push_back(std::move(held));
    }
  }
  loaded->morsel.rows = static_cast<uint32_t>(piece.rows);
  loaded->morsel.columnCount = static_cast<uint32_t>(loaded->columns.size());
  loaded->morsel.columns = loaded->columns.data();
  loaded->morsel.firstRow = piece.firstRow;
  loaded->place = piece.place;
  if (ahead) {
    ahead->leave(piece.unit);
  }
  return MorselHandle(std::move(loaded));
}

/// The index of each wanted column in this file, after checking that it is what the plan was
/// compiled for.
Expected<std::unique_ptr<FileColumns>> bindColumns(const plan::Slot &slot, const TableFile &table) {
  const ParquetFile &file = *table.file;
  auto columns = std::make_unique<FileColumns>();
  columns->given = table.given;
  for (const plan::SlotColumn &wanted : slot.columns) {
    const GivenColumn *given = table.given->find(wanted.file);
    if (given && given->type != wanted.logical) {
      return makeError(ErrorKind::kMismatch, file.path(), ", column ", wanted.file, " is ",
                       given->type.text(),
                       ", the plan was compiled for (recompile): ", wanted.logical.text());
    }
    int index = file.columnIndex(wanted.file);
    if (given || (index < 0 && table.given->unionByName)) {
      columns->columns.push_back(kGiven);
      continue;
    }
    if (index < 0) {
      return makeError(ErrorKind::kUser, file.path(), " has no column: ", wanted.file);
    }
    const ParquetColumn &column = file.footer().columns[static_cast<size_t>(index)];
    if (!column.unsupported.empty()) {
      return makeError(ErrorKind::kUnsupported, file.path(), ", column ", wanted.file, ": ",
                       column.unsupported);
    }
    if (!widensTo(column.type, wanted.logical)) {
      return makeError(ErrorKind::kMismatch, file.path(), ", column ", wanted.file, " is ",
                       column.type.text(),
                       ", the plan was compiled for (recompile): ", wanted.logical.text());
    }
    if (!canBe(column.type, wanted.type)) {
      return makeError(ErrorKind::kMismatch, file.path(), ", column ", wanted.file, " of type ",
                       column.type.text(), " cannot be read as: ", typeName(wanted.type));
    }
    columns->columns.push_back(static_cast<uint32_t>(index));
    columns->stored.push_back(static_cast<uint32_t>(index));
    columns->types.push_back(wanted.type);
  }
  return columns;
}

bool survives(const plan::Slot &slot, const TableFile &table, const ParquetRowGroup &group,
              primitives::KeyInterval places) {
  const ParquetFile &file = *table.file;
  const std::string &column = slot.stretches.column;
  const int key = column.empty() || table.given->find(column) ? -1 : file.columnIndex(column);
  if (key >= 0 &&
      !canHaveStretches(slot.stretches.cycle, places, group.chunks[static_cast<size_t>(key)])) {
    return false;
  }
  return std::all_of(slot.bounds.begin(), slot.bounds.end(), [&](const plan::Bound &bound) {
    if (const GivenColumn *given = table.given->find(bound.column)) {
      return given->canSatisfy(bound);
    }
    int index = file.columnIndex(bound.column);
    return index < 0 || canSatisfy(bound, file.footer().columns[static_cast<size_t>(index)],
                                   group.chunks[static_cast<size_t>(index)], group.rows);
  });
}

} // namespace

Expected<std::unique_ptr<MorselSource>> makeScanSource(const plan::Slot &slot,
                                                       std::vector<TableFile> files,
                                                       PageSupply supply, Share share) {
  auto source = std::make_unique<ScanSource>();
  source->slot = slot;
  source->supply = std::move(supply);
  std::vector<uint64_t> rows;
  uint64_t groupBegin = 0; ///< of the next row group, in the table
  for (const TableFile &table : files) {
    const std::shared_ptr<const ParquetFile> &file = table.file;
    HR_ASSIGN_OR_RETURN(std::unique_ptr<FileColumns> columns, bindColumns(slot, table));
    const auto &groups = file->footer().rowGroups;
    const uint64_t fileBegin = groupBegin;
    for (uint32_t g = 0; g < groups.size(); ++g) {
      const uint64_t place = std::exchange(groupBegin, groupBegin + groups[g].rows);
      if (groups[g].rows == 0 || !survives(slot, table, groups[g], share.places)) {
        continue;
      }
      const uint64_t step = rowsOfPieces(groups[g].rows, slot.pieceRows);
      for (uint64_t first = 0; first < groups[g].rows; first += step) {
        rows.push_back(std::min(step, groups[g].rows - first));
        source->pieces.push_back({file,
                                  columns.get(),
                                  g,
                                  static_cast<uint32_t>(first / step),
                                  rows.back(),
                                  0,
                                  place + first,
                                  place + first - fileBegin,
                                  {}});
      }
    }
    source->columnMaps.push_back(std::move(columns));
  }
  source->own = takeShare(source->pieces, rows, share, source->totalRows);
  const bool readsColumns =
      std::any_of(source->columnMaps.begin(), source->columnMaps.end(),
                  [](const auto &columns) { return !columns->stored.empty(); });
  if (readsColumns && std::any_of(files.begin(), files.end(),
                                  [](const TableFile &table) { return table.file->isRemote(); })) {
    source->readAhead(*source->supply.aheadBytesMax);
  }
  source->expect(source->own);
  return std::unique_ptr<MorselSource>(std::move(source));
}

} // namespace headrace::storage
