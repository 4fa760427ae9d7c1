// Stems with numbers.
#include "dialects/frame/FreshNames.h"

#include "dialects/frame/FrameTypes.h"

using namespace mlir;

headrace::frame::FreshNames::FreshNames(Operation *scope) : context_(scope->getContext()) {
  scope->walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (auto table = dyn_cast<TableType>(type)) {
        take(table.getNames());
      }
    }
  });
}

StringAttr headrace::frame::FreshNames::make(const llvm::Twine &stem) {
  auto plain = StringAttr::get(context_, stem);
  StringAttr name = plain;
  while (!taken_.insert(name).second) {
    name = StringAttr::get(context_, plain.getValue() + "_" + llvm::Twine(++numbers_[plain]));
  }
  return name;
}
