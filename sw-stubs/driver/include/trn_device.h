/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_DEVICE_H
#define TRN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_status.h"
#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Life of a device, its description, its clock. */

/** The board's type, which a host reads from SMBIOS (contract 1.5). */
typedef enum trn_host_platform {
    TRN_HOST_STANDARD = 0,
    TRN_HOST_ULTRASERVER = 1, /**< point-to-point pod */
    TRN_HOST_PDS = 2          /**< switched pod: routing ids up to 127 */
} trn_host_platform;

/** The platform of an SMBIOS product name, as release 2.26.5 of the public driver maps it; unknown
 * names are standard platforms. */
trn_host_platform trn_platform_of_product(const char* product);

/** All zero: the public driver's behaviour. */
typedef struct trn_options {
    trn_host_platform platform;
    uint32_t boot_timeout_ms; /**< limit of probe's wait for the routing id; 0: 600,000 */
    bool spoof_neighbours;    /**< reads of neighbours read the own chip (contract 11.4) */
    uint32_t timeout_scale;   /**< replaces the transport's; 0: the transport's */
} trn_options;

/** Creates a device over a transport, without an access. The device owns the transport and closes
 * it in trn_destroy. options may be NULL. Returns NULL when host memory ran out; the transport then
 * stays the caller's. */
trn_device* trn_create(const trn_transport* transport, const trn_options* options);

/** Frees rings and buffers and closes the transport, without a reset. Precondition: no queue still
 * uses host memory (release or reset it first). NULL is allowed. */
void trn_destroy(trn_device* device);

/** Explanation of the latest failed call; "" without one. Valid until the next call on this device.
 */
const char* trn_last_error(const trn_device* device);

/** Identifies the function (contract 1): reads ids and BARs, enables memory and bus mastering, then
 * waits for the routing id, which reads 0xdeadbeef while firmware boots. TRN_UNKNOWN_DEVICE,
 * TRN_TIMED_OUT (firmware never published its id), TRN_PROTOCOL_ERROR (id out of range for the
 * platform, missing BAR). */
trn_status trn_probe(trn_device* device);
/** Whether the function responds but has lost what trn_probe enabled, as after a loss of power. */
bool trn_lost_probe(trn_device* device);

/** Resets the whole device, then sets up DMA engines and host rings (contract 5, 6.3). Handshake:
 * with firmware on silicon revisions, with the simulator's reset register on revision 255 (with
 * both on Trainium1 and Inferentia2), none on revision 240 of Trainium3. Precondition: trn_probe.
 */
trn_status trn_reset_device(trn_device* device);

/** Resets the cores of a map (bit n: core n) with their DMA engines and sync blocks, then sets the
 * engines up again (contract 5.2, 5.3). Memory keeps its contents. Copies in flight on these cores
 * end with TRN_ABORTED. */
trn_status trn_reset_cores(trn_device* device, uint32_t core_map);
/** Number of resets that trn_reset_device and trn_reset_cores have requested of a core: its
 * collective firmware, queues and semaphores are those from after the last one. */
uint32_t trn_core_resets(const trn_device* device, uint32_t core);

/** Limits the waits for firmware of the following probes and resets, each to `ns` nanoseconds
 * instead of the contract's limit; 0: no longer. */
void trn_limit_firmware(trn_device* device, uint64_t ns);

/** Variant of the chip, by its PCI revision id (contract 2). */
typedef enum trn_mode { TRN_MODE_SILICON = 0, TRN_MODE_QEMU = 1, TRN_MODE_EMULATOR = 2 } trn_mode;
#define TRN_MODES 3

#define TRN_MAX_STACKS 4u

typedef struct trn_device_info {
    uint16_t vendor_id, device_id;
    uint8_t revision;
    trn_mode mode;
    uint32_t architecture; /**< the public driver's number: 4 = Trainium3, 3 = Trainium2,
                                2 = Trainium1 and Inferentia2 */
    const char* name;      /**< "Trainium3" */
    uint32_t routing_id;   /**< as firmware published it */
    uint32_t device_index; /**< n of /dev/neuron<n> (contract 1.3) */
    uint32_t cores, dma_engines, queues_per_engine, sync_blocks, stacks, dies;
    uint64_t stack_size;        /**< usable bytes of each HBM stack */
    uint64_t state_buffer_size; /**< of each core */
    uint32_t register_bar;      /**< 0, or 2 on revision 255 of Trainium1 and Inferentia2 */
    uint64_t register_bar_size, bar4_size;
} trn_device_info;

trn_status trn_get_info(const trn_device* device, trn_device_info* info);

/** Serial number of the chip (contract 4.1); never 0 on a healthy chip. */
trn_status trn_get_serial(trn_device* device, uint64_t* serial);

/** Waits on the transport's clock. */
trn_status trn_sleep(trn_device* device, uint64_t nanoseconds);
/** Time of the transport's clock; simulated time if the transport has it (else the same clock). */
uint64_t trn_now(const trn_device* device);
uint64_t trn_simulated_now(const trn_device* device);

#ifdef __cplusplus
}
#endif

#endif
