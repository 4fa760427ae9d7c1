// One long page of codes, decoded: bytes that are read and written, beside the copying kernel.
#include "runtime/abi/device_kernel.h"
#include "runtime/device/decode/code_runs.h"
#include "tools/headrace-gpu/checks.h"
#include "tools/headrace-gpu/hybrid_stream.h"
#include "tools/headrace-gpu/measure.h"

namespace headrace::gpu {

namespace {

constexpr int kRounds = 10;
constexpr uint32_t kCodes = 50; // as l_quantity has

struct Decoded {
  std::string wrong;
  double seconds = 0;
  uint64_t bytes = 0, rows = 0, runs = 0;
};

Expected<Decoded> decodeLongPage(Session &session) {
  Device &device = session.device();
  HR_ASSIGN_OR_RETURN(Kernel kernel, session.handKernel("decode_kernels", "decode_codes"));
  Decoded out;
  out.rows = session.isEmulated() ? 20'000 : 64'000'000;
  std::vector<uint32_t> codes(out.rows);
  uint32_t seed = 1;
  for (size_t row = 0; row < codes.size(); ++row) {
    seed = seed * 1664525 + 1013904223;
    codes[row] = row / 4096 % 4 == 0 ? 7 : (seed >> 16) % kCodes; // a quarter in long runs
  }
  uint32_t width = bitWidthOf(codes);
  std::vector<uint8_t> stream = encodeHybrid(codes, width);
  HR_ASSIGN_OR_RETURN(decode::CodeRuns split,
                      decode::splitCodeRuns(stream, width, 0, static_cast<uint32_t>(out.rows)));
  const std::span<const uint8_t> needed = split.needed(stream);
  out.runs = split.runs.size();
  DeviceArena arena(device, session.reservation());
  uint64_t target = arena.allocate(out.rows * sizeof(uint32_t));
  decode::DecodeCodesParameters parameters = {
      reinterpret_cast<const decode::CodeRun *>(arena.put(split.runs)),
      split.runs.size(),
      reinterpret_cast<const uint32_t *>(arena.put(std::as_bytes(needed))),
      reinterpret_cast<uint32_t *>(target),
      out.rows,
      width,
      0};
  HrArgs args = {};
  args.literals = reinterpret_cast<const void *>(arena.put(parameters));
  uint64_t arguments[] = {arena.put(args), arena.put(HrDevice{})}, first = arena.allocate(8);
  HR_RETURN_IF_ERROR(arena.status());
  auto threads = static_cast<uint32_t>(std::min(256, kernel.threadsMax));
  for (uint32_t each : {4, 8, 16}) {
    KernelLaunch launch{kernel, each * device.description().multiprocessors, threads, arguments};
    HR_ASSIGN_OR_RETURN(double seconds, medianSeconds(device, first, kRounds, [&](const Event &) {
                          return device.launch(launch);
                        }));
    out.seconds = out.seconds == 0 ? seconds : std::min(out.seconds, seconds);
  }
  out.bytes = needed.size() + out.runs * sizeof(decode::CodeRun) + out.rows * sizeof(uint32_t);
  std::vector<std::byte> found = arena.read(target, out.rows * sizeof(uint32_t));
  HR_RETURN_IF_ERROR(arena.status());
  if (!std::ranges::equal(found, bytesOf(codes))) {
    // no test: what a broken kernel might give
    out.wrong = "codes differ";
  }
  return out;
}

} // namespace

void measureDecoding(Session &session) {
  Expected<double> copying = copyingBandwidth(session);
  Expected<Decoded> decoded = decodeLongPage(session);
  Status status = copying.ok() ? decoded.status() : copying.status();
  if (!status.ok()) {
    return session.report("decoding/codes", "figure", status);
  }
  double bandwidth = static_cast<double>(decoded->bytes) / decoded->seconds;
  session.report("decoding/codes", "figure", decoded->wrong,
                 {{"value", bandwidth / 1e9},
                  {"unit", "GB/s"},
                  {"rows", decoded->rows},
                  {"runs", decoded->runs},
                  {"rows_a_second", static_cast<double>(decoded->rows) / decoded->seconds},
                  {"share_of_copying_kernel", bandwidth / *copying}});
}

} // namespace headrace::gpu
