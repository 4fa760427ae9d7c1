// Checks of what comes.
#include "runtime/transport/landing.h"

#include "runtime/base/check.h"

namespace headrace {

void Landing::beginRun() {
  run_.fetch_add(1, std::memory_order_relaxed);
  inbox_.beginAnew();
  for (auto &[channel, arrival] : std::exchange(early_, {})) {
    // As many as an unopened channel may keep.
    HR_CHECK(inbox_.deliver(channel, std::move(arrival)).ok());
  }
}

Expected<BufferRef> Landing::bufferFor(const Frame &frame) {
  if (frame.magic != kFrameMagic) {
    return makeError(ErrorKind::kCorrupt, "not a frame, it begins with: ", frame.magic);
  }
  if (frame.bodyBytes == 0) {
    return BufferRef();
  }
  if (frame.bodyBytes > static_cast<uint64_t>(INT64_MAX) - sizeof(Frame)) {
    return makeError(ErrorKind::kCorrupt, "a body is too large: ", frame.bodyBytes);
  }
  if (frame.run > run()) {
    return makeError(ErrorKind::kCorrupt, "a body came before its run: ", frame.run);
  }
  if (frame.run < run()) {
    return BufferRef(); // passed over
  }
  return inbox_.bufferFor(ChannelId(frame.channel), static_cast<int64_t>(frame.bodyBytes));
}

Status Landing::deliver(int source, const Frame &frame, BufferRef body) {
  if ((frame.bodyBytes > 0 && !body) || frame.run < run()) {
    return {}; // passed over
  }
  if (frame.run > run()) {
    if (early_.size() == inbox_.earlyMessagesMax()) {
      return makeError(ErrorKind::kCorrupt, "too many messages before their run: ", frame.run);
    }
    early_.emplace_back(ChannelId(frame.channel), Arrival{source, frame.header, {}});
    return {};
  }
  if (body) {
    body.seal();
  }
  return inbox_.deliver(ChannelId(frame.channel), {source, frame.header, std::move(body)});
}

} // namespace headrace
