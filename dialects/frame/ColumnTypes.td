// What the user calls the columns of physical rows, in the dialects below: scalar types of `frame`. Which columns may be
// NULL, the rows say.
#ifndef HEADRACE_FRAME_COLUMNTYPES_TD
#define HEADRACE_FRAME_COLUMNTYPES_TD

include "mlir/IR/CommonAttrConstraints.td"

def Frame_ColumnType
    : Type<CPred<"::headrace::frame::isScalar($_self) && !::headrace::frame::isNullable($_self)">,
           "scalar of frame, not nullable">;
def Frame_ColumnTypesAttr
    : TypedArrayAttrBase<TypeAttrOf<Frame_ColumnType>, "array of scalar types of frame, none nullable">;

#endif // HEADRACE_FRAME_COLUMNTYPES_TD
