// SPDX-License-Identifier: Apache-2.0
// Publishes the words of misc RAM that only firmware writes (contract section 4.1).
#pragma once

/// Writes all of them except the routing id, which marks the others as valid. At boot, and after a
/// host may have overwritten them.
void publication_write(void);
/// Writes all of them and the routing id. Precondition: the chip is ready.
void publication_renew(void);
