// SPDX-License-Identifier: Apache-2.0
// What the host can read about the links: words of misc RAM (TOPOLOGY_*). Invented.
#pragma once

#include "firmware/mgmt/routes.h"
#include "firmware/mgmt/topology.h"

/// Writes the table when anything in it is new. TOPOLOGY_SEQUENCE is odd meanwhile, so that no
/// reader takes half of the old and half of the new one for the machine.
void topology_table_publish(const struct topology* t, const struct port* ports,
                            struct reachable reachable);
