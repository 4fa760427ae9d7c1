// Reads /sys/class/infiniband and /sys/class/net.
#include "tools/headrace-topo/network_cards.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace headrace::topo {
namespace {

namespace fs = std::filesystem;

template <typename T> T readValue(const fs::path &path, T otherwise) {
  std::ifstream file(path);
  T value;
  return file >> value ? value : otherwise;
}

std::vector<fs::path> entriesOf(const char *folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// "400 Gb/sec (4X NDR)"
std::vector<NetworkCard> infiniband() {
  std::vector<NetworkCard> cards;
  for (const fs::path &card : entriesOf("/sys/class/infiniband")) {
    double gigabits = readValue(card / "ports" / "1" / "rate", 0.0);
    if (gigabits > 0) {
      cards.push_back({card.filename(), gigabits * 1e9 / 8, 0});
    }
  }
  return cards;
}

} // namespace

std::vector<NetworkCard> networkCardsOfThisMachine() {
  if (std::vector<NetworkCard> cards = infiniband(); !cards.empty()) {
    return cards;
  }
  constexpr int kEthernet = 1;
  std::vector<NetworkCard> cards;
  std::vector<NetworkCard> madeUp;
  for (const fs::path &card : entriesOf("/sys/class/net")) {
    std::error_code error;
    bool up = readValue(card / "operstate", std::string()) == "up";
    bool bridge = fs::exists(card / "bridge", error) || fs::exists(card / "tun_flags", error);
    if (!up || bridge || readValue(card / "type", 0) != kEthernet) {
      continue;
    }
    double megabits = std::max(0.0, readValue(card / "speed", 0.0)); // -1 if not known
    bool real = fs::exists(card / "device", error);
    (real ? cards : madeUp).push_back({card.filename(), megabits * 1e6 / 8, 0});
  }
  if (cards.empty() && !madeUp.empty()) {
    cards = {madeUp.front()};
  }
  return cards;
}

} // namespace headrace::topo
