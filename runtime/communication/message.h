// The 64-byte header of every message between ranks, and its checks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/transport/transport.h"

namespace headrace {

enum class MessageKind : uint8_t {
  kData = 1, ///< a chunk, or a piece of a tensor
  kEnd,      ///< end of stream: the source sends no more on this channel
  kCredits,  ///< the receiver has room for `credits` more messages
  kPoison,   ///< something failed; the body is the text
  kSettled,  ///< the source has stopped
  kAnnounce, ///< the source has started a collective
  kAlive,    ///< a sign of life
  kAsk,      ///< the source has little left to do, and takes work from who has more
  kGive,     ///< work for who has asked, or none
};

// clang-format off
/// Little-endian, no padding:
///
///    0       4         5      6      8         12       16         24     32      40         48    56          64
///   +-------+---------+------+------+---------+--------+----------+------+-------+----------+-----+-----------+
///   | magic | version | kind | last | channel | source | sequence | rows | bytes | checksum | tag | checksum  |
///   | HRM1  |         |      |      |         |        |          |      |       | of body  |     | of header |
///   +-------+---------+------+------+---------+--------+----------+------+-------+----------+-----+-----------+
// clang-format on
struct MessageHeader {
  static constexpr uint32_t kMagic = 0x314d5248;
  static constexpr uint8_t kVersion = 1;

  uint32_t magic = kMagic;
  uint8_t version = kVersion;
  MessageKind kind = MessageKind::kData;
  uint16_t last = 0; ///< 1: the source's last message on this channel
  uint32_t channel = 0;
  uint32_t source = 0;
  uint64_t sequence = 0; ///< of data messages: from 0 per (source, channel, peer)
  uint64_t rows = 0;     ///< or credits, or what the channel's protocol says
  uint64_t bytes = 0;    ///< of the body
  uint64_t checksum = 0; ///< of the body, 0 if there is none; without a body: free
  uint64_t tag = 0;      ///< free for the sender of data: schema, continuation
  uint64_t headerChecksum = 0;
};
static_assert(sizeof(MessageHeader) == 64 && std::is_trivially_copyable_v<MessageHeader>);

enum class Checksums : uint8_t { kOff, kOn };

/// Whether bodies to a peer get a checksum: as wished, but off where the peer is handed the
/// sender's buffer as it is.
Checksums checksumsTo(const Transport &transport, int peer, Checksums wished);

/// What goes into `checksum` for a body; never 0 when on.
uint64_t bodyChecksum(const BufferRef &body, Checksums checksums);

/// Fills in the header's checksum and encodes; everything else is the caller's.
HeaderBytes encodeHeader(MessageHeader header);

/// Decodes what arrived on `channel`. Fails (kCorrupt) if header or body were damaged under way, or
/// (kMismatch) if the peer speaks another version.
Expected<MessageHeader> decodeHeader(const Arrival &arrival, ChannelId channel);

} // namespace headrace
