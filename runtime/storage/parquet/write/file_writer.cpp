// Rounds of rows: the columns are encoded side by side, then the pages that have ended compressed.
#include "runtime/storage/parquet/write/file_writer.h"

#include "runtime/base/thread_team.h"
#include "runtime/base/version.h"
#include "runtime/storage/parquet/codec.h"
#include "runtime/storage/parquet/write/column_encoder.h"
#include "runtime/storage/parquet/write/leaf_rows.h"
#include "runtime/storage/parquet/write/table_schema.h"

#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/util/compression.h>
#include <chrono>
#include <exception>
#include <numeric>
#include <parquet/column_page.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/properties.h>
#include <utility>
#include <vector>

namespace headrace::storage {
namespace {

/// A round has about so many rows, or so many batches: those of large rows have few.
constexpr uint64_t kRoundRows = 1 << 15, kRoundBatches = 16;

/// A page, as it is before compression, is this part of a row group, within bounds.
constexpr uint64_t kPagesOfRowGroup = 16, kPageBytesMin = 64 << 10, kPageBytesMax = 1 << 20;

/// A sink as Arrow's writers know them, which throw what it says.
class SinkStream final : public arrow::io::OutputStream {
public:
  explicit SinkStream(ByteSink &sink) : sink_(sink) {}

  arrow::Status Write(const void *data, int64_t bytes) override {
    if (status_.ok()) {
      status_ = sink_.write({static_cast<const char *>(data), static_cast<size_t>(bytes)});
    }
    position_ += bytes;
    return status_.ok() ? arrow::Status::OK() : arrow::Status::IOError(status_.message());
  }
  arrow::Status Close() override { return arrow::Status::OK(); }
  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return false; }
  /// What it said when it failed.
  const Status &status() const { return status_; }

private:
  ByteSink &sink_;
  Status status_;
  int64_t position_ = 0;
};

/// A column of the table and where its leaves begin among all.
struct Column {
  std::string name;
  bool isNullable = false;
  size_t firstLeaf = 0, leaves = 0;
  std::chrono::nanoseconds took{}; ///< its last round
  Status status;
};

class Writer {
public:
  Writer(const arrow::Schema &schema, const TableSchema &table,
         std::shared_ptr<parquet::WriterProperties> properties, int codec, ByteSink &sink,
         const ParquetOutput &output)
      : output_(output), codec_(codec), properties_(std::move(properties)), table_(table),
        stream_(std::make_shared<SinkStream>(sink)), team_(output.threads),
        metadata_(parquet::FileMetaDataBuilder::Make(table.parquet.get(), properties_)),
        indexes_(parquet::PageIndexBuilder::Make(table.parquet.get())) {
    const uint64_t pageBytes =
        std::clamp(output.rowGroupBytes / kPagesOfRowGroup, kPageBytesMin, kPageBytesMax);
    for (int leaf = 0; leaf < table.parquet->num_columns(); ++leaf) {
      encoders_.push_back(ColumnEncoder::make(*table.parquet->Column(leaf), pageBytes));
    }
    for (int i = 0; i < schema.num_fields(); ++i) {
      Column &column = columns_.emplace_back();
      column.name = schema.field(i)->name();
      column.isNullable = schema.field(i)->nullable();
    }
    for (int leaf = 0; leaf < table.parquet->num_columns(); ++leaf) {
      const parquet::schema::Node *root = table.parquet->GetColumnRoot(leaf);
      const int index = table.parquet->group_node()->FieldIndex(*root);
      Column &column = columns_[static_cast<size_t>(index)];
      column.firstLeaf = column.leaves++ == 0 ? static_cast<size_t>(leaf) : column.firstLeaf;
    }
  }

  Expected<uint64_t> write(arrow::RecordBatchReader &reader) {
    try {
      return writeAll(reader);
    } catch (const std::exception &error) { // of Parquet's library
      return stream_->status().ok()
                 ? makeError(ErrorKind::kIo, "cannot write Parquet: ", error.what())
                 : stream_->status();
    }
  }

private:
  Expected<uint64_t> writeAll(arrow::RecordBatchReader &reader) {
    writeText("PAR1");
    uint64_t rows = 0;
    for (;;) {
      std::shared_ptr<arrow::RecordBatch> batch;
      if (arrow::Status status = reader.ReadNext(&batch); !status.ok()) {
        return makeError(ErrorKind::kUser, "the Arrow stream failed: ", status.message());
      }
      if (!batch) {
        break;
      }
      rows += static_cast<uint64_t>(batch->num_rows());
      while (batch->num_rows() > 0) {
        const auto room = static_cast<int64_t>(output_.rowGroupRows - groupRows_);
        HR_RETURN_IF_ERROR(add(batch->Slice(0, room)));
        batch = batch->Slice(std::min(room, batch->num_rows()));
      }
    }
    HR_RETURN_IF_ERROR(endRowGroup());
    indexes_->Finish();
    const auto locations = indexes_->WriteTo(stream_.get());
    metadata_->SetIndexLocations(parquet::IndexKind::kColumnIndex,
                                 locations.column_index_locations);
    metadata_->SetIndexLocations(parquet::IndexKind::kOffsetIndex,
                                 locations.offset_index_locations);
    parquet::WriteFileMetaData(*metadata_->Finish(table_.metadata), stream_.get());
    return rows;
  }

  void writeText(std::string_view text) {
    if (!stream_->Write(text.data(), static_cast<int64_t>(text.size())).ok()) {
      throw parquet::ParquetException("no write");
    }
  }

  Status add(std::shared_ptr<arrow::RecordBatch> batch) {
    const auto rows = static_cast<uint64_t>(batch->num_rows());
    groupRows_ += rows;
    roundRows_ += rows;
    round_.push_back(std::move(batch));
    if (roundRows_ >= kRoundRows || round_.size() == kRoundBatches) {
      HR_RETURN_IF_ERROR(encodeRound());
    }
    return groupRows_ == output_.rowGroupRows || bytes() >= output_.rowGroupBytes ? endRowGroup()
                                                                                  : Status();
  }

  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const auto &encoder : encoders_) {
      bytes += encoder->bytes();
    }
    return bytes;
  }

  Status encodeRound() {
    // Those that take longest begin first, so that all threads end together.
    std::vector<size_t> order(columns_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return columns_[a].took > columns_[b].took; });
    team_.run(order.size(), [&](size_t i) { encode(order[i]); });
    round_.clear();
    roundRows_ = 0;
    for (const Column &column : columns_) {
      HR_RETURN_IF_ERROR(named(column, column.status));
    }
    std::vector<WrittenPage *> pages;
    for (const auto &encoder : encoders_) {
      addPlain(encoder->pages(), pages);
    }
    return compress(pages);
  }

  static Status named(const Column &column, const Status &status) {
    return status.ok() ? status
                       : makeError(status.kind(), "cannot write Parquet: column ", column.name,
                                   ": ", status.message());
  }

  void encode(size_t index) {
    Column &column = columns_[index];
    const auto begin = std::chrono::steady_clock::now();
    for (const auto &batch : round_) {
      const std::vector<LeafRows> leaves =
          leavesOf(batch->column(static_cast<int>(index)), column.isNullable);
      for (size_t leaf = 0; leaf < leaves.size() && column.status.ok(); ++leaf) {
        column.status = encoders_[column.firstLeaf + leaf]->append(leaves[leaf]);
      }
    }
    column.took = std::chrono::steady_clock::now() - begin;
  }

  void addPlain(std::vector<WrittenPage> &pages, std::vector<WrittenPage *> &out) const {
    for (WrittenPage &page : pages) {
      if (codec_ != kCodecNone && !page.isCompressed) {
        out.push_back(&page);
      }
    }
  }

  Status compress(const std::vector<WrittenPage *> &pages) {
    std::vector<Status> failures(pages.size());
    team_.run(pages.size(), [&](size_t i) {
      WrittenPage &page = *pages[i];
      Expected<std::vector<uint8_t>> made = compressWithArrow(codec_, page.bytes, output_.level);
      if (made.ok()) {
        page.bytes = *std::move(made);
        page.isCompressed = true;
      } else {
        failures[i] = made.status();
      }
    });
    for (const Status &failure : failures) {
      HR_RETURN_IF_ERROR(failure);
    }
    return Status();
  }

  Status endRowGroup() {
    if (groupRows_ == 0) {
      return Status();
    }
    HR_RETURN_IF_ERROR(encodeRound());
    std::vector<WrittenChunk> chunks;
    for (const Column &column : columns_) {
      for (size_t leaf = column.firstLeaf; leaf < column.firstLeaf + column.leaves; ++leaf) {
        Expected<WrittenChunk> chunk = encoders_[leaf]->finish();
        HR_RETURN_IF_ERROR(named(column, chunk.status()));
        chunks.push_back(*std::move(chunk));
      }
    }
    std::vector<WrittenPage *> pages;
    for (WrittenChunk &chunk : chunks) {
      addPlain(chunk.pages, pages);
    }
    HR_RETURN_IF_ERROR(compress(pages));
    parquet::RowGroupMetaDataBuilder *group = metadata_->AppendRowGroup();
    group->set_num_rows(static_cast<int64_t>(groupRows_));
    indexes_->AppendRowGroup();
    int64_t written = 0;
    for (size_t leaf = 0; leaf < chunks.size(); ++leaf) {
      written += writeChunk(static_cast<int>(leaf), chunks[leaf], *group);
    }
    group->Finish(written, ordinal(rowGroups_++));
    groupRows_ = 0;
    return Status();
  }

  /// As footers have it, for those that have one.
  static int16_t ordinal(uint64_t number) {
    return number <= INT16_MAX ? static_cast<int16_t>(number) : int16_t{-1};
  }

  /// The bytes of its pages.
  int64_t writeChunk(int leaf, const WrittenChunk &chunk, parquet::RowGroupMetaDataBuilder &group) {
    parquet::ColumnChunkMetaDataBuilder *metadata = group.NextColumnChunk();
    metadata->SetStatistics(chunk.statistics);
    auto pages = parquet::PageWriter::Open(
        stream_, properties_->compression(metadata->descr()->path()), metadata, ordinal(rowGroups_),
        ordinal(static_cast<uint64_t>(leaf)), arrow::default_memory_pool(),
        /*buffered_row_group=*/false, nullptr, nullptr, /*page_write_checksum_enabled=*/false,
        indexes_->GetColumnIndexBuilder(leaf), indexes_->GetOffsetIndexBuilder(leaf));
    auto bufferOf = [](const WrittenPage &page) {
      return std::make_shared<arrow::Buffer>(page.bytes.data(),
                                             static_cast<int64_t>(page.bytes.size()));
    };
    if (chunk.dictionary) {
      pages->WriteDictionaryPage({bufferOf(*chunk.dictionary),
                                  static_cast<int32_t>(chunk.dictionary->entries),
                                  parquet::Encoding::PLAIN});
    }
    bool hasPlain = false;
    for (const WrittenPage &page : chunk.pages) {
      hasPlain |= page.encoding == parquet::Encoding::PLAIN;
      pages->WriteDataPage(parquet::DataPageV1(
          bufferOf(page), static_cast<int32_t>(page.entries), page.encoding, parquet::Encoding::RLE,
          parquet::Encoding::RLE, static_cast<int64_t>(page.plainBytes), page.statistics,
          static_cast<int64_t>(page.firstRow)));
    }
    pages->Close(chunk.dictionary.has_value(), chunk.dictionary.has_value() && hasPlain);
    return pages->total_compressed_bytes_written();
  }

  const ParquetOutput &output_;
  const int codec_;
  const std::shared_ptr<parquet::WriterProperties> properties_;
  const TableSchema &table_;
  const std::shared_ptr<SinkStream> stream_;
  ThreadTeam team_;
  std::unique_ptr<parquet::FileMetaDataBuilder> metadata_;
  std::unique_ptr<parquet::PageIndexBuilder> indexes_;
  std::vector<std::unique_ptr<ColumnEncoder>> encoders_; ///< by leaf
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> round_;
  uint64_t roundRows_ = 0, groupRows_ = 0, rowGroups_ = 0;
};

} // namespace

Expected<uint64_t> writeParquet(ArrowArrayStream *stream, ByteSink &sink,
                                const ParquetOutput &output) {
  auto reader = arrow::ImportRecordBatchReader(stream);
  if (!reader.ok()) {
    return makeError(ErrorKind::kUser,
                     "cannot import the Arrow stream: ", reader.status().message());
  }
  HR_ASSIGN_OR_RETURN(const int codec, codecNamed(output.codec));
  HR_ASSIGN_OR_RETURN(const arrow::Compression::type compression, arrowCodec(codec));
  parquet::WriterProperties::Builder builder;
  builder.created_by(std::string("headrace version ") + version())
      ->version(parquet::ParquetVersion::PARQUET_2_6)
      ->compression(compression)
      ->enable_store_decimal_as_integer();
  if (output.level != 0) {
    builder.compression_level(output.level);
  }
  const std::shared_ptr<parquet::WriterProperties> properties = builder.build();
  const std::shared_ptr<arrow::Schema> schema = (*reader)->schema();
  HR_ASSIGN_OR_RETURN(const TableSchema table, tableSchema(*schema, *properties));
  Writer writer(*schema, table, properties, codec, sink, output);
  return writer.write(**reader);
}

} // namespace headrace::storage
