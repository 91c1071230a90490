// SPDX-License-Identifier: Apache-2.0
// All words of misc RAM that only firmware writes (contract section 4.1).
#pragma once

/// Writes them all but the routing id, which says that the others count: at boot, and when a host
/// may have written over them.
void publication_write(void);
/// The same and the routing id, of a chip that is ready.
void publication_renew(void);
