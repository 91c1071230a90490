// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/health.h"

#include "firmware/lib/drivers/hbm.h"
#include "firmware/lib/drivers/sensors.h"
#include "firmware/lib/drivers/sram_errors.h"
#include "firmware/lib/drivers/udma.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/events.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/level_irq.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/reach.h"

#define MAX_CORES TRN_MISC_RAM_CORE_ECC_COUNT

static struct { uint32_t corrected, uncorrected, repairable; } stacks[HBM_MAX_STACKS];
static struct { uint32_t corrected, uncorrected; } sram;  // of all NeuronCores
static struct { uint32_t corrected, uncorrected; } cores[MAX_CORES];
static uint32_t temperature_alarms;
static uint32_t unhealthy_components;  // value of HEALTH_STATUS
static uint32_t hot;                   // a bit per diode, until it has cooled down

void health_init(void) {
    mmio_write(SENSORS(IRQ_ENABLE), TRN_SENSORS_IRQ_ENABLE_ALARM_MASK);
    level_irq_enable(IRQ_SENSORS, EVENT_TEMPERATURE, LEVEL_IRQ_LIMITED);
    level_irq_enable(IRQ_HBM, EVENT_HBM, LEVEL_IRQ_LIMITED);
    level_irq_enable(IRQ_SRAM, EVENT_SRAM, LEVEL_IRQ_LIMITED);
    for (unsigned line = 0; line < generation->dma_groups; ++line)
        level_irq_enable(IRQ_DMA_ABORT + line, EVENT_DMA_ABORT, LEVEL_IRQ_LIMITED);
}

// --- Memories ---------------------------------------------------------------------------

static uint32_t worst_repair_state(void) {
    uint32_t worst = 0;
    for (unsigned stack = 0; stack < generation->stacks; ++stack)
        if (hbm_repair_state(stack) > worst) worst = hbm_repair_state(stack);
    return worst;
}

static void publish_cores(void) {
    for (unsigned core = 0; core < MAX_CORES; ++core)
        misc_ram_write(
            MISC_RAM_AT(CORE_ECC, core),
            TRN_MISC_RAM_CORE_ECC_CORRECTED_SET(
                at_most(cores[core].corrected, TRN_MISC_RAM_CORE_ECC_CORRECTED_GET(~0u))) |
                TRN_MISC_RAM_CORE_ECC_UNCORRECTED_SET(
                    at_most(cores[core].uncorrected, TRN_MISC_RAM_CORE_ECC_UNCORRECTED_GET(~0u))));
}

static void publish_temperatures(void) {
    misc_ram_write(MISC_RAM(THERMAL),
                   TRN_MISC_RAM_THERMAL_HOT_SET(hot) |
                       TRN_MISC_RAM_THERMAL_ALARMS_SET(
                           at_most(temperature_alarms, TRN_MISC_RAM_THERMAL_ALARMS_GET(~0u))));
}

void health_publish(void) {
    publish_cores();
    publish_temperatures();
    misc_ram_write(MISC_RAM(SRAM_ECC),
                   TRN_MISC_RAM_SRAM_ECC_CORRECTED_SET(
                       at_most(sram.corrected, TRN_MISC_RAM_SRAM_ECC_CORRECTED_GET(~0u))) |
                       TRN_MISC_RAM_SRAM_ECC_UNCORRECTED_SET(
                           at_most(sram.uncorrected, TRN_MISC_RAM_SRAM_ECC_UNCORRECTED_GET(~0u))));
    health_set(TRN_MISC_RAM_HEALTH_STATUS_SRAM_MASK,
               sram.uncorrected == 0 ? 0 : TRN_MISC_RAM_HEALTH_STATUS_SRAM_MASK);
    bool is_beyond_repair = false;
    for (unsigned stack = 0; stack < generation->stacks; ++stack) {
        const uint32_t corrected = TRN_MISC_RAM_HBM_ECC_CORRECTED_SET(
            at_most(stacks[stack].corrected, TRN_MISC_RAM_HBM_ECC_CORRECTED_GET(~0u)));
        is_beyond_repair |= stacks[stack].uncorrected != 0;
        if (generation->api_version < MISC_RAM_API_SPLIT_ECC) {
            misc_ram_write(MISC_RAM_AT(HBM_ECC, stack),
                           corrected | at_most(stacks[stack].uncorrected, 0xffff));
            continue;
        }
        const uint32_t uncorrected =
            at_most(stacks[stack].uncorrected, TRN_MISC_RAM_HBM_ECC_UNCORRECTABLE_GET(~0u));
        const uint32_t repairable =
            at_most(stacks[stack].repairable, TRN_MISC_RAM_HBM_ECC_REPAIRABLE_GET(~0u));
        misc_ram_write(MISC_RAM_AT(HBM_ECC, stack),
                       corrected | TRN_MISC_RAM_HBM_ECC_UNCORRECTABLE_SET(uncorrected) |
                           TRN_MISC_RAM_HBM_ECC_REPAIRABLE_SET(repairable));
    }
    const uint32_t repair = worst_repair_state();
    misc_ram_write(MISC_RAM(HBM_REPAIR), repair);
    is_beyond_repair |= repair == TRN_HBM_STATUS_REPAIR_STATE_FAILED;
    health_set(TRN_MISC_RAM_HEALTH_STATUS_HBM_MASK,
               is_beyond_repair ? TRN_MISC_RAM_HEALTH_STATUS_HBM_MASK : 0);
}

void health_hbm_error(void) {
    for (unsigned stack = 0; stack < generation->stacks; ++stack) {
        const struct hbm_errors errors = hbm_take_errors(stack);
        stacks[stack].corrected += errors.corrected;
        stacks[stack].uncorrected += errors.uncorrected;
        stacks[stack].repairable += errors.repairable;
        if (errors.corrected + errors.uncorrected + errors.repairable == 0) continue;
        log_warn("HBM stack %u: %u corrected, %u uncorrected, %u repairable, last at %lx", stack,
                 errors.corrected, errors.uncorrected, errors.repairable,
                 (unsigned long)errors.last);
        error_log_add(ERROR_HBM, (uint16_t)stack, errors.last);
    }
    health_publish();
    level_irq_served(IRQ_HBM);
}

static void take_sram_errors(unsigned core, uint64_t registers) {
    struct sram_errors errors;
    if (!can_reach(registers) || !sram_take_errors(registers, &errors)) return;
    if (errors.corrected + errors.uncorrected == 0) return;
    sram.corrected += errors.corrected;
    sram.uncorrected += errors.uncorrected;
    if (core < MAX_CORES) {
        cores[core].corrected += errors.corrected;
        cores[core].uncorrected += errors.uncorrected;
    }
    log_warn("NeuronCore %u: memory errors, %u corrected, %u uncorrected, last at %x", core,
             errors.corrected, errors.uncorrected, errors.last);
    error_log_add(ERROR_SRAM, (uint16_t)core, errors.last);
}

void health_sram_error(void) {
    unsigned core = 0;
    for (unsigned n = 0; n < generation->core_groups; ++n) {
        const struct block_group* group = &generation->cores[n];
        for (unsigned k = 0; k < group->count; ++k, ++core)
            take_sram_errors(core, block_of(group, k) + generation->sram_errors);
    }
    health_publish();
    level_irq_served(IRQ_SRAM);
}

static bool repair_ended(const void* stack) {
    return !hbm_is_repairing(*(const unsigned*)stack);
}

void health_repair_hbm(void) {
    enum { STEP_US = 100, LIMIT_US = 20000 };
    for (unsigned stack = 0; stack < generation->stacks; ++stack) {
        if (hbm_repair_state(stack) != TRN_HBM_STATUS_REPAIR_STATE_PENDING) continue;
        hbm_start_repair(stack);
        if (timer_wait(repair_ended, &stack, STEP_US, LIMIT_US) &&
            hbm_repair_state(stack) == TRN_HBM_STATUS_REPAIR_STATE_NONE) {
            stacks[stack].repairable = 0;
            log_info("HBM stack %u: repaired", stack);
        } else {
            // Drivers from 2.26 on take a state other than none as invalid while no error beyond
            // repair is counted.
            stacks[stack].uncorrected += stacks[stack].repairable;
            stacks[stack].repairable = 0;
            log_error("HBM stack %u: repair failed", stack);
            error_log_add(ERROR_HBM_REPAIR, (uint16_t)stack, hbm_repair_state(stack));
        }
    }
    health_publish();
}

// --- DMA --------------------------------------------------------------------------------

static void log_abort(unsigned number, uint64_t engine) {
    struct udma_states states;
    if (!can_reach(engine) || !udma_take_abort(engine, &states)) return;
    log_warn("DMA engine %u aborted: m2s state %x, s2m state %x", number, states.m2s, states.s2m);
    error_log_add(ERROR_DMA_ABORT, (uint16_t)number, (uint64_t)states.s2m << 32 | states.m2s);
}

void health_dma_abort(void) {
    unsigned first = 0;
    for (unsigned line = 0; line < generation->dma_groups; ++line) {
        const struct block_group* group = &generation->dma[line];
        if (level_irq_is_raised(IRQ_DMA_ABORT + line)) {
            for (unsigned n = 0; n < group->count; ++n) log_abort(first + n, block_of(group, n));
            level_irq_served(IRQ_DMA_ABORT + line);
        }
        first += group->count;
    }
}

// --- Temperature ------------------------------------------------------------------------

#define HYSTERESIS 5000  // millidegrees below the limit at which a hot diode counts as cool again
#define HOT_POLL_US 100000

/// One entry of the log per crossing of the limit. While a diode is hot the interrupt stays held:
/// its line would rise again at once.
void health_temperature(void) {
    static const char* const names[] = {"die 0", "die 1", "HBM 0", "HBM 1", "HBM 2", "HBM 3"};
    const int32_t limit = (int32_t)mmio_read(SENSORS(ALARM_TEMPERATURE));
    for (unsigned diode = 0; diode < TRN_SENSORS_TEMPERATURE_COUNT; ++diode) {
        const int32_t now = sensors_temperature(diode);
        const uint32_t bit = 1u << diode;
        if (now >= limit && !(hot & bit)) {
            log_warn("%s is %d.%03d degrees Celsius hot", names[diode], now / 1000, now % 1000);
            error_log_add(ERROR_TEMPERATURE, (uint16_t)diode, (uint32_t)now);
            ++temperature_alarms;
        }
        const bool is_hot = now >= (hot & bit ? limit - HYSTERESIS : limit);
        hot = is_hot ? hot | bit : hot & ~bit;
    }
    publish_temperatures();
    if (hot != 0) {
        event_raise_at(EVENT_TEMPERATURE, timer_now_us() + HOT_POLL_US);
        return;
    }
    mmio_write(SENSORS(IRQ_STATUS), TRN_SENSORS_IRQ_STATUS_ALARM_MASK);
    level_irq_served(IRQ_SENSORS);
}

void health_set(uint32_t mask, uint32_t unhealthy) {
    unhealthy_components = (unhealthy_components & ~mask) | unhealthy;
    misc_ram_write(MISC_RAM(HEALTH_STATUS), unhealthy_components);
}

void health_heartbeat(void) {
    const uint32_t before = misc_ram_read(MISC_RAM(HEALTH_SEQUENCE));
    const uint32_t beat = TRN_MISC_RAM_HEALTH_SEQUENCE_HEARTBEAT_GET(before) + 1;
    misc_ram_write(MISC_RAM(HEALTH_SEQUENCE), TRN_MISC_RAM_HEALTH_SEQUENCE_HEARTBEAT_SET(beat));
}
