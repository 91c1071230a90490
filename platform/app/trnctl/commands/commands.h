// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/trnctl/commands/command.h"

// The commands of trnctl by the file that declares their options.

namespace trn {

// transfers.cpp: copy, memset, bench, demo
void add_transfers(cli::command& app, invocation& line);
// coll.cpp
void add_coll(cli::command& app, invocation& line);
// memory.cpp: peek, poke, deposit, registers
void add_memory_and_registers(cli::command& app, invocation& line);
// cores.cpp: cc; sem, event
void add_collective_cores(cli::command& app, invocation& line);
void add_semaphores_and_events(cli::command& app, invocation& line);
// programs.cpp: program
void add_programs(cli::command& app, invocation& line);
// profile.cpp
void add_profiles(cli::command& app, invocation& line);
// platform.cpp: list, inject; pause, step, continue, status; snapshot, restore, snapshots; reset
void add_platform(cli::command& app, invocation& line);
// status.cpp: info, topology, power, misuse, monitor
void add_status(cli::command& app, invocation& line);

}  // namespace trn
