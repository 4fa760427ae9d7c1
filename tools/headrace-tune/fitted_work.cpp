// Fits parts of tasks, then parts and whole plans together.
#include "tools/headrace-tune/fitted_work.h"
#include "tools/headrace-tune/predicted_plan.h"

#include <cmath>
#include <set>

namespace headrace::tune {
namespace {

/// How much a fit leans to the assumed seconds: samples that they are worth.
constexpr double kPriorStrength = 0.02;
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

/// The kinds of work of a plan's tasks, and what a run and a task take beside them.
std::set<std::string> termsOf(const MeasuredPlan &plan, const topology::Topology &topology) {
  std::set<std::string> terms = {"run", "task", "hop"};
  for (const TaskComparison &part : compareTasks(plan, rankDevice(topology))) {
    for (const auto &[term, units] : part.terms) {
      if (units > 0) {
        terms.insert(term);
      }
    }
  }
  return terms;
}

/// A plan as a sample: how its simulated time depends on what each kind of work takes. The time is
/// the sum of these derivatives times the seconds, as that of a part is of its units; lanes that
/// wait, and tasks that overlap, are in it.
Expected<cost::TaskSample> wholePlan(const MeasuredPlan &plan, topology::Topology topology,
                                     int threads) {
  constexpr double kStep = 0.02; // of the seconds, to see what the time does
  constexpr double kWeight = 3;  // what is asked for is the time of plans: one counts for more
  cost::TaskSample sample;
  sample.seconds = plan.seconds;
  sample.weight = kWeight;
  HR_ASSIGN_OR_RETURN(double bare, predictSeconds(plan, topology, threads));
  std::map<std::string, double> &seconds = rankDeviceOf(topology).workSeconds;
  for (const std::string &term : termsOf(plan, topology)) {
    double assumed = cost::assumedSeconds().at(term);
    double before = seconds.try_emplace(term, assumed).first->second;
    double step = kStep * std::max(before, 0.1 * assumed);
    seconds[term] = before + step;
    HR_ASSIGN_OR_RETURN(double with, predictSeconds(plan, topology, threads));
    seconds[term] = before;
    sample.terms[term] = std::max(0.0, (with - bare) / step);
  }
  return sample;
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
      cost::TaskSample sample;
      sample.terms = std::move(part.terms);
      sample.seconds = part.measured;
      samples.push_back(std::move(sample));
    }
  }
  FittedWork work{fitContained(samples, cost::assumedSeconds()), samples.size()};
  // Parts say what the work takes; with that, plans say what they take as a whole.
  topology::Topology byParts = withWork(topology, work, 0);
  for (const MeasuredPlan *plan : plans) {
    HR_ASSIGN_OR_RETURN(cost::TaskSample whole, wholePlan(*plan, byParts, threads));
    samples.push_back(std::move(whole));
  }
  work.seconds = fitContained(samples, cost::assumedSeconds());
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
