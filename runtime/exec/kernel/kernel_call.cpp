// Literal blocks, calls, and the text of kernel errors.
#include "runtime/exec/kernel/kernel_call.h"

#include "runtime/exec/kernel/imports.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

/// What of a scratch is zero at the first call for a morsel.
constexpr int64_t kHeadBytes = 8 * (1 + HR_COUNTED_STAGES);

const char *errorText(int32_t code) {
  switch (code) {
  case HR_ERROR_OVERFLOW:
    return "number out of range";
  case HR_ERROR_DIVISION_BY_ZERO:
    return "division by zero";
  case HR_ERROR_INVALID_CAST:
    return "value cannot be cast";
  case HR_ERROR_MORE_THAN_ONE_ROW:
    return "scalar subquery returned more than one row";
  case HR_ERROR_RAISED:
    return "the query raised an error";
  case HR_ERROR_CORRUPT:
    return "encoded data does not decode";
  case HR_ERROR_RANGE:
    return "value outside the range that the statistics promised; recompile with fresh statistics";
  default:
    return "kernel failed";
  }
}

ErrorKind errorKind(int32_t code) {
  switch (code) {
  case HR_ERROR_OVERFLOW:
  case HR_ERROR_DIVISION_BY_ZERO:
  case HR_ERROR_INVALID_CAST:
  case HR_ERROR_MORE_THAN_ONE_ROW:
  case HR_ERROR_RAISED:
    return ErrorKind::kData;
  case HR_ERROR_CORRUPT:
    return ErrorKind::kCorrupt;
  case HR_ERROR_RANGE:
    return ErrorKind::kMismatch;
  default:
    return ErrorKind::kInternal;
  }
}

HrString stringLiteral(const std::string &text, size_t length) {
  HrString value{};
  value.length = static_cast<uint32_t>(length);
  std::memcpy(value.prefix, text.data(), std::min<size_t>(length, 4));
  value.data = reinterpret_cast<const uint8_t *>(text.data());
  return value;
}

} // namespace

Expected<std::unique_ptr<KernelCall>> KernelCall::resolve(const plan::Plan &plan, int32_t kernel,
                                                          const KernelLibrary &library) {
  auto call = std::make_unique<KernelCall>();
  call->plan_ = &plan;
  call->kernel_ = &plan.kernels[kernel];
  const plan::Kernel &described = *call->kernel_;
  const bool hasEntry = described.threads == 0;
  call->symbol_ = hasEntry ? library.find(described.symbol) : nullptr;
  if (hasEntry && !call->symbol_) {
    return makeError(ErrorKind::kMismatch, "kernels lack a symbol of the plan: ", described.symbol);
  }
  call->literals_.resize(described.literalBytes / 16 + 1);
  auto *block = reinterpret_cast<uint8_t *>(call->literals_.data());
  call->texts_.reserve(described.literals.size());
  for (const plan::Literal &literal : described.literals) {
    uint8_t *at = block + literal.offset;
    switch (literal.kind) {
    case plan::LiteralKind::kInteger:
      std::memcpy(at, &literal.integer, 8);
      break;
    case plan::LiteralKind::kI128:
      std::memcpy(at, &literal.integer, 8);
      std::memcpy(at + 8, &literal.high, 8);
      break;
    case plan::LiteralKind::kReal:
      std::memcpy(at, &literal.real, 8);
      break;
    case plan::LiteralKind::kString: {
      call->texts_.push_back(literal.text + std::string(HR_PADDING, '\0'));
      HrString value = stringLiteral(call->texts_.back(), literal.text.size());
      std::memcpy(at, &value, sizeof value);
      break;
    }
    }
  }
  return call;
}

Status KernelCall::error(const HrError &error, const Status &cause) const {
  auto text = [&](size_t place) {
    int32_t index = place < kernel_->places.size() ? kernel_->places[place] : plan::kNone;
    return index == plan::kNone ? std::string() : plan_->places[index].text;
  };
  if (error.code == HR_ERROR_RAISED) { // its message stands in front of its place
    std::string message = text(error.place);
    return Status(ErrorKind::kData, message.empty() ? errorText(error.code) : message,
                  text(error.place + size_t{1}));
  }
  std::string place = text(error.place);
  if (!cause.ok()) {
    return cause.at(place);
  }
  if (error.code == HR_OK) {
    return makeError(ErrorKind::kInternal, "kernel failed without an error: ", kernel_->symbol);
  }
  return Status(errorKind(error.code), errorText(error.code), place);
}

Expected<std::unique_ptr<KernelFrame>> KernelFrame::create(const KernelCall &call,
                                                           std::shared_ptr<MemoryAccount> account,
                                                           uint32_t rank, uint32_t size,
                                                           DictionaryMaps *maps) {
  HR_ASSIGN_OR_RETURN(const HrImports *imports, kernelImports());
  std::unique_ptr<KernelFrame> frame(new KernelFrame(call, account, maps));
  HR_ASSIGN_OR_RETURN(frame->scratch_,
                      account->allocate(std::max(int64_t{call.scratchBytes()}, kHeadBytes)));
  frame->worker_.scratch = reinterpret_cast<uint8_t *>(frame->scratch_.data());
  frame->worker_.imports = imports;
  frame->worker_.arena = &frame->context_;
  frame->worker_.rank = rank;
  frame->worker_.size = size;
  frame->divideBy(KeyShares(size));
  static constexpr uint8_t kGoing = 0;
  frame->worker_.stop = &kGoing;
  return frame;
}

void KernelFrame::divideBy(const KeyShares &shares) {
  const primitives::KeyInterval own = shares.placesOf(worker_.rank);
  worker_.firstKeyPlace = own.first;
  worker_.keyPlaces = own.count;
  worker_.keyBounds = shares.bounds();
}

void KernelFrame::beginMorsel() {
  std::memset(worker_.scratch, 0, kHeadBytes);
  worker_.error = HrError{};
  context_.status = Status();
}

uint64_t KernelFrame::rowsThrough(size_t stage) const {
  uint64_t rows;
  std::memcpy(&rows, worker_.scratch + 8 * (1 + stage), sizeof rows);
  return rows;
}

HrResult KernelFrame::run(const HrMorsel &morsel, void *const *states) {
  return run(HrArgs{&morsel, call_.literals(), states});
}

HrResult KernelFrame::run(const HrArgs &args) {
  return static_cast<HrResult>(call_.entry()(&args, &worker_));
}

} // namespace headrace::exec
