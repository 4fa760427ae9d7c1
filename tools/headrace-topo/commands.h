// The commands of headrace-topo. Each reads its own options.
#pragma once

#include "tools/command_line/commands.h"

namespace headrace::topo {

constexpr const char *kDetectUsage =
    "usage: headrace-topo detect [--ranks N] [--disk FOLDER] [--output FILE]\n"
    "  writes the topology of this machine: its parts, and their rates, measured in a few seconds\n"
    "  --ranks N       slots that a machine without GPUs is divided into (default: 1)\n"
    "  --disk FOLDER   measure the disk of this folder; leaves no files (default: TMPDIR, else "
    "/tmp)\n"
    "  --output FILE   write here; a failure leaves no file (default: standard output)\n";
constexpr const char *kImportUsage =
    "usage: headrace-topo import nccl FILE [--nodes N] [--output FILE]\n"
    "       headrace-topo import hwloc FILE [--ranks N] [--nodes N] [--output FILE]\n"
    "       headrace-topo import slurm FILE --node TOPOLOGY [--output FILE]\n"
    "  converts a file written by NCCL_TOPO_DUMP_FILE=FILE, the XML of lstopo, or the "
    "topology.conf\n"
    "  of Slurm; standard error says what it had to assume and what it left out\n"
    "  --nodes N         number of such machines, behind one switch (default: 1)\n"
    "  --ranks N         slots that a machine without GPUs is divided into (default: 1)\n"
    "  --node TOPOLOGY   a topology with one type of node, which the cluster has; needed for "
    "slurm\n"
    "  --output FILE     write here; a failure leaves no file (default: standard output)\n";
constexpr const char *kShowUsage =
    "usage: headrace-topo show TOPOLOGY [--svg FILE]\n"
    "  draws a topology, a FILE or NAME (headrace-topo list), as text or as a picture\n"
    "  --svg FILE   write a picture to this file (default: text, to standard output)\n";
constexpr const char *kListUsage = "usage: headrace-topo list\n"
                                   "  lists the shipped topologies\n";
constexpr const char *kDiffUsage =
    "usage: headrace-topo diff TOPOLOGY TOPOLOGY\n"
    "  shows how two topologies differ, each a FILE or NAME; exit status 1 if they do\n";
constexpr const char *kCheckUsage = "usage: headrace-topo check TOPOLOGY …\n"
                                    "  checks topologies, each a FILE or NAME\n";

Status detectCommand(const Arguments &arguments);
Status importCommand(const Arguments &arguments);
Status showCommand(const Arguments &arguments);
Status listCommand(const Arguments &arguments);
Status checkCommand(const Arguments &arguments);

enum class Comparison : uint8_t { kEqual, kDiffers };
Expected<Comparison> diffCommand(const Arguments &arguments);

} // namespace headrace::topo
