// Everything of the `frame` dialect, for mlir-tblgen.
include "dialects/frame/FrameRelations.td"
include "dialects/frame/FrameWindow.td"
include "dialects/frame/FrameExpressions.td"
include "dialects/frame/FrameLambdas.td"
