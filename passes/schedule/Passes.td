// The pass of the phase `schedule`.
#ifndef HEADRACE_PASSES_SCHEDULE_PASSES_TD
#define HEADRACE_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleTasks : Pass<"schedule-tasks", "::mlir::ModuleOp"> {
  let summary = "pipelines and tensor ops to tasks, tokens and streams";
  let description = [{
    Assumes what `verify-form` checks. Afterwards the module has a `sched.program`, @main or, beside a tensor
    program's function @main, @tasks: a run for each pipeline but those that merge copies of states, behind the runs that fill
    what it reads; a load before each scan, in pieces of which memory has room for one of each; an exchange between the pipelines of a stream; a reservation for each
    state, released behind its last user; then the tasks of the tensor ops.
  }];
  let dependentDialects = ["::headrace::sched::SchedDialect"];
  let options = [
    Option<"chunkRows", "chunk-rows", "int64_t", "0", "rows of the chunks of streams (default: as the runtime has it)">,
    Option<"memoryBytes", "memory-bytes", "int64_t", "0", "what a rank may use; 0: no limit is known">
  ];
}

def OrderTasks : Pass<"order-tasks", "::mlir::ModuleOp"> {
  let summary = "tasks in the order that the simulator finds best on a topology";
  let description = [{
    Assumes a `sched.program` as `schedule-tasks` makes it, and kernels. Workers take the tasks that are listed first, so
    the order says what goes before what else could run: the simulator compares orders on the topology, by time and by the
    states that are held at a time. Afterwards the tasks are listed in the best one, collectives wait for each other in it,
    and a reservation that has to wait for room waits for the release that makes it. What was compared is recorded in the
    explanation. Where nothing is gained, or the run is expected to take less than a hundred times the search, nothing changes.
  }];
  let dependentDialects = ["::headrace::sched::SchedDialect"];
  let options = [
    Option<"topology", "topology", "std::string", "\"\"",
           "a topology file or the name of a shipped one (default: this machine, divided)">,
    Option<"ordersMax", "orders-max", "int64_t", "0",
           "orders to simulate at most (default: by how long the run is expected to take)">,
    Option<"seed", "seed", "uint64_t", "0", "not 0: any valid order instead of the best, for tests">
  ];
}

def PlaceTasks : Pass<"place-tasks", "::mlir::ModuleOp"> {
  let summary = "runs that have a kernel for GPUs to the rank's GPU, as far as memory lets them";
  let description = [{
    Assumes a `sched.program`, and kernels. A state is in the memory of the GPU if all that fills and reads it is there;
    then runs there may read it. The groups of an aggregate that a run of a GPU fills for the CPU are copied to the host when it has
    ended; joins that the CPU probes, and rows that it sorts, it takes itself. A state that several runs fill stays on the host, as do the runs of choices and rounds. Without kernels for GPUs nothing
    changes.
  }];
  let dependentDialects = ["::headrace::sched::SchedDialect"];
}

#endif // HEADRACE_PASSES_SCHEDULE_PASSES_TD
