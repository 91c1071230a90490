// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/doorbell.h"

#include "firmware/mgmt/mailbox.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/reset_service.h"

#define ROUNDS_PER_TURN 4

/// Driver threads share the doorbell: a request may be posted while the doorbell is still set for
/// an earlier one. So requests are checked again after TRIGGER is cleared, until there is none.
bool doorbell_serve(void) {
    for (unsigned round = 0; round < ROUNDS_PER_TURN; ++round) {
        const bool reset = reset_serve_handshake();
        mailbox_serve(reset ? MAILBOX_ONLY_VALID : MAILBOX_ANSWER_ALL);
        misc_ram_write(MISC_RAM(TRIGGER), 0);
        mmio_fence();
        bool more = reset_serve_handshake();
        more |= mailbox_serve(MAILBOX_ONLY_VALID);
        if (!more) return true;
    }
    return false;
}
