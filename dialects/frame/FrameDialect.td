// The dialect definition of `frame`: tables in the global view (level L1).
#ifndef HEADRACE_FRAME_DIALECT_TD
#define HEADRACE_FRAME_DIALECT_TD

include "mlir/IR/OpBase.td"

def Frame_Dialect : Dialect {
  let name = "frame";
  let cppNamespace = "::headrace::frame";
  let summary = "logical tables: what is computed, in the global view";
  let description = [{
    The relational half of level L1: ops on whole tables, with no word about ranks, order of work or
    memory. A query is `func.func @main() -> !frame.table<…>`; the names the user asked for stand on
    the function as `frame.result_names` (column names inside are unique in the query).

    Expressions are regions. The block arguments of such a region are the columns it uses, in the
    order of the op's `columns` list; its terminator is `frame.yield`. Inside are only `frame` scalar
    ops on `frame` scalar types; a scalar from outside (`frame.scalar_subquery`) may be used directly.
    NULL is in the type (`!frame.nullable<T>`) and the ops have SQL's three-valued logic. One pass at
    the start of `form` makes it explicit.

    Errors (overflow, division by zero, casts) are raised by demand: only for rows that reach the op,
    and under `frame.case` only for the branch that is taken.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// The function attribute with the column names that the user asked for (array of strings).
    static ::llvm::StringRef getResultNamesAttrName() { return "frame.result_names"; }
    /// The function attribute of one whose result's rows stay on the ranks that make them: the
    /// columns by whose hash they are divided (array of strings), which `shard` finds. Of one that
    /// returns tensors, whose parts stay on the ranks: empty.
    static ::llvm::StringRef getResultResidentAttrName() { return "frame.result_resident"; }

  private:
    void registerTypes();
    void registerAttrs();

  public:
  }];
}

#endif // HEADRACE_FRAME_DIALECT_TD
