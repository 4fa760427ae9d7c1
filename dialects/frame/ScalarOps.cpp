// The interface of ops of expressions.
#include "dialects/frame/ScalarOps.h"

#include "dialects/frame/ScalarOpInterface.cpp.inc"
