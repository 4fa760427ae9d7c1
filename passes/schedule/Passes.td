// The pass of the phase `schedule`.
#ifndef HEADRACE_PASSES_SCHEDULE_PASSES_TD
#define HEADRACE_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleTasks : Pass<"schedule-tasks", "::mlir::ModuleOp"> {
  let summary = "pipelines and tensor ops to tasks, tokens and streams";
  let description = [{
    Assumes what `verify-form` checks. Afterwards the module has a `sched.program`, @main or, beside a tensor
    program's function @main, @tasks: a run for each pipeline but those that merge copies of states, behind the runs that fill
    what it reads; a load before each scan; an exchange between the pipelines of a stream; a reservation for each
    state, released behind its last user; then the tasks of the tensor ops.
  }];
  let dependentDialects = ["::headrace::sched::SchedDialect"];
  let options = [
    Option<"chunkRows", "chunk-rows", "int64_t", "0", "rows of the chunks of streams (default: as the runtime has it)">
  ];
}

#endif // HEADRACE_PASSES_SCHEDULE_PASSES_TD
