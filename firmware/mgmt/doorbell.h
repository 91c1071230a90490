// SPDX-License-Identifier: Apache-2.0
// The host's doorbell: requests of the mailbox and the reset handshake.
#pragma once

#include <stdbool.h>

/// Serves a bounded number of requests, so that a fast host cannot keep the main loop from its
/// other work. False: requests may be left, call it again.
bool doorbell_serve(void);
