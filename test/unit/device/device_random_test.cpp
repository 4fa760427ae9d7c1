// Random work in all lanes, ordered by events alone, beside a model of it on the host; and many
// threads.
#include "test/unit/device/device_fixture.h"

#include <deque>
#include <random>
#include <thread>

namespace headrace {
namespace {

constexpr size_t kCount = 300; ///< values of a buffer

/// A buffer, what it must hold once all that was submitted has been done, and who still uses it.
struct ModelledBuffer {
  DeviceMemory memory;
  std::vector<int64_t> values;
  Event written;
  std::vector<Event> read;

  /// After these it may be written.
  std::vector<Event> before() const {
    std::vector<Event> events = read;
    events.push_back(written);
    return events;
  }
  void isWritten(Event event) {
    written = std::move(event);
    read.clear();
  }
};

class RandomDeviceTest : public DeviceTest {
protected:
  void step(std::mt19937_64 &random) {
    ModelledBuffer &from = buffers_[random() % buffers_.size()];
    ModelledBuffer &to = buffers_[random() % buffers_.size()];
    switch (random() % 6) {
    case 0: { // in
      DeviceMemory source = allocate(Tier::kPinned, kCount * 8);
      auto *values = reinterpret_cast<int64_t *>(source.host());
      std::iota(values, values + kCount, static_cast<int64_t>(random() % 1'000'000));
      to.values.assign(values, values + kCount);
      to.isWritten(submit(source.at(), to.memory.at(), to.before()));
      return; // and the source is given back while it is being read
    }
    case 1: { // out
      results_.push_back({allocate(Tier::kPinned, kCount * 8), from.values});
      from.read.push_back(submit(from.memory.at(), results_.back().first.at(), {from.written}));
      return;
    }
    case 2: { // within
      if (&from == &to) {
        return;
      }
      std::vector<Event> after = to.before();
      after.push_back(from.written);
      Event done = submit(from.memory.at(), to.memory.at(), after);
      to.values = from.values;
      from.read.push_back(done);
      to.isWritten(done);
      return;
    }
    case 3: { // a kernel
      auto addend = static_cast<int64_t>(random() % 1000);
      Arguments arguments = addArguments(from.memory.at(), to.memory.at(), kCount, addend);
      std::vector<Event> after = to.before();
      after.push_back(from.written);
      Event done = launchAdd(arguments, after);
      std::vector<int64_t> values = from.values;
      for (int64_t &value : values) {
        value += addend;
      }
      to.values = std::move(values);
      from.read.push_back(done);
      to.isWritten(done);
      return; // and the arguments are given back
    }
    case 4: { // a fill
      Expected<Event> done = device_->fill(to.memory.at(), 0xff, kCount * 8, to.before());
      ASSERT_OK(done.status());
      to.values.assign(kCount, -1);
      to.isWritten(*done);
      return;
    }
    case 5: { // another allocation
      to.memory.reset();
      to.memory = allocate(Tier::kDevice, kCount * 8, static_cast<Lane>(random() % kLaneCount));
      Event ready = to.memory.ready();
      Expected<Event> done = device_->fill(to.memory.at(), 0, kCount * 8, {&ready, 1});
      ASSERT_OK(done.status());
      to.values.assign(kCount, 0);
      to.isWritten(*done);
      return;
    }
    }
  }

  Event submit(Place source, Place target, const std::vector<Event> &after) {
    Expected<Event> done = device_->copy(source, target, kCount * 8, after);
    EXPECT_OK(done.status());
    return done.ok() ? *done : Event();
  }

  std::vector<ModelledBuffer> buffers_;
  std::deque<std::pair<DeviceMemory, std::vector<int64_t>>> results_;
};

INSTANTIATE_TEST_SUITE_P(Devices, RandomDeviceTest,
                         testing::Values(kMachine, 11, 12, 13, 14, 15, 16, 17, 18), nameOfDevice);

TEST_P(RandomDeviceTest, WorkInAllLanes) {
  std::mt19937_64 random(GetParam());
  buffers_.resize(4);
  for (ModelledBuffer &buffer : buffers_) {
    buffer.values = counted(kCount, static_cast<int64_t>(random() % 1000));
    buffer.memory = put(buffer.values);
  }
  for (int i = 0; i < 300; ++i) {
    step(random);
    ASSERT_FALSE(HasFatalFailure());
  }
  ASSERT_OK(device_->synchronise());
  for (size_t i = 0; i < results_.size(); ++i) {
    const auto *found = reinterpret_cast<const int64_t *>(results_[i].first.host());
    EXPECT_EQ(std::vector<int64_t>(found, found + kCount), results_[i].second) << "result " << i;
  }
  buffers_.clear();
}

TEST_P(RandomDeviceTest, ManyThreadsUseOneDevice) {
  Kernel add = kernel("add");
  auto work = [&](int64_t first) {
    for (int round = 0; round < 10; ++round) {
      std::vector<int64_t> values = counted(kCount, first);
      DeviceMemory source = put(values), target = allocate(Tier::kDevice, kCount * 8);
      Arguments arguments = addArguments(source.at(), target.at(), kCount, round);
      Expected<Event> done = device_->launch(KernelLaunch{add, 2, 64, arguments.values});
      ASSERT_OK(done.status());
      while (device_->poll(*done) == PollState::kPending) {
      }
      EXPECT_EQ(get(target.at(), kCount, {*done}), counted(kCount, first + round));
    }
  };
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back(work, thread * 1000);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_OK(device_->status());
}

} // namespace
} // namespace headrace
