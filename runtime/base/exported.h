// What a shared library of ours shows: everything else is hidden (CMAKE_CXX_VISIBILITY_PRESET).
#pragma once

#define HEADRACE_EXPORTED __attribute__((visibility("default")))
