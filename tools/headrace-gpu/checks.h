// What a process of the runner does: check one case, or measure one figure.
#pragma once

#include "tools/headrace-gpu/place_columns.h"
#include "tools/headrace-gpu/session.h"

namespace headrace::gpu {

/// All forms and shapes of a case, and what its kernels take. Kind "case" and "kernel".
void checkCase(Session &session, const std::string &name);

// Kind "figure": each reports what is measured, and whether the result was right.
/// Bytes a second: a kernel that copies, copies within the device, to it and from it.
void measureMemory(Session &session);
/// Seconds a launch, in a stream and in a graph.
void measureLaunches(Session &session);
/// Bytes a second of a case's scan over many rows, and its share of the copying kernel's.
void measureScan(Session &session, const std::string &name);
/// Bytes a second of decoding pages of codes, read and written.
void measureDecoding(Session &session);
/// Our product of matrices beside cuBLASLt's, where that is found.
void measureProduct(Session &session);

/// Those of the bundle.
Expected<PageKernels> pageKernels(Session &session);

/// Bytes that the copying kernel reads and writes in a second; best over block counts. Reports
/// nothing.
Expected<double> copyingBandwidth(Session &session);

} // namespace headrace::gpu
