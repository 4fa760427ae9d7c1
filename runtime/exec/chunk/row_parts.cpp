// A peer's parts come in the order in which it sent them.
#include "runtime/exec/chunk/row_parts.h"

#include "runtime/exec/chunk/chunk_codec.h"

#include <cstring>
#include <utility>

namespace headrace::exec {

Expected<std::shared_ptr<const WholeRow>> RowParts::add(const ExchangeMessage &message) {
  Begun &begun = begun_[static_cast<size_t>(message.peer)];
  const uint64_t whole = rowBytesOf(message.tag);
  const uint64_t bytes = message.body ? static_cast<uint64_t>(message.body.size()) : 0;
  if (whole == 0 && !begun.row) {
    return std::shared_ptr<const WholeRow>();
  }
  if (whole > kRowBytesMax || (begun.row && whole != begun.row->bytes) || bytes == 0 ||
      bytes > whole - begun.filled) {
    return makeError(ErrorKind::kCorrupt, "exchange message: not the next part of a row of ",
                     begun.row ? begun.row->bytes : whole, " bytes, of which ", begun.filled,
                     " are there; got: ", bytes, " of ", whole);
  }
  if (!begun.row) {
    auto row = std::make_shared<WholeRow>();
    HR_ASSIGN_OR_RETURN(row->block, account_->allocate(static_cast<int64_t>(whole)));
    row->account = account_;
    row->bytes = whole;
    begun.row = std::move(row);
  }
  std::memcpy(begun.row->block.data() + begun.filled, message.body.data(), bytes);
  begun.filled += bytes;
  if (begun.filled < whole) {
    return std::shared_ptr<const WholeRow>();
  }
  return std::shared_ptr<const WholeRow>(std::exchange(begun, Begun()).row);
}

} // namespace headrace::exec
