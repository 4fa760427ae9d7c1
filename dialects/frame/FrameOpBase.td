// What every op of `frame` shares.
#ifndef HEADRACE_FRAME_OP_BASE_TD
#define HEADRACE_FRAME_OP_BASE_TD

include "dialects/frame/FrameAttrs.td"
include "dialects/frame/FrameTypes.td"
include "dialects/interfaces/KnownAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

class Frame_Op<string mnemonic, list<Trait> traits = []>
    : Op<Frame_Dialect, mnemonic, !listconcat([KnownAttributes], traits)>;

#endif // HEADRACE_FRAME_OP_BASE_TD
