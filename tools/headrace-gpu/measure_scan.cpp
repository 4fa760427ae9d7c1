// A case's scan over its rows many times: bytes a second beside the copying kernel's, checked too.
#include "tools/headrace-gpu/case_run.h"
#include "tools/headrace-gpu/checks.h"
#include "tools/headrace-gpu/measure.h"

namespace headrace::gpu {

namespace {

constexpr double kShareLeast = 0.8; ///< of the copying kernel's bandwidth: the target
constexpr int kRounds = 5;

struct Scanned {
  std::string wrong;
  double seconds = 0;
  uint32_t blocks = 0;
  uint64_t rows = 0, bytes = 0;
  Json byBlocks = Json::object();
};

Expected<Scanned> scan(Session &session, const Case &example) {
  Device &device = session.device();
  const Json &figure = example.document.at("figure");
  const Json *kernel = example.kernel(figure.at("kernel"));
  auto table = example.tables.find(kernel->value("table", ""));
  if (table == example.tables.end()) {
    return Status(ErrorKind::kCorrupt, "a figure is about a scan of a table of its case");
  }
  uint64_t wanted =
      session.isEmulated() ? table->second.rows * 2 : figure.at("rows").get<uint64_t>();
  uint64_t repeated = std::max<uint64_t>(1, wanted / table->second.rows);
  Form form = formOf(figure.at("form"));
  HR_ASSIGN_OR_RETURN(std::unique_ptr<KernelModule> module,
                      session.load(session.options().bundle / "cases" / example.name, "kernels"));
  HR_ASSIGN_OR_RETURN(PageKernels pages, pageKernels(session));
  DeviceArena arena(device, session.reservation());
  Scanned out;
  out.rows = repeated * table->second.rows;
  out.bytes = out.rows * rowBytes(table->second, kernel->at("columns"), form);
  auto multiprocessors = static_cast<uint32_t>(device.description().multiprocessors);
  CaseShape shape{form, 2 * multiprocessors, 0};
  CaseRun run(example, *module, pages, arena, shape, repeated);
  Json step = {{"kernel", figure.at("kernel")},
               {"capacity", figure.value("capacity", Json::object())}};
  HR_ASSIGN_OR_RETURN(PreparedLaunch prepared, run.prepare(step));
  HR_RETURN_IF_ERROR(run.launch(prepared));
  HR_ASSIGN_OR_RETURN(out.wrong, run.difference());
  uint64_t first = arena.allocate(8);
  HR_RETURN_IF_ERROR(arena.status());
  uint64_t arguments[] = {prepared.args, prepared.device};
  for (uint32_t each : {1, 2, 4, 5, 8, 10, 16, 32}) {
    KernelLaunch launch{prepared.kernel, each * multiprocessors, prepared.threads, arguments};
    HR_ASSIGN_OR_RETURN(double seconds, medianSeconds(device, first, kRounds, [&](const Event &) {
                          return device.launch(launch);
                        }));
    out.byBlocks[std::to_string(each)] = static_cast<double>(out.bytes) / seconds / 1e9;
    if (out.seconds == 0 || seconds < out.seconds) {
      out.seconds = seconds;
      out.blocks = launch.blocks;
    }
  }
  return out;
}

} // namespace

void measureScan(Session &session, const std::string &name) {
  std::string title = "scan/" + name;
  Expected<double> copying = copyingBandwidth(session);
  Expected<std::unique_ptr<Case>> example = readCase(session.options().bundle / "cases" / name);
  Status status = copying.ok() ? example.status() : copying.status();
  if (!status.ok()) {
    return session.report(title, "figure", status);
  }
  Expected<Scanned> scanned = scan(session, **example);
  if (!scanned.ok()) {
    return session.report(title, "figure", scanned.status());
  }
  double bandwidth = static_cast<double>(scanned->bytes) / scanned->seconds;
  session.report(title, "figure", scanned->wrong,
                 {{"value", bandwidth / 1e9},
                  {"unit", "GB/s"},
                  {"rows", scanned->rows},
                  {"milliseconds", scanned->seconds * 1e3},
                  {"blocks", scanned->blocks},
                  {"by_blocks_a_multiprocessor", scanned->byBlocks},
                  {"share_of_copying_kernel", bandwidth / *copying},
                  {"target", kShareLeast},
                  {"reached", bandwidth >= kShareLeast * *copying}});
}

} // namespace headrace::gpu
