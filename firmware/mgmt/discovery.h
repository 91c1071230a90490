// SPDX-License-Identifier: Apache-2.0
// Conversation with the partner on a port: configuration requests over the link, each of which ends
// in limited time, answered or not.
#pragma once

#include "firmware/mgmt/routes.h"
#include "firmware/mgmt/topology.h"

/// Reads a partner's identity, or a known partner's changes; fills all of `found` that the answer
/// says.
void discovery_ask(unsigned port, const struct topology* t, struct port* found);
/// The link is gone, and with it what was known of the partner.
void discovery_forget(struct port* found);
enum claim_result { CLAIM_TAKEN, CLAIM_REFUSED, CLAIM_NOT_HEARD };
/// Announces something to the switch on a port, a rack with how many chips of it are reached, or
/// takes it back. Refused: another port has the same chip.
enum claim_result discovery_claim(unsigned port, const struct topology* t, enum claim claim,
                                  unsigned chips, bool holds);
