// JSON for what is small, and the kernels as they are.
#include "runtime/session/order.h"

#include <nlohmann/json.hpp>

#include "runtime/bootstrap/frames.h"

namespace headrace::session {

namespace {

/// What peers must agree on to understand each other, and what changes results.
constexpr const char *kShared[] = {"exchangeBuffer",   "exchangeWindow", "collectiveBuffer",
                                   "collectiveWindow", "collectiveTree", "checksums",
                                   "deterministic",    "shareMorsels",   "trace",
                                   "traceEvents"};

} // namespace

std::string Order::pack() const {
  nlohmann::json rest{
      {"tables", tables}, {"prints", prints}, {"settings", settings}, {"sink", sink}};
  return packTexts({call, plan, kernels, manifest, rest.dump()});
}

Expected<Order> Order::unpack(std::string_view text) {
  std::vector<std::string> texts = unpackTexts(text);
  nlohmann::json rest =
      texts.size() == 5 ? nlohmann::json::parse(texts[4], nullptr, false) : nlohmann::json();
  if (!rest.is_object()) {
    // no test: it takes a rank 0 of another build, which knows the job's secret
    return makeError(ErrorKind::kMismatch, "rank 0 asks for something that this build does not "
                                           "know; start the same build on all machines");
  }
  Order order;
  order.call = texts[0];
  order.plan = texts[1];
  order.kernels = texts[2];
  order.manifest = texts[3];
  order.tables = rest["tables"].get<exec::TablePaths>();
  order.prints = rest["prints"].get<std::map<std::string, std::string>>();
  order.settings = rest["settings"].get<std::map<std::string, std::string>>();
  order.sink = rest["sink"].get<std::string>();
  return order;
}

Status Order::setShared(const Settings &given) {
  for (const char *name : kShared) {
    HR_ASSIGN_OR_RETURN(settings[name], given.get(name));
  }
  settings["randomSeed"] = std::to_string(given.runSeed());
  return {};
}

Expected<Settings> Order::applied(Settings own) const {
  for (const auto &[name, value] : settings) {
    HR_RETURN_IF_ERROR(own.set(name, value));
  }
  return own;
}

std::string packTexts(const std::vector<std::string> &texts) {
  std::string packed;
  for (const std::string &text : texts) {
    packed += packFrame(text);
  }
  return packed;
}

std::vector<std::string> unpackTexts(std::string_view packed) {
  std::vector<std::string> texts;
  while (std::optional<std::string_view> text = frameAt(packed)) {
    texts.emplace_back(*text);
    packed.remove_prefix(sizeof(uint32_t) + text->size());
  }
  return texts;
}

std::vector<std::string> textsOf(const Status &status) {
  return {std::string(1, static_cast<char>(status.kind())), status.message(), status.place()};
}

Status statusOf(const std::vector<std::string> &texts) {
  if (texts.size() < 3 || texts[0].empty()) {
    return makeError(ErrorKind::kInternal, "the outcome of a rank was cut off");
  }
  auto kind = static_cast<ErrorKind>(texts[0][0]);
  return kind == ErrorKind::kOk ? Status() : Status(kind, texts[1], texts[2]);
}

} // namespace headrace::session
