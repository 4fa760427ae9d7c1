// Bootstrap in a folder that all ranks see: needs no address and no secret of the user's, since who
// may read the folder is decided by its file system.
//
//   DIR/session           rank 0's: the secret of this start, readable by its owner alone
//   DIR/record.K.RANK     what the rank gave to exchange K
//   DIR/left.RANK         it has gone
#pragma once

#include <functional>
#include <memory>

#include "runtime/bootstrap/bootstrap.h"

namespace headrace {

/// Leaves no file: each rank removes a record when all have read it, and rank 0 the rest at its
/// end. A rank that was killed leaves its files, and a folder with them is refused.
class FolderBootstrap final : public Bootstrap {
public:
  struct Options {
    std::string folder; ///< rank 0 makes it, and then removes it too
    int rank = 0;
    int size = 1;
    double patienceSeconds = 60;
    std::string address = {};               ///< empty: that of this machine's name
    std::function<bool()> interrupted = {}; ///< as JoinOptions::interrupted
  };
  static Expected<std::unique_ptr<Bootstrap>> join(Options options);
  ~FolderBootstrap() override;

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  const std::string &address() const override { return options_.address; }
  const Credentials &credentials() const override { return credentials_; }
  Expected<std::vector<std::string>> exchange(std::string_view record) override;

private:
  explicit FolderBootstrap(Options options) : options_(std::move(options)) {}
  Status openSession();
  Expected<std::string> waitForRecord(uint64_t number, int rank, int64_t end);
  Status pause();
  std::string path(const std::string &name) const { return options_.folder + "/" + name; }
  std::string recordPath(uint64_t number, int rank) const;
  std::string leftPath(int rank) const { return path("left." + std::to_string(rank)); }

  Options options_;
  Credentials credentials_;
  bool joined_ = false;
  bool madeFolder_ = false;
  uint64_t exchanges_ = 0;
  int64_t nextAsk_ = 0;
  Status failure_;
};

} // namespace headrace
