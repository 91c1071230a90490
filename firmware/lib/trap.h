// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/lib/trap_frame.h"

/// Called by trap_entry: interrupts, faults with a fix-up, else panic.
void trap_dispatch(struct trap_frame* frame);
