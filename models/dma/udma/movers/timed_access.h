// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

#include "models/dma/udma/queues/group.h"
#include "models/dma/udma/queues/transfer.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// Accesses memory for a transfer, and adds the time to `arrives_at`; that of plain memory has been
/// reserved at the transfer's start.
memory_port::outcome timed_access(dma_transfer& t, memory_port& memory, tlm::tlm_command command,
                                  std::uint64_t address, std::uint8_t* bytes, unsigned length,
                                  pending_access& pending);
/// Whether the bytes that have moved have arrived.
bool has_arrived(const dma_transfer& t);
/// `blocked`: they have not; the transfer is due again when they have.
dma_progress wait_for_arrival(dma_transfer& t);

}  // namespace trn
