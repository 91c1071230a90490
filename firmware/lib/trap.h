// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/lib/trap_frame.h"

/// Called by trap_entry: serves interrupts, resolves faults that have a fix-up, else panics.
void trap_dispatch(struct trap_frame* frame);
