// UCX that is there, that is not, and that is another's; skipped where the machine has none.
#include "runtime/transport/ucx_link.h"

#include <csignal>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/transport/stream_transport.h"

#if __has_include(<ucp/api/ucp.h>)
#include <ucp/api/ucp.h>
#endif

using namespace headrace;

namespace {

class UcxLinkTest : public testing::Test {
protected:
  void SetUp() override {
    if (!ucx::library().ok()) {
      GTEST_SKIP() << ucx::library().status().message();
    }
  }
};

} // namespace

#if __has_include(<ucp/api/ucp.h>)
TEST_F(UcxLinkTest, TheDeclarationsAreThoseOfItsHeaders) {
  static_assert(sizeof(ucx::Code) == sizeof(ucs_status_t));
  static_assert(sizeof(ucx::ContextParams) >= offsetof(ucp_params_t, name));
  static_assert(offsetof(ucx::WorkerParams, threadMode) ==
                offsetof(ucp_worker_params_t, thread_mode));
  static_assert(offsetof(ucx::EndpointParams, address) == offsetof(ucp_ep_params_t, address));
  static_assert(offsetof(ucx::EndpointParams, errorMode) == offsetof(ucp_ep_params_t, err_mode));
  static_assert(offsetof(ucx::EndpointParams, onError) == offsetof(ucp_ep_params_t, err_handler));
  static_assert(offsetof(ucx::RequestParams, flags) == offsetof(ucp_request_param_t, flags));
  static_assert(sizeof(ucx::RequestParams) >= sizeof(ucp_request_param_t));
  static_assert(sizeof(ucx::MessageParams) == sizeof(ucp_am_recv_param_t));
  static_assert(offsetof(ucx::HandlerParams, onMessage) == offsetof(ucp_am_handler_param_t, cb));
  static_assert(offsetof(ucx::HandlerParams, argument) == offsetof(ucp_am_handler_param_t, arg));
  EXPECT_EQ(ucx::kBusy, UCS_ERR_BUSY);
  EXPECT_EQ(ucx::kFeatureActiveMessages, uint64_t{UCP_FEATURE_AM});
  EXPECT_EQ(ucx::kRendezvous, uint64_t{UCP_AM_RECV_ATTR_FLAG_RNDV});
}
#endif

TEST_F(UcxLinkTest, AnotherVersionIsRefused) {
  auto engine = *UcxEngine::open(0, "tcp");
  std::string version = engine->card().substr(0, engine->card().find('\n'));
  EXPECT_EQ(
      engine->link(1, "rank 1 on host there", "1.2.3\n0123456789abcdefaddress").status().message(),
      "UCX of rank 1 on host there is 1.2.3, and here " + version);
  EXPECT_EQ(engine->link(1, "rank 1 on host there", "").status().message(),
            "UCX of rank 1 on host there is not there, and here " + version);
}

TEST_F(UcxLinkTest, WhatItCannotUseIsSaid) {
  Status refused = UcxEngine::open(0, "no_such_transport").status();
  EXPECT_EQ(refused.kind(), ErrorKind::kIo);
  EXPECT_EQ(refused.message().rfind("UCX refused ", 0), 0u) << refused.message();
}

TEST_F(UcxLinkTest, AStrangerIsNotHeardAndAKilledRankIsNamed) {
  // Rank 1 is a process, which sends with the word that it was told, and then without.
  int ends[2], cards[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, cards), 0);
  auto swap = [](int socket, UcxEngine &engine) {
    std::string card = engine.card();
    char other[4096];
    EXPECT_EQ(::send(socket, card.data(), card.size(), 0), static_cast<ssize_t>(card.size()));
    ssize_t bytes = recv(socket, other, sizeof(other), 0);
    return std::string(other, static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
  };
  auto join = [&](int rank, const std::string &card, std::unique_ptr<UcxEngine> engine) {
    TransportLinks links{.rank = rank, .sockets = {-1, -1}, .hosts = {"here", "there"}};
    links.links[1 - rank] = *engine->link(1 - rank, "rank " + std::to_string(1 - rank), card);
    engine->adopt(1 - rank, ends[rank]);
    links.engine = std::move(engine);
    return makeStreamTransport(std::move(links));
  };
  auto send = [](Transport &transport, char word) {
    EXPECT_TRUE(
        transport.send(0, ChannelId(7), HeaderBytes{static_cast<std::byte>(word)}, {}).ok());
    for (int turn = 0; turn < 200; ++turn) {
      transport.progress();
      usleep(1000);
    }
  };
  pid_t other = fork();
  if (other == 0) {
    close(ends[0]);
    auto engine = *UcxEngine::open(1, "tcp");
    std::string card = swap(cards[1], *engine);
    {
      // Not a rank: it knows where rank 0 is, and not the word.
      std::string wrong = card;
      wrong[wrong.find('\n') + 1] ^= 1;
      auto stranger = join(1, wrong, *UcxEngine::open(1, "tcp"));
      send(*stranger, 's');
      ends[1] = -1;
      new std::unique_ptr<StreamTransport>(std::move(stranger)); // it stays until the end
    }
    ends[1] = dup(cards[1]);
    auto rank = join(1, card, std::move(engine));
    send(*rank, 'r');
    kill(getpid(), SIGKILL);
  }
  close(ends[1]);
  auto engine = *UcxEngine::open(0, "tcp");
  std::string card = swap(cards[0], *engine);
  auto transport = join(0, card, std::move(engine));
  ASSERT_TRUE(transport->open(ChannelId(7), nullptr).ok());
  std::string heard;
  for (int turn = 0; turn < 10'000 && transport->peerStatus(1).ok(); ++turn) {
    transport->progress();
    while (std::optional<Arrival> arrival = transport->receive(ChannelId(7))) {
      heard += static_cast<char>(arrival->header[0]);
    }
    usleep(1000);
  }
  EXPECT_EQ(heard, "r");
  EXPECT_EQ(transport->peerStatus(1).kind(), ErrorKind::kIo);
  EXPECT_NE(transport->peerStatus(1).message().find("rank 1"), std::string::npos);
  waitpid(other, nullptr, 0);
  close(cards[0]);
  close(cards[1]);
}
