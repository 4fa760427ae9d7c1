// Reads one device type: what it computes, its memory or storage, its codecs.
#include "model/topology/parse_types.h"

#include <algorithm>

namespace headrace::topology {
namespace {

void readCapacity(JsonReader &reader, DeviceType &type, const FigureDefaults &defaults) {
  type.totalBytes = readFigure(reader, "capacity", Presence::kRequired, Bound::kPositive, defaults);
  type.reservedBytes =
      readFigure(reader, "reserved", Presence::kOptional, Bound::kNotNegative, defaults);
  if (reader.ok() && type.reservedBytes.value >= type.totalBytes.value) {
    reader.failAt("reserved", "reserved must be below capacity, got ", type.reservedBytes.value);
  }
  type.capacityBytes = type.totalBytes.value - type.reservedBytes.value;
}

void readRandomAccess(JsonReader &point, DeviceType &type, const FigureDefaults &defaults) {
  if (!point.value().is_array() || point.value().size() != 2) {
    point.fail("expected [working set bytes, bytes per second]");
    return;
  }
  JsonReader workingSet(point.value()[0], point.path() + "[0]", *point.failure());
  JsonReader rate(point.value()[1], point.path() + "[1]", *point.failure());
  RandomAccessPoint access;
  access.workingSetBytes = workingSet.asNumber();
  access.bytesPerSecond = readFigure(rate, Bound::kPositive, defaults);
  bool ascending = type.randomAccess.empty() ||
                   access.workingSetBytes > type.randomAccess.back().workingSetBytes;
  if (point.ok() && (access.workingSetBytes < 1 || !ascending)) {
    point.fail("expected ascending working sets of at least 1 byte, got ", access.workingSetBytes);
    return;
  }
  type.randomAccess.push_back(std::move(access));
}

void readCache(JsonReader &reader, DeviceType &type, const FigureDefaults &defaults) {
  Cache cache;
  cache.level = reader.integer("level", Presence::kRequired);
  if (reader.ok() && (cache.level < 1 || cache.level > 8)) {
    reader.failAt("level", "level must be from 1 to 8, got ", cache.level);
  }
  if (reader.ok() && !type.caches.empty() && cache.level <= type.caches.back().level) {
    reader.failAt("level", "levels must ascend, got ", cache.level);
  }
  cache.capacityBytes =
      readFigure(reader, "capacity", Presence::kRequired, Bound::kPositive, defaults);
  cache.bandwidth = readFigure(reader, "bw", Presence::kOptional, Bound::kPositive, defaults);
  cache.sharers = reader.integer("sharers", Presence::kOptional, 1);
  if (reader.ok() && cache.sharers < 1) {
    reader.failAt("sharers", "sharers must be at least 1, got ", cache.sharers);
  }
  reader.finish();
  type.caches.push_back(std::move(cache));
}

void readMemory(JsonReader &memory, DeviceType &type, const FigureDefaults &defaults) {
  type.space = memory.text("space", Presence::kRequired);
  expectName(memory, type.space);
  readCapacity(memory, type, defaults);
  type.memoryBandwidth = readFigure(memory, "bw", Presence::kRequired, Bound::kPositive, defaults);
  type.latencySeconds =
      readFigure(memory, "alpha", Presence::kOptional, Bound::kNotNegative, defaults);
  memory.elements("random_gather", Presence::kOptional,
                  [&](JsonReader &point) { readRandomAccess(point, type, defaults); });
  memory.elements("caches", Presence::kOptional,
                  [&](JsonReader &cache) { readCache(cache, type, defaults); });
  type.pinnedBytesMax =
      readFigure(memory, "pinned_max", Presence::kOptional, Bound::kPositive, defaults);
  if (memory.ok() && type.pinnedBytesMax.value > type.totalBytes.value) {
    memory.failAt("pinned_max", "pinned_max must be at most capacity, got ",
                  type.pinnedBytesMax.value);
  }
  type.pinSecondsPerByte =
      readFigure(memory, "pin_cost", Presence::kOptional, Bound::kNotNegative, defaults);
  type.coreCopyBandwidth =
      readFigure(memory, "copy_core", Presence::kOptional, Bound::kPositive, defaults);
  type.pageBytes = static_cast<double>(memory.integer("page", Presence::kOptional));
  type.saturatingCores = memory.integer("sat_cores", Presence::kOptional);
  memory.finish();
}

void readCompute(JsonReader &reader, DeviceType &type, const FigureDefaults &defaults) {
  Quantity efficiency(1);
  bool common = false;
  reader.child("compute", Presence::kOptional, [&](JsonReader &compute) {
    common = compute.has("eff");
    efficiency = readFigure(compute, "eff", Presence::kOptional, Bound::kPositive, defaults, 1);
    if (compute.ok() && efficiency.value > 1.2) {
      compute.failAt("eff", "eff must be at most 1.2, got ", efficiency.value);
    }
  });
  reader.members("compute", Presence::kOptional, [&](const std::string &kind, JsonReader &rate) {
    if (kind != "eff" && expectName(rate, kind)) {
      type.compute[kind] = readFigure(rate, Bound::kPositive, defaults);
    }
  });
  if (common) {
    // What is achieved is known no better than the efficiency.
    for (auto &[kind, rate] : type.compute) {
      rate.efficiency *= efficiency.value;
      rate.value = rate.nominal * rate.efficiency;
      rate.relativeError = efficiency.relativeError;
      rate.provenance = efficiency.provenance;
    }
  }
  type.computeRelativeError = type.compute.empty() ? defaults.relativeError : 0;
  for (const auto &[kind, rate] : type.compute) {
    type.computeRelativeError = std::max(type.computeRelativeError, rate.relativeError);
  }
}

Codec readCodec(const std::string &name, JsonReader &reader, int64_t cores,
                const FigureDefaults &defaults) {
  // What the codec says of itself holds for its figures that say nothing.
  FigureDefaults own = defaults;
  own.relativeError = readRelativeError(reader, defaults.relativeError);
  own.provenance = readProvenance(reader, defaults);
  Codec codec;
  codec.name = name;
  codec.ratio = readFigure(reader, "ratio", Presence::kOptional, Bound::kPositive, own, 2);
  if (reader.ok() && codec.ratio.value < 1) {
    reader.failAt("ratio", "ratio must be at least 1 (bytes before / after), got ",
                  codec.ratio.value);
  }
  codec.compressBytesPerSecond =
      readFigure(reader, "enc", Presence::kRequired, Bound::kPositive, own);
  codec.decompressBytesPerSecond =
      readFigure(reader, "dec", Presence::kRequired, Bound::kPositive, own);
  std::string per = reader.text("per", Presence::kOptional, "device");
  if (reader.ok() && per != "core" && per != "device") {
    reader.failAt("per", "per must be core or device, got ", per);
  }
  for (Quantity *rate : {&codec.compressBytesPerSecond, &codec.decompressBytesPerSecond}) {
    if (per == "core") {
      rate->nominal *= static_cast<double>(cores);
      rate->value = rate->nominal * rate->efficiency;
    }
    codec.relativeError = std::max(rate->relativeError, codec.ratio.relativeError);
  }
  codec.relativeError = std::max(codec.relativeError, codec.compressBytesPerSecond.relativeError);
  reader.finish();
  return codec;
}

void readStorage(JsonReader &reader, DeviceType &type, const FigureDefaults &defaults) {
  type.space = reader.text("space", Presence::kRequired);
  expectName(reader, type.space);
  readCapacity(reader, type, defaults);
  reader.child("read", Presence::kRequired, [&](JsonReader &read) {
    type.readBandwidth = readFigure(read, "bw", Presence::kRequired, Bound::kPositive, defaults);
    type.latencySeconds =
        readFigure(read, "alpha", Presence::kOptional, Bound::kNotNegative, defaults);
    type.readQueueDepth = read.integer("qd", Presence::kOptional);
    read.finish();
  });
  reader.child("write", Presence::kRequired, [&](JsonReader &write) {
    type.writeBandwidth = readFigure(write, "bw", Presence::kRequired, Bound::kPositive, defaults);
    type.writeLatencySeconds =
        readFigure(write, "alpha", Presence::kOptional, Bound::kNotNegative, defaults);
    type.writeQueueDepth = write.integer("qd", Presence::kOptional);
    write.finish();
  });
  type.directAccess =
      reader.flag("gds") ? DeviceType::DirectAccess::kYes : DeviceType::DirectAccess::kNo;
}

void readProcessor(JsonReader &reader, DeviceType &type, const FigureDefaults &defaults) {
  // A GPU's cores are its streaming multiprocessors.
  const char *cores = type.deviceClass == DeviceClass::kGpu ? "sms" : "cores";
  type.cores = reader.integer(cores, Presence::kOptional, 1);
  if (reader.ok() && type.cores < 1) {
    reader.failAt(cores, cores, " must be at least 1, got ", type.cores);
  }
  type.numaNodes = reader.integer("numa", Presence::kOptional, 1);
  reader.child("mem", Presence::kRequired,
               [&](JsonReader &memory) { readMemory(memory, type, defaults); });
  readCompute(reader, type, defaults);
  reader.members("work", Presence::kOptional, [&](const std::string &term, JsonReader &seconds) {
    double value = seconds.asNumber();
    if (seconds.ok() && value < 0) {
      seconds.fail("seconds must not be negative, got ", value);
    }
    if (term == "relative_error") {
      type.workRelativeError = value;
    } else if (expectName(seconds, term)) {
      type.workSeconds[term] = value;
    }
  });
  reader.child("launch", Presence::kOptional, [&](JsonReader &launch) {
    auto seconds = [&](const char *key) {
      return readFigure(launch, key, Presence::kOptional, Bound::kNotNegative, defaults);
    };
    type.launchSeconds = seconds("kernel");
    type.graphLaunchSeconds = seconds("graph_node");
    type.synchronizeSeconds = seconds("sync");
    launch.finish();
  });
  reader.child("engines", Presence::kOptional, [&](JsonReader &engines) {
    type.copyEngines = engines.integer("copy", Presence::kOptional);
    type.communicationCoresMax = engines.integer("comm_sms_max", Presence::kOptional);
    engines.finish();
  });
}

} // namespace

bool expectName(JsonReader &reader, const std::string &name) {
  bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_';
  });
  if (reader.ok() && !plain) {
    reader.fail("a name has letters, digits, - and _ only, got ", name);
  }
  return plain;
}

DeviceType readDeviceType(const std::string &name, JsonReader &reader,
                          const FigureDefaults &defaults) {
  DeviceType type;
  type.name = name;
  type.deviceClass = reader.oneOf(
      "class", Presence::kRequired, {DeviceClass::kCpu, DeviceClass::kGpu, DeviceClass::kStorage},
      deviceClassName, type.deviceClass, "class must be cpu, gpu or storage, got ");
  type.architecture = reader.text("arch", Presence::kOptional);
  type.meanTimeBetweenFailures =
      readFigure(reader, "mtbf", Presence::kOptional, Bound::kPositive, defaults);
  if (type.deviceClass == DeviceClass::kStorage) {
    readStorage(reader, type, defaults);
  } else {
    readProcessor(reader, type, defaults);
  }
  reader.members("codecs", Presence::kOptional, [&](const std::string &codec, JsonReader &value) {
    if (expectName(value, codec)) {
      type.codecs.push_back(readCodec(codec, value, type.cores, defaults));
    }
  });
  reader.finish();
  return type;
}

} // namespace headrace::topology
