// The dialect definition of `dist`: where data is (level L2).
#ifndef HEADRACE_DIST_DIALECT_TD
#define HEADRACE_DIST_DIALECT_TD

include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::headrace::dist";
  let summary = "where data is: layouts over a mesh, and the ops that change them";
  let description = [{
    A value's layout is an attribute, not a type, so that ops of other dialects keep verifying. Inside
    the phase `shard` every op carries two arrays: `dist.layouts`, one `#dist.layout` per result, and
    `dist.needs`, the layout that each table or tensor operand must have; `dist.levels` says for each of those whether
    it is brought there axis by axis. On functions, `dist.layouts` lists
    the layouts of arguments; where those are tensors that each rank has a part of, `dist.arguments` has the types of all
    arguments in the global view. An argument whose parts lie on the ranks carries the layout in which they do as
    `dist.resident`, from import on. Scans that read only their rank's share carry the
    axes along which the rows are divided in `dist.split`. A window without partition keys over the rows that a rank
    has, of those that are divided along some axes, carries these in `dist.within`: what the other ranks' rows come to
    is put in by what follows. A join that decides at run
    time how its rows meet carries `dist.choose`: `at_most` rows of the right side for a broadcast, whether
    that and the reshards of the left and right side otherwise go in `levels`, and the
    `left_keys` and `right_keys` by which the sides are shuffled otherwise (none: that side stays), in a `cycle` of them if that
    is not 0.

    **Constraints:**
    - (C1) `dist.layouts` and `dist.needs` are arrays of `#dist.layout`.
    - (C2) `dist.split` is an array of axes of the module's mesh, at least one, on a `frame.scan`.
    - (C3) `dist.choose` is a dictionary with the integers `at_most` and `cycle` and three booleans `levels`, on a `frame.join`.
    - (C4) `dist.arguments` is an array of as many types as the function has arguments.
    - (C5) `dist.levels` is an array of booleans.
    - (C6) `dist.resident` is the layout of an argument that is a tensor: even parts, none unreduced.
    - (C7) `dist.within` is an array of axes of the module's mesh, at least one, on a `frame.window` without partition keys.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::headrace::frame::FrameDialect", "::headrace::topo::TopoDialect"];
  let extraClassDeclaration = [{
    static ::llvm::StringRef getLayoutsAttrName() { return "dist.layouts"; }
    static ::llvm::StringRef getNeedsAttrName() { return "dist.needs"; }
    static ::llvm::StringRef getArgumentsAttrName() { return "dist.arguments"; }
    static ::llvm::StringRef getLevelsAttrName() { return "dist.levels"; }
    static ::llvm::StringRef getResidentAttrName() { return "dist.resident"; }
    static ::llvm::StringRef getSplitAttrName() { return "dist.split"; }
    static ::llvm::StringRef getWithinAttrName() { return "dist.within"; }
    static ::llvm::StringRef getChooseAttrName() { return "dist.choose"; }

  private:
    void registerAttrs();

  public:
  }];
}

#endif // HEADRACE_DIST_DIALECT_TD
