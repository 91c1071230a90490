// SPDX-License-Identifier: Apache-2.0
// Who this chip is, in the words that the host reads (contract section 4.1).
#pragma once

/// Interface version, serial number, server and build, from the straps.
void identity_publish(void);

/// The routing id: from now on the chip is ready and all other words count.
void identity_publish_routing_id(void);
