// UcxLink: active messages of UCX to and from a rank of another machine.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/transport/engine.h"
#include "runtime/transport/link.h"
#include "runtime/transport/ucx_library.h"

namespace headrace {

class UcxLink;

/// Purpose: this process's worker of UCX, which serves all its links.
/// Ownership: outlives its links. Thread-safety: full; poll() is for one thread at a time. Trust:
/// UCX lets anybody send to its worker: what comes without the word that the ranks were told is
/// dropped.
class UcxEngine final : public Engine {
public:
  /// `transports`: as UCX_TLS; empty: UCX chooses. kUnsupported, with why, without UCX; kIo if it
  /// refuses.
  static Expected<std::unique_ptr<UcxEngine>> open(int rank, const std::string &transports = {});
  ~UcxEngine() override;

  /// What the other ranks must know of this one to be linked with it, as text of any bytes.
  std::string card() const;
  /// Links with a rank by its card. kUnsupported, kIo: the two do not understand each other.
  Expected<std::unique_ptr<Link>> link(int rank, std::string name, const std::string &card);
  /// Gives the link to the rank a socket, which it takes over, and which only tells whether the
  /// rank lives.
  void adopt(int rank, int socket);

  int descriptor() const override { return descriptor_; }
  void poll(Landing &landing) override;

private:
  friend class UcxLink;
  using Word = std::array<char, 16>;
  /// Before the body of a message.
  struct Header {
    Word word;
    uint64_t source;
    uint64_t number; ///< of the messages from the source
    Frame frame;
  };
  static_assert(sizeof(Header) == 120);

  UcxEngine(int rank, const ucx::Library &library) : rank_(rank), library_(library) {}
  Status start(const std::string &transports);
  static ucx::Code onMessage(void *engine, const void *header, size_t headerBytes, void *data,
                             size_t bytes, const ucx::MessageParams *params);
  Status failed(const char *what, ucx::Code code) const;
  /// With mutex_ held: as far as it goes without waiting. False: it must be called again, and
  /// nothing tells when.
  bool progress();

  int rank_;
  const ucx::Library &library_;
  ucx::Context context_ = nullptr;
  ucx::Worker worker_ = nullptr;
  int descriptor_ = -1; ///< the worker's
  std::string address_;
  Word word_{}; ///< with which others send to this rank

  std::mutex mutex_; ///< of the worker, and of what its links have in common with it
  std::map<int, UcxLink *> links_;
  Landing *landing_ = nullptr; ///< while poll() is at it
};

} // namespace headrace
