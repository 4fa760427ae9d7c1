// Everything of the `dist` dialect, for mlir-tblgen.
include "dialects/dist/DistAttrs.td"
include "dialects/dist/DistOps.td"
