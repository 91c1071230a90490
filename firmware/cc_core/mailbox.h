// SPDX-License-Identifier: Apache-2.0
// The host's commands: load and unload programs.
#pragma once

/// Executes the command in the mailbox, if any.
void mailbox_serve(void);
