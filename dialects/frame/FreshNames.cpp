// Stems with numbers.
#include "dialects/frame/FreshNames.h"

using namespace mlir;

StringAttr headrace::frame::FreshNames::make(const llvm::Twine &stem) {
  auto plain = StringAttr::get(context_, stem);
  StringAttr name = plain;
  while (!taken_.insert(name).second) {
    name = StringAttr::get(context_, plain.getValue() + "_" + llvm::Twine(++numbers_[plain]));
  }
  return name;
}
