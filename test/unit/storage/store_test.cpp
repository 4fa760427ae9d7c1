// Addresses of stores, signatures, listings' XML, and how ranges become requests.
// Sources: runtime/storage/files/curl_library.cpp
#include "runtime/base/sha256.h"
#include "runtime/storage/files/credentials.h"
#include "runtime/storage/files/http_client.h"
#include "runtime/storage/files/ranges.h"
#include "runtime/storage/files/remote_file.h"
#include "runtime/storage/files/store_address.h"
#include "runtime/storage/files/store_listing.h"
#include "runtime/storage/files/xml_text.h"
#include "test/unit/storage/silent_server.h"

#include <chrono>
#include <gtest/gtest.h>

namespace headrace::storage {
namespace {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;

TEST(Ranges, NearOnesAreOneRequest) {
  using Ranges = std::vector<ByteRange>;
  EXPECT_EQ(mergedRanges({}), Ranges{});
  EXPECT_EQ(mergedRanges({{5, 0}}), Ranges{});
  EXPECT_EQ(mergedRanges({{100, 10}, {0, 50}}), (Ranges{{0, 110}}));
  EXPECT_EQ(mergedRanges({{0, 10}, {10 + 128 * kKiB, 10}}), (Ranges{{0, 20 + 128 * kKiB}}));
  EXPECT_EQ(mergedRanges({{0, 10}, {11 + 128 * kKiB, 10}}),
            (Ranges{{0, 10}, {11 + 128 * kKiB, 10}}));
  EXPECT_EQ(mergedRanges({{0, 100}, {10, 20}}), (Ranges{{0, 100}})); // one within another
}

TEST(Ranges, LongOnesAreSeveral) {
  const std::vector<ByteRange> requests = mergedRanges({{7, 20 * kMiB}});
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests.front().begin, 7u);
  for (size_t i = 1; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].begin, requests[i - 1].end());
    EXPECT_LE(requests[i].bytes, 8 * kMiB);
  }
  EXPECT_EQ(requests.back().end(), 7 + 20 * kMiB);
}

TEST(StoreAddress, Urls) {
  auto url = [](const std::string &text) { return StoreAddress::of(text)->url(); };
  EXPECT_EQ(url("s3://b/d/a b+\xc3\xbc.parquet?region=eu-west-1"),
            "https://b.s3.eu-west-1.amazonaws.com/d/a%20b%2B%C3%BC.parquet");
  EXPECT_EQ(url("s3://b.c/x?region=r"), "https://s3.r.amazonaws.com/b.c/x");
  EXPECT_EQ(url("s3://b/x?endpoint_override=h:9&scheme=http"), "http://h:9/b/x");
  EXPECT_EQ(url("s3://b/x?endpoint_override=http%3A%2F%2Fh%3A9%2F"), "http://h:9/b/x");
  EXPECT_EQ(url("https://h/a%20b?x=y"), "https://h/a%20b?x=y");
  EXPECT_TRUE(isStoreAddress("s3://b") && isStoreAddress("HTTP://h/x"));
  EXPECT_FALSE(isStoreAddress("/a://b") || isStoreAddress("a.parquet") || isStoreAddress("C://x"));
}

TEST(StoreAddress, WhatIsShownHasNoSecret) {
  EXPECT_EQ(*shownAddress("https://h/x.parquet"), "https://h/x.parquet");
  const std::string one = *shownAddress("https://h/x.parquet?sig=secret");
  EXPECT_TRUE(one.starts_with("https://h/x.parquet?")) << one;
  EXPECT_EQ(one.find("secret"), std::string::npos);
  EXPECT_NE(one, *shownAddress("https://h/x.parquet?sig=other"));
  EXPECT_EQ(stemOfAddress("https://h/d/x.y.parquet?a/b.c"), "x.y");
}

TEST(Signature, ExamplesOfAmazon) {
  const Credentials example{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  const auto moment = std::chrono::system_clock::from_time_t(1369353600); // 2013-05-24
  auto signature = [&](std::map<std::string, std::string> query) {
    const std::string header = signatureHeaders({"GET", "https://examplebucket.s3.amazonaws.com",
                                                 std::move(query), "us-east-1", sha256("")},
                                                example, moment)
                                   .back();
    return header.substr(header.find("Signature=") + 10);
  };
  EXPECT_EQ(signature({{"lifecycle", ""}}),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(signature({{"max-keys", "2"}, {"prefix", "J"}}),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(Xml, TextsOfElements) {
  const std::string document = "<R><C><K>a&amp;lt;b</K></C><C><K>c</K></C><E>&quot;x&quot;</E><U>";
  EXPECT_EQ(xmlElements(document, "C").size(), 2u);
  EXPECT_EQ(xmlText(document, "K"), "a&lt;b");
  EXPECT_EQ(xmlText(document, "E"), "\"x\"");
  EXPECT_EQ(xmlText(document, "U"), "");
}

TEST(Moments, OfAnswersAndListings) {
  EXPECT_EQ(secondsOfMoment("Fri, 24 May 2013 00:00:00 GMT"), 1369353600);
  EXPECT_EQ(secondsOfMoment("2013-05-24T00:00:00.000Z"), 1369353600);
  EXPECT_EQ(secondsOfMoment("yesterday"), 0);
}

TEST(HttpCall, IsLetGoWithoutAnAnswer) {
  SilentServer server;
  HttpRequest request;
  request.url = request.shown = server.url();
  const auto begin = std::chrono::steady_clock::now();
  {
    auto call = HttpCall::start(request);
    ASSERT_TRUE(call.ok()) << call.status().toString();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

} // namespace
} // namespace headrace::storage
