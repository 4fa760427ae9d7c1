// What every device does: memory to the limit, copies between tiers, order by events, launches,
// graphs.
// Sources: runtime/device/cuda/cuda_memory.cpp,
//   runtime/device/emulated/{device_heap,device_main,device_process,emulation}.cpp
#include "test/unit/device/device_fixture.h"

#include <cstring>

namespace headrace {
namespace {

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, testing::Values(kMachine, 1, 2, 3, 4, 5),
                         nameOfDevice);

TEST_P(DeviceTest, SaysWhatItIs) {
  const DeviceDescription &description = device_->description();
  EXPECT_FALSE(description.name.empty());
  EXPECT_GE(description.capabilityMajor, 8);
  EXPECT_GT(description.multiprocessors, 0);
  EXPECT_GE(description.memoryBytes, 64 * kMebi);
}

TEST_P(DeviceTest, AllocatesToTheLimitOfItsReservation) {
  Budget budget({.tier = Tier::kDevice, .limitBytes = 8 * kMebi, .setting = "--device-memory"});
  Reservation reservation = std::move(*budget.reserve({.operatorName = "hash join build"}));
  for (Tier tier : {Tier::kDevice, Tier::kPinned}) {
    std::vector<DeviceMemory> all;
    Status refused;
    while (refused.ok() && all.size() < 100) {
      Expected<DeviceMemory> memory = device_->allocate(tier, kMebi, reservation);
      refused = memory.status();
      if (memory.ok()) {
        EXPECT_EQ(memory->at().address % 256, 0);
        all.push_back(std::move(*memory));
      }
    }
    EXPECT_EQ(all.size(), 8);
    EXPECT_EQ(refused.kind(), ErrorKind::kMemory);
    EXPECT_NE(refused.message().find("hash join build"), std::string::npos) << refused.message();
    EXPECT_EQ(reservation.chargedBytes(), 8 * kMebi);
    all.pop_back();
    EXPECT_EQ(reservation.chargedBytes(), 7 * kMebi);
    EXPECT_TRUE(device_->allocate(tier, kMebi, reservation).ok());
    all.clear();
    EXPECT_EQ(reservation.chargedBytes(), 0);
  }
}

TEST_P(DeviceTest, CopiesBetweenAllTiers) {
  constexpr Tier kTiers[] = {Tier::kDevice, Tier::kPinned, Tier::kHost};
  // With staging buffers of 64 KiB, so that some take several rounds.
  open({.stagingBytes = 64 << 10});
  for (int64_t bytes : {0, 1, 4097, 65536, 65537, 1'000'003}) {
    std::vector<char> original(bytes + 1);
    for (int64_t i = 0; i < bytes; ++i) {
      original[i] = static_cast<char>((i + bytes) * 2654435761u >> 24); // no period
    }
    for (Tier from : kTiers) {
      for (Tier to : kTiers) {
        DeviceMemory memory[2];
        std::vector<char> host[2] = {std::vector<char>(bytes + 16), std::vector<char>(bytes + 16)};
        auto place = [&](int which, Tier tier) {
          if (tier == Tier::kHost) {
            return Place::of(host[which].data() + 3);
          }
          memory[which] = allocate(tier, bytes + 16);
          return memory[which].at(3);
        };
        Place source = place(0, from), target = place(1, to);
        std::vector<Event> ready = {memory[0].ready(), memory[1].ready()};
        Expected<Event> first = device_->copy(Place::of(original.data()), source, bytes, ready);
        ASSERT_OK(first.status());
        std::vector<Event> then = {*first, memory[1].ready()};
        Expected<Event> second = device_->copy(source, target, bytes, then);
        ASSERT_OK(second.status());
        std::vector<char> found(bytes + 1);
        Expected<Event> last = device_->copy(target, Place::of(found.data()), bytes, {&*second, 1});
        ASSERT_OK(last.status());
        EXPECT_EQ(found, original) << bytes << " " << tierName(from) << " " << tierName(to);
      }
    }
  }
}

TEST_P(DeviceTest, NothingIsCopiedFromNowhere) {
  DeviceMemory memory = allocate(Tier::kDevice, 64);
  for (auto [source, target] :
       {std::pair(Place::of(nullptr), memory.at()), std::pair(memory.at(), Place::of(nullptr)),
        std::pair(Place::of(nullptr), Place::of(nullptr))}) {
    Expected<Event> done = device_->copy(source, target, 0);
    ASSERT_OK(done.status());
    EXPECT_OK(device_->wait(*done));
  }
}

TEST_P(DeviceTest, FillsAndLaunches) {
  constexpr size_t kCount = 10'000;
  std::vector<int64_t> values = counted(kCount, -5000);
  DeviceMemory source = put(values), target = allocate(Tier::kDevice, kCount * 8);
  Arguments arguments = addArguments(source.at(), target.at(), kCount - 1, 42);
  ASSERT_OK(device_->fill(target.at(), 0xff, kCount * 8).status());
  Event done = launchAdd(arguments);
  std::vector<int64_t> found = get(target.at(), kCount, {done});
  std::vector<int64_t> expected = counted(kCount, -4958);
  expected.back() = -1;
  EXPECT_EQ(found, expected);
  EXPECT_EQ(device_->poll(done), PollState::kDone);
  EXPECT_OK(device_->status());
}

TEST_P(DeviceTest, EventsOrderTheLanes) {
  // One buffer is filled, changed and read by three lanes, round after round, without the host
  // waiting.
  constexpr int kRounds = 40;
  constexpr size_t kCount = 3000;
  DeviceMemory buffer = allocate(Tier::kDevice, kCount * 8);
  DeviceMemory in = allocate(Tier::kPinned, kRounds * kCount * 8);
  DeviceMemory out = allocate(Tier::kPinned, kRounds * kCount * 8);
  auto *given = reinterpret_cast<int64_t *>(in.host());
  std::iota(given, given + kRounds * kCount, 0);
  Arguments arguments = addArguments(buffer.at(), buffer.at(), kCount, 1000);
  Event last = buffer.ready();
  for (int round = 0; round < kRounds; ++round) {
    int64_t offset = round * kCount * 8;
    Expected<Event> filled = device_->copy(in.at(offset), buffer.at(), kCount * 8, {&last, 1});
    ASSERT_OK(filled.status());
    Event changed = launchAdd(arguments, {*filled});
    Expected<Event> read = device_->copy(buffer.at(), out.at(offset), kCount * 8, {&changed, 1});
    ASSERT_OK(read.status());
    last = *read;
  }
  ASSERT_OK(device_->wait(last));
  auto *found = reinterpret_cast<int64_t *>(out.host());
  EXPECT_EQ(std::vector<int64_t>(found, found + kRounds * kCount), counted(kRounds * kCount, 1000));
}

TEST_P(DeviceTest, MemoryIsReusedInTheOrderOfStreams) {
  // Each round needs most of the reservation, and gives it back while what uses it is still to run.
  constexpr int kRounds = 30;
  constexpr size_t kCount = 200'000;
  Budget budget({.tier = Tier::kDevice, .limitBytes = 5 * kMebi, .setting = "--device-memory"});
  open({.memoryBytes = isEmulated() ? 5 * kMebi : 0});
  Reservation reservation = std::move(*budget.reserve({.operatorName = "test"}));
  DeviceMemory results = allocate(Tier::kPinned, kRounds * 8);
  std::vector<Event> reads;
  for (int round = 0; round < kRounds; ++round) {
    Expected<DeviceMemory> first = device_->allocate(Tier::kDevice, kCount * 8, reservation);
    Expected<DeviceMemory> second = device_->allocate(Tier::kDevice, kCount * 8, reservation);
    ASSERT_OK(first.status());
    ASSERT_OK(second.status());
    ASSERT_OK(device_->fill(first->at(), static_cast<uint8_t>(round), kCount * 8).status());
    Expected<Event> copied = device_->copy(first->at(), second->at(), kCount * 8);
    ASSERT_OK(copied.status());
    Place last = second->at((kCount - 1) * 8);
    Expected<Event> read = device_->copy(last, results.at(round * 8), 8, {&*copied, 1});
    ASSERT_OK(read.status());
    reads.push_back(*read);
  }
  ASSERT_OK(device_->wait(reads.back()));
  for (int round = 0; round < kRounds; ++round) {
    uint8_t expected[8];
    std::memset(expected, round, 8);
    EXPECT_EQ(std::memcmp(results.host() + round * 8, expected, 8), 0) << round;
  }
}

TEST_P(DeviceTest, PinnedMemoryStaysUntilItsCopiesHaveEnded) {
  constexpr size_t kCount = 5000;
  DeviceMemory target = allocate(Tier::kDevice, 20 * kCount * 8);
  std::vector<Event> copies;
  for (int round = 0; round < 20; ++round) {
    DeviceMemory source = allocate(Tier::kPinned, kCount * 8);
    auto *values = reinterpret_cast<int64_t *>(source.host());
    std::iota(values, values + kCount, round * kCount);
    Expected<Event> copied =
        device_->copy(source.at(), target.at(round * kCount * 8), kCount * 8, {&target.ready(), 1});
    ASSERT_OK(copied.status());
    copies.push_back(*copied);
  }
  EXPECT_EQ(get(target.at(), 20 * kCount, copies), counted(20 * kCount, 0));
}

TEST_P(DeviceTest, AGraphGivesWhatItsLaunchesGive) {
  constexpr size_t kCount = 5000;
  DeviceMemory plain = put(counted(kCount, 0)), replayed = put(counted(kCount, 0));
  DeviceMemory middle = allocate(Tier::kDevice, kCount * 8);
  // x -> x + 3 -> x + 10, in place: three times.
  auto chain = [&](Place values) {
    std::vector<Arguments> out;
    out.push_back(addArguments(values, middle.at(), kCount, 3));
    out.push_back(addArguments(middle.at(), values, kCount, 7));
    return out;
  };
  std::vector<Arguments> one = chain(plain.at()), other = chain(replayed.at());
  Event done;
  for (int round = 0; round < 3; ++round) {
    for (const Arguments &arguments : one) {
      done = launchAdd(arguments);
    }
  }
  std::vector<KernelLaunch> launches;
  for (const Arguments &arguments : other) {
    launches.push_back({kernel("add"), 2, 128, arguments.values});
  }
  Expected<std::unique_ptr<LaunchGraph>> graph = device_->record(launches);
  ASSERT_OK(graph.status());
  for (int round = 0; round < 3; ++round) {
    Expected<Event> run = device_->launch(**graph);
    ASSERT_OK(run.status());
    done = *run;
  }
  std::vector<int64_t> expected = counted(kCount, 30);
  EXPECT_EQ(get(plain.at(), kCount, {done}), expected);
  EXPECT_EQ(get(replayed.at(), kCount, {done}), expected);
}

TEST_P(DeviceTest, KernelsSayWhatTheyTake) {
  Kernel add = kernel("add");
  EXPECT_GE(add.threadsMax, 256);
  EXPECT_EQ(add.localBytes, 0);
  EXPECT_EQ(add.sharedBytes, 0);
}

TEST_P(DeviceTest, EventsHaveTimesWhereThatIsAskedFor) {
  DeviceMemory memory = allocate(Tier::kDevice, kMebi);
  Event first = memory.ready();
  Expected<Event> last = device_->fill(memory.at(), 1, kMebi);
  ASSERT_OK(device_->wait(*last));
  EXPECT_EQ(device_->secondsBetween(first, *last).status().message(),
            "these events have no time: open the device with timed events");
  first = {};
  *last = {};
  memory.reset();
  open({.timed = true});
  memory = allocate(Tier::kDevice, kMebi);
  first = memory.ready();
  last = device_->fill(memory.at(), 1, kMebi);
  ASSERT_OK(device_->wait(*last));
  Expected<double> seconds = device_->secondsBetween(first, *last);
  ASSERT_OK(seconds.status());
  EXPECT_GE(*seconds, 0);
  EXPECT_LT(*seconds, 10);
}

TEST_P(DeviceTest, WrongArgumentsAreErrorsOfTheUser) {
  DeviceMemory memory = allocate(Tier::kDevice, 64);
  auto expectUser = [&](const Status &status, const std::string &message) {
    EXPECT_EQ(status.kind(), ErrorKind::kUser);
    EXPECT_EQ(status.message(), message);
  };
  expectUser(device_->allocate(Tier::kFile, 1, reservation_).status(),
             "a device has no memory in tier: file");
  expectUser(device_->allocate(Tier::kDevice, 0, reservation_).status(),
             "an allocation must have bytes, got: 0");
  expectUser(
      device_->copy({Tier::kFile, 0}, memory.at(), 4, {}).status(),
      "a device copies no negative bytes, and none from or to tier file, got: 4 from file to "
      "device");
  expectUser(device_->fill(Place::of(&memory), 0, 4, {}).status(),
             "a device fills its own memory alone, got: 4 bytes in tier host");
  Kernel add = kernel("add");
  expectUser(device_->launch(KernelLaunch{add, 1, 4096, {}}, {}).status(),
             "a launch has at least one block and one thread, and at most " +
                 std::to_string(add.threadsMax) + " threads a block, got: 1 × 4096");
  expectUser(module_->find("subtract").status(), "the module has no kernel: subtract");
  EXPECT_OK(device_->status());
}

TEST_P(DeviceTest, ImagesThatDoNotLoadAreExplained) {
  Expected<std::unique_ptr<KernelModule>> module =
      device_->load(std::as_bytes(std::span(".version 8.0\n.target sm_80\nnonsense")));
  ASSERT_FALSE(module.ok());
  EXPECT_NE(module.status().message().find("loading kernels: CUDA_ERROR_INVALID_PTX"),
            std::string::npos)
      << module.status().message();
  EXPECT_OK(device_->status());
}

} // namespace
} // namespace headrace
