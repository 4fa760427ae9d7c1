// Parts of tasks first, then what plans take beside them.
#include "tools/headrace-tune/fitted_work.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <cmath>

namespace headrace::tune {
namespace {

/// How much a fit leans to the assumed seconds: samples that they are worth.
constexpr double kPriorStrength = 0.05;
/// Shorter parts are more of the clock than of the work.
constexpr double kPartSecondsMin = 20e-6;

std::vector<TaskComparison> partsOf(const MeasuredPlan &plan, const topology::Topology &topology) {
  std::vector<TaskComparison> parts = compareTasks(plan, rankDevice(topology));
  std::erase_if(parts, [](const TaskComparison &part) { return part.measured <= kPartSecondsMin; });
  return parts;
}

topology::DeviceType &rankDeviceOf(topology::Topology &topology) {
  return topology.deviceTypes.at(rankDevice(topology).name);
}

/// Seconds a unit of the terms that the samples contain.
std::map<std::string, double> fitContained(const std::vector<cost::TaskSample> &samples,
                                           const std::map<std::string, double> &assumed) {
  std::map<std::string, double> seconds = cost::fitTerms(samples, assumed, kPriorStrength);
  std::erase_if(seconds, [&](const auto &term) {
    return std::none_of(samples.begin(), samples.end(), [&](const cost::TaskSample &sample) {
      auto found = sample.terms.find(term.first);
      return found != sample.terms.end() && found->second > 0;
    });
  });
  return seconds;
}

/// What a run and each of its tasks take beside their work: so that the simulated times of the
/// plans meet the measured ones.
Expected<std::map<std::string, double>> fitOverheads(const MeasuredPlans &plans,
                                                     topology::Topology topology, int threads) {
  std::map<std::string, double> &seconds = rankDeviceOf(topology).workSeconds;
  const std::vector<std::string> terms = {"run", "task", "hop"};
  constexpr double kProbe = 10e-6; // seconds of one of them, to see how often it counts
  std::vector<cost::TaskSample> samples;
  for (const MeasuredPlan *plan : plans) {
    // In a long plan what is left is the error of its work, and not what it takes beside it.
    constexpr double kShort = 3e-3;
    if (plan->seconds > kShort) {
      continue;
    }
    auto predicted = [&](const std::string &probed) -> Expected<double> {
      for (const std::string &term : terms) {
        seconds[term] = term == probed ? kProbe : 0;
      }
      return predictSeconds(*plan, topology, threads);
    };
    HR_ASSIGN_OR_RETURN(double bare, predicted(""));
    cost::TaskSample sample;
    sample.seconds = plan->seconds;
    sample.terms["work"] = bare; // may be too much or too little by itself
    for (const std::string &term : terms) {
      HR_ASSIGN_OR_RETURN(double with, predicted(term));
      sample.terms[term] = (with - bare) / kProbe;
    }
    samples.push_back(std::move(sample));
  }
  std::map<std::string, double> assumed = {{"work", 1}};
  for (const std::string &term : terms) {
    assumed[term] = cost::assumedSeconds().at(term);
  }
  std::map<std::string, double> fitted = fitContained(samples, assumed);
  fitted.erase("work");
  return fitted;
}

void add(PredictionErrors &errors, const PredictionErrors &more) {
  errors.parts.insert(errors.parts.end(), more.parts.begin(), more.parts.end());
  errors.plans.insert(errors.plans.end(), more.plans.begin(), more.plans.end());
}

} // namespace

Expected<FittedWork> fitWork(const MeasuredPlans &plans, const topology::Topology &topology,
                             int threads) {
  std::vector<cost::TaskSample> samples;
  for (const MeasuredPlan *plan : plans) {
    for (TaskComparison &part : partsOf(*plan, topology)) {
      samples.push_back({std::move(part.terms), part.measured});
    }
  }
  FittedWork work{fitContained(samples, cost::assumedSeconds()), samples.size()};
  HR_ASSIGN_OR_RETURN(auto overheads, fitOverheads(plans, withWork(topology, work, 0), threads));
  overheads.merge(work.seconds);
  work.seconds = std::move(overheads);
  return work;
}

topology::Topology withWork(topology::Topology topology, const FittedWork &work,
                            double relativeError) {
  topology::DeviceType &device = rankDeviceOf(topology);
  device.workRelativeError = relativeError;
  for (const auto &[term, seconds] : work.seconds) {
    device.workSeconds[term] = seconds;
  }
  double cores = static_cast<double>(device.cores);
  auto set = [&](const char *kind, const char *term, double operations) {
    auto found = work.seconds.find(term);
    if (found != work.seconds.end() && found->second > 0) {
      device.compute[kind] = topology::Quantity(operations * cores / found->second, relativeError);
      device.compute[kind].provenance.origin = topology::Origin::kFitted;
    }
  };
  set("f32", "product_f32", 2);
  set("f64", "product_f64", 2);
  return topology;
}

Expected<PredictionErrors> predictionErrors(const MeasuredPlans &plans,
                                            const topology::Topology &topology, int threads) {
  PredictionErrors errors;
  for (const MeasuredPlan *plan : plans) {
    for (const TaskComparison &part : partsOf(*plan, topology)) {
      errors.parts.push_back(std::abs(part.predicted / part.measured - 1));
    }
    HR_ASSIGN_OR_RETURN(double predicted, predictSeconds(*plan, topology, threads));
    errors.plans.push_back(std::abs(predicted / plan->seconds - 1));
  }
  return errors;
}

Expected<PredictionErrors> heldOutErrors(const MeasuredPlans &plans,
                                         const topology::Topology &topology, int threads) {
  PredictionErrors errors;
  MeasuredPlans halves[2];
  for (size_t i = 0; i < plans.size(); ++i) {
    halves[i % 2].push_back(plans[i]);
  }
  for (size_t held = 0; held < 2 && plans.size() > 1; ++held) {
    HR_ASSIGN_OR_RETURN(FittedWork work, fitWork(halves[1 - held], topology, threads));
    HR_ASSIGN_OR_RETURN(PredictionErrors half,
                        predictionErrors(halves[held], withWork(topology, work, 0), threads));
    add(errors, half);
  }
  return errors;
}

} // namespace headrace::tune
