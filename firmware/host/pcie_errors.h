// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/// Sets SERR# Enable in root ports and switch ports, as firmware of servers does: without it a port
/// does not forward errors of functions below it, and Linux sets the bit by ACPI's tables only. Bus
/// numbers are given for the time of the call. `config_space`: of 256 buses (ECAM).
void pcie_errors_forward(uintptr_t config_space);
