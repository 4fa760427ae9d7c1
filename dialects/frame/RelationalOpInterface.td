// The interface of ops that make a table of tables: all that passes ask of them.
#ifndef HEADRACE_FRAME_RELATIONAL_OP_INTERFACE_TD
#define HEADRACE_FRAME_RELATIONAL_OP_INTERFACE_TD

include "mlir/IR/OpBase.td"

def RelationalOpInterface : OpInterface<"RelationalOpInterface"> {
  let cppNamespace = "::headrace::frame";
  let description = [{
    An op with one table as its result says here, once, what it means: where its columns come from, how rows go
    through it, where they may lie on the ranks. Passes follow from that and do not ask which op it is. A method
    without a default must be written for each op; one with a default says what holds of most.
  }];
  let methods = [
    //===--- columns -----------------------------------------------------------------------===//
    InterfaceMethod<"The result columns that are columns of an operand.",
      "::llvm::SmallVector<::headrace::frame::PassedColumn>", "getPassedColumns">,
    InterfaceMethod<[{The columns of a table operand that the op needs to make the columns `wanted` of its result.}],
      "::headrace::frame::ColumnSet", "getNeededColumns",
      (ins "unsigned":$operand, "const ::headrace::frame::ColumnSet &":$wanted)>,
    InterfaceMethod<"What to do about columns of an operand that the op does not need.",
      "::headrace::frame::SpareColumns", "getSpareColumns">,
    InterfaceMethod<[{
        The same op on `inputs`, the operands with the columns that it needs and perhaps (getSpareColumns) others, with
        the columns `wanted` in its result and perhaps others. Its regions may move over. Null: it cannot have fewer
        columns, and its operands are as they were.
      }],
      "::mlir::Value", "createNarrowed",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$inputs,
           "const ::headrace::frame::ColumnSet &":$wanted)>,
    InterfaceMethod<[{
        Writes the new names into what the op says of columns, but for its result type. Its operands have them already,
        if it knows their columns by name.
      }],
      "void", "renameColumns", (ins "::headrace::frame::NewName":$newName)>,
    InterfaceMethod<"The columns that the arguments of its expression region stand for; null without a region.",
      "::mlir::ArrayAttr", "getRegionColumns", (ins), "", "return {};">,
    InterfaceMethod<"Pairs of result columns with the same value in every row, since the op compares them.",
      "::llvm::SmallVector<std::pair<::mlir::StringAttr, ::mlir::StringAttr>>", "getEqualColumns", (ins), "",
      "return {};">,

    //===--- rows --------------------------------------------------------------------------===//
    InterfaceMethod<"When the op hands rows on.", "::headrace::frame::RowFlow", "getRowFlow">,
    InterfaceMethod<"In what order the result's rows come.", "::headrace::frame::RowOrdering", "getOrdering">,
    InterfaceMethod<"What the op holds while it runs.", "::headrace::frame::RowState", "getState", (ins), "",
      "return {};">,
    InterfaceMethod<[{
        Whether rows may be left out by a condition on these columns of the result, all of which are passed, in front of
        the op as well as behind it: each result row depends only on rows that have the same values of them.
      }],
      "bool", "letsConditionsThrough", (ins "::llvm::ArrayRef<::mlir::StringAttr>":$columns)>,
    InterfaceMethod<[{
        More rows than this the result cannot have, whatever the data, if its table operands have at most `inputs` rows;
        nothing: no bound.
      }],
      "std::optional<uint64_t>", "getMostRows",
      (ins "::llvm::ArrayRef<std::optional<uint64_t>>":$inputs)>,

    //===--- ranks -------------------------------------------------------------------------===//
    InterfaceMethod<"How the op's work can be divided over ranks.", "::headrace::frame::RowSharding",
      "getSharding">,
    InterfaceMethod<[{
        The op that makes the result of `parts`, the rows together that ranks made of their own rows by this op after
        makePartial. Only if getSharding has a `parts`.
      }],
      "::mlir::Operation *", "createFinal",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$parts), "",
      [{::llvm::report_fatal_error("op has no second half: " + $_op->getName().getStringRef());}]>,
    InterfaceMethod<"Makes it the first half, on the rows of one rank; createFinal comes before.",
      "void", "makePartial", (ins), "",
      [{::llvm::report_fatal_error("op has no first half: " + $_op->getName().getStringRef());}]>,

    //===--- text --------------------------------------------------------------------------===//
    InterfaceMethod<"Which of its kind it is: a table's name, a kind of join. Empty: there is one kind.",
      "std::string", "getVariant", (ins), "", "return {};">,
    InterfaceMethod<"What a reader of a plan calls it, without its variant.", "::llvm::StringRef", "getTitle",
      (ins), "", "return $_op->getName().stripDialect();">,
    InterfaceMethod<"Its keys, expressions and counts, as a user would write them.", "std::string", "getDetail">
  ];
}

#endif // HEADRACE_FRAME_RELATIONAL_OP_INTERFACE_TD
