// SPDX-License-Identifier: Apache-2.0
// The host's commands: load and unload programs.
#pragma once

/// Serves the host's command.
void mailbox_serve(void);
