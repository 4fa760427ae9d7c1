// The main of headrace-opt, headrace-translate and headrace-interpret: HEADRACE_TOOL says which.
#include "tools/compiler/tools.h"

int main(int argc, char **argv) { return headrace::HEADRACE_TOOL(argc, argv); }
