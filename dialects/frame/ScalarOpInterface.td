// The interface of ops of expressions: what the cost model asks of them.
#ifndef HEADRACE_FRAME_SCALAR_OP_INTERFACE_TD
#define HEADRACE_FRAME_SCALAR_OP_INTERFACE_TD

include "mlir/IR/OpBase.td"

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::headrace::frame";
  let description = [{
    An op on values of one row. One that says nothing takes an instruction or two for each row.
  }];
  let methods = [
    InterfaceMethod<"The kind of work that it is.", "::headrace::frame::ScalarWork", "getWork", (ins), "",
      "return ::headrace::frame::ScalarWork::kPlain;">,
    InterfaceMethod<"How often it is done for a row.", "double", "getWorkUnits", (ins), "", "return 1;">,
  ];
}

#endif // HEADRACE_FRAME_SCALAR_OP_INTERFACE_TD
