// SPDX-License-Identifier: Apache-2.0
// Publishes the chip's identity in misc RAM (contract section 4.1).
#pragma once

/// Writes interface version, serial number, server id and build number. Source: the straps.
void identity_publish(void);

/// Writes the routing id, which marks the chip as ready and all other words as valid.
void identity_publish_routing_id(void);
