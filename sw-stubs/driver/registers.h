/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_REGISTERS_H
#define TRN_LIB_REGISTERS_H

#include <stdint.h>

#include "trn/dma_descriptor_regs.h"
#include "trn/fis_regs.h"
#include "trn/misc_ram_regs.h"
#include "trn/notification_queue_regs.h"
#include "trn/sdma_misc_regs.h"
#include "trn/semaphores_regs.h"
#include "trn/sim_reset_regs.h"
#include "trn/udma_regs.h"

/* Events and semaphores in a core's aperture (contract 3.3). */
#define CORE_SYNC_OFFSET UINT64_C(0x2700000)

/* Offsets by their generated names: UDMA(M2S_STATE), UDMA(M2S_Q_CFG)(queue). */
#define UDMA(name) TRN_UDMA_##name##_OFFSET
#define SDMA_MISC(name) TRN_SDMA_MISC_##name##_OFFSET
#define FIS(name) TRN_FIS_##name##_OFFSET
#define MISC_RAM(name) TRN_MISC_RAM_##name##_OFFSET
#define SYNC(name) TRN_SEMAPHORES_##name##_OFFSET
#define NOTIFIER(name) TRN_NOTIFICATION_QUEUE_##name##_OFFSET
#define SIM_RESET(name) TRN_SIM_RESET_##name##_OFFSET

/* Interrupt groups of a UDMA block by number (contract 6.1). */
#define GROUP_A 0u
#define GROUP_B 1u
#define GROUP_C 2u
#define GROUP_D 3u

#endif
