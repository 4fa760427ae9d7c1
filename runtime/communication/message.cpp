// Encoding and checking of message headers.
#include "runtime/communication/message.h"

#include <cstddef>
#include <cstring>

#include "runtime/base/content_hash.h"

namespace headrace {

Checksums checksumsTo(const Transport &transport, int peer, Checksums wished) {
  return transport.bodyPassage(peer) == BodyPassage::kByHandle ? Checksums::kOff : wished;
}

uint64_t bodyChecksum(const BufferRef &body, Checksums checksums) {
  if (checksums == Checksums::kOff || !body || body.size() == 0) {
    return 0;
  }
  uint64_t sum = checksumBytes(body.data(), static_cast<size_t>(body.size()));
  return sum == 0 ? 1 : sum;
}

HeaderBytes encodeHeader(MessageHeader header) {
  header.headerChecksum = checksumBytes(&header, offsetof(MessageHeader, headerChecksum));
  HeaderBytes bytes;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

Expected<MessageHeader> decodeHeader(const Arrival &arrival, ChannelId channel) {
  MessageHeader header;
  std::memcpy(&header, arrival.header.data(), sizeof(header));
  auto corrupt = [&](const auto &...parts) {
    return makeError(ErrorKind::kCorrupt, "message from rank ", arrival.source, " on channel ",
                     channel, " is damaged: ", parts...);
  };
  if (header.magic != MessageHeader::kMagic ||
      header.headerChecksum != checksumBytes(&header, offsetof(MessageHeader, headerChecksum))) {
    return corrupt("the header's checksum does not match");
  }
  if (header.version != MessageHeader::kVersion) {
    return makeError(
        ErrorKind::kMismatch, "rank ", arrival.source, " speaks another message version, expected ",
        static_cast<int>(MessageHeader::kVersion), ", got: ", static_cast<int>(header.version));
  }
  if (header.channel != channel.value || header.source != static_cast<uint32_t>(arrival.source)) {
    return corrupt("it says channel ", header.channel, " and rank ", header.source);
  }
  uint64_t bytes = arrival.body ? static_cast<uint64_t>(arrival.body.size()) : 0;
  if (header.bytes != bytes) {
    return corrupt("expected a body of ", header.bytes, " bytes, got: ", bytes);
  }
  if (arrival.body && header.checksum != 0 &&
      header.checksum != bodyChecksum(arrival.body, Checksums::kOn)) {
    return corrupt("the body's checksum does not match");
  }
  return header;
}

} // namespace headrace
