// Arrow's streams over our files.
#include "runtime/storage/csv/byte_reader.h"

#include <algorithm>
#include <arrow/buffer.h>
#include <arrow/io/compressed.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/compression.h>

namespace headrace::storage {
namespace {

/// Keeps our error, which says more than Arrow's.
class FileStream final : public arrow::io::InputStream {
public:
  explicit FileStream(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {}

  const InputFile &file() const { return *file_; }
  const Status &trouble() const { return trouble_; }

  arrow::Result<int64_t> Read(int64_t bytes, void *out) override {
    const uint64_t count = std::min(static_cast<uint64_t>(bytes), file_->bytes() - at_);
    trouble_ = file_->read(at_, count, out);
    if (!trouble_.ok()) {
      return arrow::Status::IOError("");
    }
    at_ += count;
    return static_cast<int64_t>(count);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(bytes));
    ARROW_ASSIGN_OR_RAISE(const int64_t count, Read(bytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(count));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return static_cast<int64_t>(at_); }

private:
  const std::shared_ptr<const InputFile> file_;
  uint64_t at_ = 0;
  Status trouble_;
};

class StreamReader final : public ByteReader {
public:
  StreamReader(std::shared_ptr<FileStream> file, std::shared_ptr<arrow::util::Codec> codec,
               std::shared_ptr<arrow::io::InputStream> stream)
      : file_(std::move(file)), codec_(std::move(codec)), stream_(std::move(stream)) {}

  Expected<size_t> read(std::span<char> out) override {
    arrow::Result<int64_t> read = stream_->Read(static_cast<int64_t>(out.size()), out.data());
    HR_RETURN_IF_ERROR(Status(file_->trouble()));
    if (!read.ok()) {
      return makeError(ErrorKind::kCorrupt, file_->file().path(),
                       ": what is compressed cannot be decompressed: ", read.status().message());
    }
    return static_cast<size_t>(*read);
  }

private:
  const std::shared_ptr<FileStream> file_;
  const std::shared_ptr<arrow::util::Codec> codec_; ///< which the stream uses
  const std::shared_ptr<arrow::io::InputStream> stream_;
};

} // namespace

Expected<std::unique_ptr<ByteReader>> readBytes(std::shared_ptr<const InputFile> input,
                                                const std::string &compression) {
  auto file = std::make_shared<FileStream>(std::move(input));
  std::shared_ptr<arrow::util::Codec> codec;
  std::shared_ptr<arrow::io::InputStream> stream = file;
  if (!compression.empty()) {
    auto kind = arrow::util::Codec::GetCompressionType(compression);
    auto made = kind.ok() ? arrow::util::Codec::Create(*kind) : kind.status();
    if (made.ok()) {
      codec = *std::move(made);
      auto decompressed = arrow::io::CompressedInputStream::Make(codec.get(), file);
      if (decompressed.ok()) {
        stream = *std::move(decompressed);
      }
    }
    if (stream == file) {
      // no test: the package names gzip and zstd alone
      return makeError(ErrorKind::kUnsupported, "a file of this compression: ", compression);
    }
  }
  return std::unique_ptr<ByteReader>(
      std::make_unique<StreamReader>(std::move(file), std::move(codec), std::move(stream)));
}

} // namespace headrace::storage
