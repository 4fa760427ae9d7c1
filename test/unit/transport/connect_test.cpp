// Connections that do not come about.
#include "runtime/transport/connect.h"

#include <gtest/gtest.h>

#include "runtime/bootstrap/tcp.h"

using namespace headrace;

namespace {

/// Rank 1 of two, to which rank 0 gave an address where nobody answers.
class Misled final : public Bootstrap {
public:
  explicit Misled(std::string other) : other_(std::move(other)) {}
  int rank() const override { return 1; }
  int size() const override { return 2; }
  const std::string &address() const override { return address_; }
  const Credentials &credentials() const override { return credentials_; }
  Expected<std::vector<std::string>> exchange(std::string_view record) override {
    return std::vector<std::string>{other_, std::string(record)};
  }

private:
  std::string other_;
  std::string address_ = "127.0.0.1";
  Credentials credentials_{"a secret of 16 and more", ""};
};

} // namespace

TEST(Connect, ARankThatDoesNotAnswerIsNamedWithItsHost) {
  Socket silent = *listenAt({"127.0.0.1", 0});
  std::string address = ownEnd(silent).toString();
  Misled bootstrap(address + " - - node7");
  EXPECT_EQ(connectTransport(bootstrap, {.patienceSeconds = 0.2}).status().message(),
            "no connection within 0.2 s with rank 0 at " + address + " on host: node7");
}
