// A piece is read at once, the places of the wanted values are found, and their columns read one by
// one.
#include "runtime/storage/csv/csv_source.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/columns/held_chunk.h"
#include "runtime/storage/columns/share.h"
#include "runtime/storage/csv/csv_column.h"
#include "runtime/storage/csv/structure.h"
#include "runtime/storage/files/read_ahead.h"

#include <algorithm>

namespace headrace::storage {
namespace {

constexpr uint32_t kNotWanted = ~uint32_t{0};

/// The places of wanted values in one piece.
class PieceFields {
public:
  /// `places`: for each column of the file its place among the wanted ones, or kNotWanted.
  PieceFields(const CsvFile &file, const CsvPiece &piece, const std::vector<uint32_t> &places,
              size_t wanted)
      : columns(wanted), file_(file), piece_(piece), places_(places) {
    for (std::vector<CsvField> &column : columns) {
      column.reserve(piece.rows);
    }
  }

  Status find(const uint8_t *data);
  std::vector<std::vector<CsvField>> columns;

  static uint64_t bytes(const CsvPiece &piece, size_t wanted) {
    return piece.rows * wanted * sizeof(CsvField);
  }

private:
  Status ends(const uint8_t *data, uint32_t at, bool line);
  const CsvFile &file_;
  const CsvPiece &piece_;
  const std::vector<uint32_t> &places_;
  uint32_t begin_ = 0;
  size_t column_ = 0;
};

uint64_t lineOf(const CsvPiece &piece, const uint8_t *data, uint64_t at) {
  return piece.firstLine + static_cast<uint64_t>(std::count(data, data + at, '\n'));
}

/// A value ends before the byte `at`, and with it a record if that is a line end.
inline Status PieceFields::ends(const uint8_t *data, uint32_t at, bool line) {
  uint32_t end = at;
  if (line) {
    end -= end > begin_ && data[end - 1] == '\r';
    if (column_ == 0 && end == begin_ && !file_.format().emptyLinesCount()) {
      begin_ = at + 1;
      return Status();
    }
  }
  if (column_ < places_.size() && places_[column_] != kNotWanted) {
    columns[places_[column_]].push_back({begin_, end});
  }
  ++column_;
  if (line || column_ > places_.size()) {
    if (column_ != places_.size()) {
      return makeError(
          ErrorKind::kData, file_.path(), ", line ", lineOf(piece_, data, begin_), ": wanted ",
          places_.size(),
          " values (if the separator or the quote is another one, set delim or quote), got: ",
          column_, column_ > places_.size() ? " or more" : "");
    }
    column_ = 0;
  }
  begin_ = at + 1;
  return Status();
}

Status PieceFields::find(const uint8_t *data) {
  const CsvFormat &format = file_.format();
  uint64_t carried = 0; // all ones within quotes
  for (uint64_t at = 0; at < piece_.bytes; at += 64) {
    const uint64_t within = lowBits(piece_.bytes - at);
    const uint64_t lines = bytesEqual(data + at, '\n');
    uint64_t found = (bytesEqual(data + at, format.separator) | lines) & within;
    const uint64_t quotes = format.quote ? bytesEqual(data + at, format.quote) & within : 0;
    if (quotes | carried) {
      const uint64_t inside = prefixXor(quotes) ^ carried;
      carried = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
      found &= ~inside;
    }
    for (; found; found &= found - 1) {
      const auto place = static_cast<uint32_t>(__builtin_ctzll(found));
      HR_RETURN_IF_ERROR(ends(data, static_cast<uint32_t>(at) + place, lines >> place & 1));
    }
  }
  if (column_ != 0 || begin_ < piece_.bytes) { // no line end behind the last record
    return ends(data, static_cast<uint32_t>(piece_.bytes), true);
  }
  return Status();
}

struct Piece {
  std::shared_ptr<const CsvFile> file;
  const std::vector<uint32_t> *places; ///< by column of the file
  CsvPiece part;
  uint64_t firstRow = 0; ///< within this rank's share
  uint64_t place = 0;    ///< of its first row in the table
  uint64_t placeInFile = 0;
};

class CsvSource final : public MorselSource {
public:
  plan::Slot slot;
  std::vector<std::unique_ptr<std::vector<uint32_t>>> places; ///< by file and column of it
  std::vector<Piece> pieces;
  uint64_t totalRows = 0;
  MorselRange own;
  std::unique_ptr<ReadAhead> ahead; ///< of remote files; units are pieces

  size_t morselCount() const override { return pieces.size(); }
  uint64_t rows(size_t index) const override { return pieces[index].part.rows; }
  uint64_t rows() const override { return totalRows; }
  MorselRange share() const override { return own; }
  void expect(MorselRange more) override {
    for (size_t i = more.first; ahead && i < more.end; ++i) {
      ahead->expect(i);
    }
  }
  void leave(MorselRange left) override {
    for (size_t i = left.first; ahead && i < left.end; ++i) {
      ahead->leave(i);
    }
  }
  Expected<MorselHandle> load(size_t index, Reservation &memory) const override;

private:
  Status mistaken(const Piece &piece, const plan::SlotColumn &column, const CsvMistake &mistake,
                  const uint8_t *data, uint64_t at) const;
};

Status CsvSource::mistaken(const Piece &piece, const plan::SlotColumn &column,
                           const CsvMistake &mistake, const uint8_t *data, uint64_t at) const {
  return makeError(
      ErrorKind::kData, piece.file->path(), ", line ", lineOf(piece.part, data, at), ", column ",
      column.file, ": the value ", mistake.text,
      mistake.isType
          ? "; types={'" + column.file +
                "': 'VARCHAR'} reads texts, nullstr makes a value NULL, and sample_size=-1 "
                "finds types in all rows"
          : "");
}

Expected<MorselHandle> CsvSource::load(size_t index, Reservation &memory) const {
  const Piece &piece = pieces[index];
  const CsvPiece &part = piece.part;
  HR_ASSIGN_OR_RETURN(Charge textCharge,
                      Charge::take(memory, static_cast<int64_t>(part.bytes + HR_PADDING)));
  HR_ASSIGN_OR_RETURN(
      Charge placesCharge,
      Charge::take(memory, static_cast<int64_t>(PieceFields::bytes(part, slot.columns.size()))));
  PaddedBuffer buffer(part.bytes);
  if (!buffer) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "no memory for a piece of CSV, bytes: ", part.bytes);
  }
  uint8_t *data = buffer.data();
  std::shared_ptr<const InputFile> input;
  if (ahead) {
    HR_ASSIGN_OR_RETURN(input, ahead->take(index, memory));
  } else {
    HR_ASSIGN_OR_RETURN(input, piece.file->input());
  }
  HR_RETURN_IF_ERROR(input->read(part.offset, part.bytes, data));
  PieceFields fields(*piece.file, part, *piece.places, slot.columns.size());
  HR_RETURN_IF_ERROR(fields.find(data));
  auto isStored = [&](size_t column) {
    return std::find(piece.places->begin(), piece.places->end(), column) != piece.places->end();
  };
  for (size_t i = 0; i < fields.columns.size(); ++i) {
    if (isStored(i) && fields.columns[i].size() != part.rows) {
      return makeError(ErrorKind::kIo,
                       "the file has changed while it was read: ", piece.file->path());
    }
  }
  auto text = std::make_shared<const PaddedBuffer>(std::move(buffer));

  auto loaded = std::make_shared<LoadedMorsel>();
  loaded->columns.reserve(slot.columns.size());
  for (size_t i = 0; i < slot.columns.size(); ++i) {
    const plan::SlotColumn &column = slot.columns[i];
    if (!isStored(i)) {
      HR_ASSIGN_OR_RETURN(HeldChunkHandle given,
                          givenChunk(piece.file->given().find(column.file), column.type,
                                     piece.placeInFile, part.rows, memory));
      loaded->columns.push_back(given->chunk->column());
      loaded->bytes += given->chunk->bytes;
      loaded->pins.push_back(std::move(given));
      continue;
    }
    const uint64_t bytes = part.rows * abi::bytesOf(column.type) + part.rows / 8 + 4 * HR_PADDING;
    HR_ASSIGN_OR_RETURN(Charge charge, Charge::take(memory, static_cast<int64_t>(bytes)));
    if (column.type == HR_STRING && textCharge.bytes() != 0) { // the texts live as long as it does
      charge.add(std::move(textCharge));
      textCharge = Charge();
    }
    auto chunk = std::make_shared<EncodedChunk>();
    CsvMistake mistake;
    if (!readCsvColumn(piece.file->format(), column, fields.columns[i], text, data, *chunk,
                       mistake)) {
      return mistaken(piece, column, mistake, data, fields.columns[i][mistake.row].begin);
    }
    auto held = std::make_shared<const HeldChunk>(HeldChunk{std::move(charge), std::move(chunk)});
    loaded->columns.push_back(held->chunk->column());
    loaded->bytes += bytes;
    loaded->pins.push_back(std::move(held));
  }
  loaded->morsel.rows = static_cast<uint32_t>(part.rows);
  loaded->morsel.columnCount = static_cast<uint32_t>(loaded->columns.size());
  loaded->morsel.columns = loaded->columns.data();
  loaded->morsel.firstRow = piece.firstRow;
  loaded->place = piece.place;
  if (ahead) {
    ahead->leave(index);
  }
  return MorselHandle(std::move(loaded));
}

} // namespace

namespace {

/// The columns of a table and their types: those of the first file, under union_by_name of all.
nlohmann::json columnsOf(const CsvFiles &files) {
  nlohmann::json columns = nlohmann::json::object();
  const bool unites = files.front()->given().unionByName;
  for (const std::shared_ptr<const CsvFile> &file : files) {
    const CsvFormat &format = file->format();
    for (size_t i = 0; i < format.columns.size(); ++i) {
      if ((file == files.front() || unites) && !columns.contains(format.columns[i])) {
        const size_t index = columns.size();
        columns[format.columns[i]] = unknownColumn(index, format.types[i], /*nullable=*/true);
      }
    }
  }
  return columns;
}

/// By column of the file its place among those of the slot.
Expected<std::unique_ptr<std::vector<uint32_t>>> placesIn(const plan::Slot &slot,
                                                          const CsvFile &file) {
  const std::vector<std::string> &names = file.format().columns;
  auto places = std::make_unique<std::vector<uint32_t>>(names.size(), kNotWanted);
  for (size_t i = 0; i < slot.columns.size(); ++i) {
    const plan::SlotColumn &wanted = slot.columns[i];
    const auto found = std::find(names.begin(), names.end(), wanted.file);
    const bool given = file.given().find(wanted.file) != nullptr;
    if (found == names.end() && !given && !file.given().unionByName) {
      return makeError(ErrorKind::kUser, file.path(), " has no column: ", wanted.file);
    }
    if (!canBe(wanted.logical, wanted.type)) {
      return makeError(ErrorKind::kMismatch, file.path(), ", column ", wanted.file, " of type ",
                       wanted.logical.text(), " cannot be read as: ", typeName(wanted.type));
    }
    if (found != names.end() && !given) {
      (*places)[static_cast<size_t>(found - names.begin())] = static_cast<uint32_t>(i);
    }
  }
  return places;
}

} // namespace

nlohmann::json csvStatistics(const CsvFiles &files) {
  uint64_t rows = 0, bytes = 0, pieces = 0;
  std::vector<FileIdentity> manifest;
  std::vector<std::pair<uint64_t, const GivenColumns *>> given;
  for (const std::shared_ptr<const CsvFile> &file : files) {
    given.emplace_back(0, &file->given());
    pieces += file->pieces().size();
    for (const CsvPiece &piece : file->pieces()) {
      given.back().first += piece.rows;
      bytes += piece.bytes;
    }
    rows += given.back().first;
    manifest.push_back(file->identity());
  }
  nlohmann::json columns = columnsOf(files), unsupported = nlohmann::json::object();
  const double width =
      static_cast<double>(bytes) /
      static_cast<double>(std::max<uint64_t>(1, rows * std::max<size_t>(1, columns.size())));
  for (nlohmann::json &column : columns) {
    column["average_bytes"] = width;
  }
  describeGiven(given, columns, unsupported);
  return {{"rows", rows},
          {"row_groups", pieces},
          {"identity", toJson(manifest)},
          {"columns", std::move(columns)},
          {"unsupported", std::move(unsupported)}};
}

Expected<std::unique_ptr<MorselSource>> makeCsvSource(const plan::Slot &slot, CsvFiles files,
                                                      Share share, uint64_t aheadBytesMax) {
  auto source = std::make_unique<CsvSource>();
  source->slot = slot;
  std::vector<uint64_t> rows;
  uint64_t place = 0;
  for (const std::shared_ptr<const CsvFile> &file : files) {
    HR_ASSIGN_OR_RETURN(auto places, placesIn(slot, *file));
    const bool survives = file->given().canSatisfy(slot.bounds);
    const uint64_t first = place;
    for (const CsvPiece &piece : file->pieces()) {
      if (survives) {
        source->pieces.push_back({file, places.get(), piece, 0, place, place - first});
        rows.push_back(piece.rows);
      }
      place += piece.rows;
    }
    source->places.push_back(std::move(places));
  }
  source->own = takeShare(source->pieces, rows, share, source->totalRows);
  if (std::any_of(files.begin(), files.end(), [](const auto &file) { return file->isRemote(); })) {
    source->ahead = std::make_unique<ReadAhead>(aheadBytesMax);
    for (const Piece &piece : source->pieces) {
      source->ahead->add(
          {[file = piece.file] { return file->input(); },
           [part = piece.part] { return std::vector<ByteRange>{{part.offset, part.bytes}}; }});
    }
    source->expect(source->own);
  }
  return std::unique_ptr<MorselSource>(std::move(source));
}

} // namespace headrace::storage
