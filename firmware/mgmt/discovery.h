// SPDX-License-Identifier: Apache-2.0
// Reads and writes the identity block of the partner on a port: configuration requests over the
// link, each with a timeout.
#pragma once

#include "firmware/mgmt/routes.h"
#include "firmware/mgmt/topology.h"

/// Reads the partner's identity (an identified partner's id only) and its announced state into
/// `found`. Sets `silent` without a response and `garbage` after an invalid one.
void discovery_read(unsigned port, const struct topology* t, struct port* found);
/// Clears the partner's identity and state in `found`, as after a link down.
void discovery_forget(struct port* found);
enum claim_result { CLAIM_ACCEPTED, CLAIM_REFUSED, CLAIM_NO_RESPONSE };
/// Makes a claim to the switch on a port (`holds`) or releases it. `chips`: for claims of a rack,
/// the number of its chips that are reachable. CLAIM_REFUSED: another port claims the same chip.
enum claim_result discovery_claim(unsigned port, const struct topology* t, enum claim claim,
                                  unsigned chips, bool holds);
