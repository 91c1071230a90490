// SPDX-License-Identifier: Apache-2.0
// Topology table: words of misc RAM (TOPOLOGY_*) by which the host reads the links. Invented.
#pragma once

#include "firmware/mgmt/routes.h"
#include "firmware/mgmt/topology.h"

/// Writes the table when its contents have changed. TOPOLOGY_SEQUENCE is odd during the write, so
/// that readers can discard a mixture of old and new words.
void topology_table_publish(const struct topology* t, const struct port* ports,
                            struct reachable reachable);
