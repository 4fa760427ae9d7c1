// Bootstrap over the store that rank 0 keeps at an address that all ranks know: what torchrun and
// indexed jobs offer.
#pragma once

#include <functional>

#include "runtime/bootstrap/store.h"

namespace headrace {

class StoreBootstrap final : public Bootstrap {
public:
  struct Options {
    HostPort store; ///< rank 0 listens there; at a free port, if it is 0
    Credentials credentials;
    int rank = 0;
    int size = 1;
    /// For which ranks wait for each other.
    double patienceSeconds = 60;
    /// At which others reach this rank; empty: that from which it reached the store.
    std::string address = {};
    std::function<bool()> interrupted = {}; ///< as JoinOptions::interrupted
    /// Of rank 0: told where its store listens, before it waits for the others.
    std::function<void(const HostPort &)> listening = {};
  };
  static Expected<std::unique_ptr<Bootstrap>> join(Options options);
  ~StoreBootstrap() override;

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  const std::string &address() const override { return options_.address; }
  const Credentials &credentials() const override { return options_.credentials; }
  Expected<std::vector<std::string>> exchange(std::string_view record) override;

private:
  explicit StoreBootstrap(Options options) : options_(std::move(options)) {}
  Status connect();
  Status sendAll(const std::string &bytes, int64_t end);
  Expected<std::string> receiveFrame(int64_t end);
  Status await(const Socket &socket, short events, int64_t end) const;
  Status silent() const;

  Options options_;
  std::unique_ptr<Store> store_; ///< of rank 0
  Socket socket_;
  Status failure_;
};

} // namespace headrace
