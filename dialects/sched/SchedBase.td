// The dialect itself, and the classes of its definitions.
#ifndef HEADRACE_DIALECTS_SCHED_BASE_TD
#define HEADRACE_DIALECTS_SCHED_BASE_TD

include "dialects/interfaces/KnownAttributes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sched_Dialect : Dialect {
  let name = "sched";
  let cppNamespace = "::headrace::sched";
  let summary = "Tasks, tokens, streams and buffers of a rank's program";
  let description = [{
    A `sched.program` is the SPMD text that every rank of a role runs. An edge is a token (the task finishes before the
    other starts) or a stream (a bounded channel of chunks, consumed while it is produced). Kernels and states are
    named by symbol: `pipe.pipeline` and `pipe.state`. No op takes an attribute that it does not declare.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::headrace::dist::DistDialect"]; // of a buffer: how its dimensions are divided
}

class Sched_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::headrace::sched";
  let genSpecializedAttr = 0;
}

class Sched_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Sched_Dialect, opMnemonic, !listconcat(traits, [KnownAttributes])>;

#endif
