// Quantiles of frames: the elements at their places among the frame's in order, and what is between
// these.
#include "runtime/base/list_values.h"
#include "runtime/base/stop.h"
#include "runtime/exec/rows/field_values.h"
#include "runtime/exec/window/window_functions.h"
#include "runtime/primitives/string/string.h"

namespace headrace::exec {

Status WindowFunctions::computeQuantiles(const plan::WindowColumn &window, size_t number) {
  if (window.distinct) {
    return computeDistinctQuantiles(window, number);
  }
  return computeLists(window, [&](const Frames::Pieces &pieces, uint32_t row) {
    return setQuantiles(window, row, order_.size(pieces),
                        [&](uint32_t n) { return order_.nth(pieces, n); });
  });
}

Status WindowFunctions::computeDistinctQuantiles(const plan::WindowColumn &window, size_t number) {
  HR_RETURN_IF_ERROR(
      distinct_.number(orders_[number], field(window.input), *partition_, frames_.seen()));
  HR_RETURN_IF_ERROR(presentValues_.begin(distinct_.size()));
  Status status;
  distinct_.follow(
      frames_, part_, [&](uint32_t row) { presentValues_.add(distinct_.numberOf(row)); },
      [&](uint32_t row) { presentValues_.remove(distinct_.numberOf(row)); },
      [&](uint32_t row) {
        if (status.ok()) {
          copyValue(window, row, nullptr, window.input);
          status = setQuantiles(window, row, distinct_.count(),
                                [&](uint32_t n) { return distinct_.rowOf(presentValues_.nth(n)); });
        }
      });
  return status;
}

template <typename RowAt>
Status WindowFunctions::setQuantiles(const plan::WindowColumn &window, uint32_t row, uint32_t count,
                                     const RowAt &rowAt) {
  if (count == 0) {
    return {};
  }
  auto listAt = [&](uint64_t n) {
    const uint8_t *from = partition_->rowAt(rowAt(static_cast<uint32_t>(n)));
    const auto text = valueIn<HrString>(field(window.input), from);
    return ListView({reinterpret_cast<const char *>(text.data), text.length});
  };
  quantiles_.clear();
  uint64_t texts = 0;
  for (const QuantileShare share : window.shares) {
    const QuantilePlace place = quantilePlace(share, window.quantileKind, count);
    const ListView low = listAt(place.at), high = place.rest > 0 ? listAt(place.at + 1) : low;
    if (low.size() != 1 || high.size() != 1) {
      return makeError(ErrorKind::kData, "a quantile is of lists of one element, got ", low.size(),
                       " and ", high.size());
    }
    auto found =
        elementBetween(window.quantileKind, low.code(), low.bytes(0), high.bytes(0), place.rest);
    if (!found) {
      return makeError(ErrorKind::kData,
                       "intervals of more than 64 bits have no interval between them");
    }
    texts += found->bytes().size();
    quantiles_.push_back(std::move(*found));
  }
  const uint32_t code = quantiles_.front().code;
  const uint64_t bytes = ListWriter::bytesOf(code, quantiles_.size(), texts);
  if (bytes > UINT32_MAX) {
    // no test: it takes texts of 4 GiB
    return makeError(ErrorKind::kUnsupported, "a list of more than 4 GiB");
  }
  HR_ASSIGN_OR_RETURN(uint8_t *memory, lists_.allocate(static_cast<int64_t>(bytes), 1));
  ListWriter writer(reinterpret_cast<char *>(memory), code,
                    static_cast<uint32_t>(quantiles_.size()));
  for (const QuantileElement &quantile : quantiles_) {
    writer.add(quantile.bytes());
  }
  uint8_t *to = partition_->rows[row];
  setValue(field(window.result), to, primitives::makeString(memory, static_cast<uint32_t>(bytes)));
  setValid(field(window.result), to, true);
  return {};
}

} // namespace headrace::exec
