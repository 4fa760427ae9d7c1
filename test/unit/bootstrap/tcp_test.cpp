// Texts of addresses.
#include "runtime/bootstrap/tcp.h"

#include <gtest/gtest.h>

using namespace headrace;

TEST(HostPort, GoesThereAndBack) {
  for (const std::string text : {"10.0.0.1:29500", "node7:1", "[::1]:65535"}) {
    Expected<HostPort> parsed = HostPort::parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
    EXPECT_EQ(parsed->toString(), text);
  }
  EXPECT_EQ(HostPort::parse("[::1]:1")->host, "::1");
}

TEST(HostPort, WhatIsNoneIsRefused) {
  for (const std::string text :
       {"", "node7", ":1", "node7:", "node7:0", "node7:65536", "a:b", "a:999999"}) {
    EXPECT_EQ(HostPort::parse(text).status().message(), "expected HOST:PORT, got: " + text);
  }
}

TEST(Tcp, FailuresNameTheAddress) {
  Status nowhere = listenAt({"no.such.host.invalid", 1}).status();
  EXPECT_TRUE(nowhere.message().starts_with("no address of a host (")) << nowhere.message();
  EXPECT_TRUE(nowhere.message().ends_with("): no.such.host.invalid")) << nowhere.message();
  Expected<Socket> first = listenAt({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  HostPort taken = ownEnd(*first);
  EXPECT_EQ(listenAt(taken).status().message(),
            "cannot listen (Address already in use): " + taken.toString());
  Status unreachable = startConnecting({"255.255.255.255", 1}).status();
  EXPECT_TRUE(unreachable.message().starts_with("cannot connect (")) << unreachable.message();
}
