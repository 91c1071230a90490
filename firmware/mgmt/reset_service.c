// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/reset_service.h"

#include "firmware/lib/drivers/misuse.h"
#include "firmware/lib/drivers/simulator_reset.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"
#include "firmware/mgmt/dies.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/health.h"
#include "firmware/mgmt/links.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/publication.h"
#include "firmware/mgmt/reset_counts.h"

#define HOLD_US 10  // lines stay asserted this long

/// Pulses reset lines. HBM and misc RAM keep their contents (contract section 5.3): they have no
/// reset line.
static void reset(const struct reset_domains* domains) {
    reset_assert(domains);
    timer_sleep_us(HOLD_US);
    reset_release(domains);
}

static void reset_device(void) {
    reset_counts_add();
    dies_reset();
    health_repair_hbm();
    reset(&reset_everything);
    links_refresh();
    publication_renew();
}

static void set_resetting(bool resetting) {
    misc_ram_write(MISC_RAM(FIRMWARE_STATUS),
                   resetting ? TRN_MISC_RAM_FIRMWARE_STATUS_RESETTING_MASK : 0);
}

bool reset_serve_handshake(void) {
    const uint32_t request = misc_ram_read(MISC_RAM(RESET_REQUEST));
    if (request == 0) return false;
    const uint32_t map = misc_ram_read(MISC_RAM(RESET_MAP));

    set_resetting(true);
    if (request == TRN_MISC_RAM_RESET_REQUEST_KIND_DEVICE) {
        log_info("reset: device");
        reset_device();
    } else if (request == TRN_MISC_RAM_RESET_REQUEST_KIND_CORES) {
        log_info("reset: map %08x", map);
        const struct reset_domains domains = reset_map_domains(map);
        reset(&domains);
    } else {
        misuse_report(TRN_MISUSE_PORT_REPORT_RULE_RESET_UNKNOWN_REQUEST, request);
        log_warn("reset: request %u is unknown", request);
        error_log_add(ERROR_RESET, (uint16_t)request, map);
    }
    // The host polls the request word first, then the status bit.
    misc_ram_write(MISC_RAM(RESET_REQUEST), 0);
    set_resetting(false);
    return true;
}

/// One request; the line stays high while the host has another one.
void reset_serve_simulator(void) {
    if (!generation->simulator_word_is_map) {
        // The host requests the reset by handshake and reads this word only after it.
        simulator_reset_finish();
        return;
    }
    if (!simulator_reset_is_pending()) return;
    const uint32_t map = simulator_reset_map();
    log_info("reset: %s, map %08x (simulator word)", map == 0 ? "device" : "cores", map);
    const struct reset_domains domains = reset_map_domains(map);
    if (map == 0)
        reset_device();
    else
        reset(&domains);
    simulator_reset_finish();
}
