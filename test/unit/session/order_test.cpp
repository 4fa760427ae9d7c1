// Orders and answers as text.
#include "runtime/session/order.h"

#include <gtest/gtest.h>

using namespace headrace;
using namespace headrace::session;

TEST(Order, ComesBackAsItWas) {
  Order order;
  order.call = "sql";
  order.plan = "{\"plan\": 1}";
  order.kernels = std::string("\0elf\0", 5);
  order.tables = {{"t", {"/a", "/b"}}};
  order.prints = {{"x", "8f"}};
  Settings first;
  first.exchangeWindow = 9;
  first.threads = 7;
  ASSERT_TRUE(order.setShared(first).ok());
  Expected<Order> back = Order::unpack(order.pack());
  ASSERT_TRUE(back.ok()) << back.status().toString();
  EXPECT_EQ(back->call, "sql");
  EXPECT_EQ(back->plan, order.plan);
  EXPECT_EQ(back->kernels, order.kernels);
  EXPECT_EQ(back->tables, order.tables);
  EXPECT_EQ(back->prints, order.prints);
  Settings own;
  own.threads = 3;
  Expected<Settings> applied = back->applied(own);
  ASSERT_TRUE(applied.ok()) << applied.status().toString();
  EXPECT_EQ(applied->exchangeWindow, 9) << "shared";
  EXPECT_EQ(applied->threads, 3) << "each rank's own";
  EXPECT_GE(applied->randomSeed, 0) << "drawn once for all ranks";
  Order another;
  ASSERT_TRUE(another.setShared(first).ok());
  EXPECT_NE(another.settings["randomSeed"], order.settings["randomSeed"]);
  first.randomSeed = 5;
  ASSERT_TRUE(another.setShared(first).ok());
  EXPECT_EQ(another.settings["randomSeed"], "5");
}

TEST(Order, AStatusComesBackAsItWas) {
  Status status(ErrorKind::kData, "division by zero", "a / b");
  Status back = statusOf(unpackTexts(packTexts(textsOf(status))));
  EXPECT_EQ(back.toString(), status.toString());
  EXPECT_TRUE(statusOf(textsOf({})).ok());
  EXPECT_EQ(statusOf({"x"}).message(), "the outcome of a rank was cut off");
}
