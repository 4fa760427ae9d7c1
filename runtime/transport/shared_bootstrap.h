// Bootstrap for ranks of one process: a table that all see.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/transport/inbox.h"
#include "runtime/transport/transport.h"

namespace headrace {

/// Purpose: the table behind the SharedBootstraps of a group. Ownership: shared by them.
/// Thread-safety: full.
class BootstrapTable {
public:
  /// `inboxes` are rung when a fence is passed; one a rank; they outlive this.
  explicit BootstrapTable(std::vector<Inbox *> inboxes);

  Status put(int rank, std::string_view key, std::string_view value);
  Expected<std::string> get(int rank, std::string_view key);
  Expected<uint64_t> enterFence(int rank);
  Expected<bool> fencePassed(uint64_t fence);
  /// That rank enters no further fence.
  void leave(int rank);

private:
  struct Value {
    std::string text;
    int writer;
    uint64_t fencesBefore; ///< of the writer: visible to ranks that have passed more
  };
  std::mutex mutex_;
  std::vector<Inbox *> inboxes_;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<uint64_t> fencesEntered_;
  std::vector<bool> left_;
};

class SharedBootstrap final : public Bootstrap {
public:
  SharedBootstrap(std::shared_ptr<BootstrapTable> table, int rank, int size)
      : table_(std::move(table)), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status put(std::string_view key, std::string_view value) override {
    return table_->put(rank_, key, value);
  }
  Expected<std::string> get(std::string_view key) override { return table_->get(rank_, key); }
  Expected<uint64_t> enterFence() override { return table_->enterFence(rank_); }
  Expected<bool> fencePassed(uint64_t fence) override { return table_->fencePassed(fence); }

private:
  std::shared_ptr<BootstrapTable> table_;
  int rank_;
  int size_;
};

/// The checks that every backend's put() makes.
Status checkBootstrapValue(std::string_view key, std::string_view value);

} // namespace headrace
