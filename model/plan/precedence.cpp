// Tasks that streams connect, as disjoint sets.
#include "model/plan/precedence.h"

#include <algorithm>
#include <numeric>

namespace headrace::plan {

std::vector<int32_t> precedences(const Plan &plan) {
  // The first task of the set that a task is in, as far as it is known.
  std::vector<int32_t> first(plan.tasks.size());
  std::iota(first.begin(), first.end(), 0);
  auto find = [&](int32_t task) {
    while (first[task] != task) {
      task = first[task] = first[first[task]];
    }
    return task;
  };
  auto unite = [&](int32_t a, int32_t b) {
    a = find(a);
    b = find(b);
    first[std::max(a, b)] = std::min(a, b);
  };
  std::vector<int32_t> seen(plan.streams.size(), kNone); // a task at each stream
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    auto task = static_cast<int32_t>(t);
    for (int32_t stream : {plan.tasks[t].inputStream(), plan.tasks[t].outputStream()}) {
      if (stream != kNone) {
        seen[stream] = seen[stream] == kNone ? task : seen[stream];
        unite(task, seen[stream]);
      }
    }
    for (int32_t inner : plan.tasks[t].body()) {
      unite(task, inner);
    }
  }
  std::vector<int32_t> numbers(plan.tasks.size(), kNone);
  int32_t next = 0;
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    int32_t &number = numbers[find(static_cast<int32_t>(t))];
    number = number == kNone ? next++ : number;
    numbers[t] = number;
  }
  return numbers;
}

} // namespace headrace::plan
