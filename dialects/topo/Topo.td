// The dialect `topo`: attributes that say for which mesh and which topology a module is compiled.
#ifndef HEADRACE_TOPO_TD
#define HEADRACE_TOPO_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Topo_Dialect : Dialect {
  let name = "topo";
  let cppNamespace = "::headrace::topo";
  let summary = "the cluster a program is compiled for";
  let description = [{
    Attributes only. A module carries `topo.mesh`, the named axes over which layouts speak, and, once a
    topology was chosen, `topo.topology`, whose hash the plan repeats and the loader checks.

    ```mlir
    module attributes {
      topo.mesh = #topo.mesh<@cluster, [("node", 2), ("gpu", 8)]>,
      topo.topology = #topo.topology<"p5-2node", hash = "0123456789abcdef0123456789abcdef">
    } {}
    ```

    **Constraints:**
    - (C1) `topo.mesh` is a `#topo.mesh` and stands on a module.
    - (C2) `topo.topology` is a `#topo.topology` and stands on a module.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getMeshAttrName() { return "topo.mesh"; }
    static ::llvm::StringRef getTopologyAttrName() { return "topo.topology"; }

  private:
    void registerAttrs();

  public:
  }];
}

class Topo_Attr<string name, string attrMnemonic> : AttrDef<Topo_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Topo_MeshAttr : Topo_Attr<"Mesh", "mesh"> {
  let summary = "ranks arranged along named axes";
  let description = [{
    Ranks are numbered row by row: the last axis is the fastest.
    Example: `#topo.mesh<@cluster, [("node", 2), ("gpu", 8)]>`.

    **Constraints:**
    - (C3) there are 1 to 8 axes.
    - (C4) axis names are unique and not empty.
    - (C5) axis sizes are at least 1, and there are at most 1048576 ranks.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$name,
                        ArrayRefParameter<"::mlir::StringAttr">:$axisNames,
                        ArrayRefParameter<"int64_t">:$axisSizes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The position of an axis, or -1.
    int64_t findAxis(::llvm::StringRef axis) const;
    int64_t getRankCount() const;
    /// "node:2,gpu:8"
    std::string toText() const;
  }];
}

def Topo_TopologyAttr : Topo_Attr<"Topology", "topology"> {
  let summary = "which topology costs came from: name and content hash";
  let description = [{
    Example: `#topo.topology<"p5-2node", hash = "0123456789abcdef0123456789abcdef">`.

    **Constraints:**
    - (C6) name and hash are not empty.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$hash);
  let assemblyFormat = "`<` $name `,` `hash` `=` $hash `>`";
}

#endif // HEADRACE_TOPO_TD
