// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/links.h"

#include <string.h>

#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/log.h"
#include "firmware/lib/neuron_link.h"
#include "firmware/lib/timer.h"
#include "firmware/mgmt/discovery.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/events.h"
#include "firmware/mgmt/health.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/routes.h"
#include "firmware/mgmt/topology_table.h"

// A partner may be slow, unpowered or absent: the boot continues without it.
#define KNOWN_LIMIT_US 50000   // every cable's partner has announced its identity
#define SETTLED_LIMIT_US 5000  // and all announcements have propagated

// A partner without a valid response is asked again: it may be restarting, and need not send a
// notice when it responds again. The delay doubles with each retry: 2.55 s in all.
#define RETRIES 8u
#define FIRST_RETRY_US 10000ull

static struct topology machine;
static struct port ports[TOPOLOGY_PORTS];
static struct routes routes;  // as programmed
static uint32_t
    accepted_claims[TOPOLOGY_PORTS];  // bits of enum claim that the port's switch accepted
static uint16_t claimed_chips[TOPOLOGY_PORTS][CLAIM_KINDS];  // chip count of each claim
static bool claims_unknown[TOPOLOGY_PORTS];
static unsigned retries[TOPOLOGY_PORTS];      // since the port's last event or valid response
static uint64_t retry_at_us[TOPOLOGY_PORTS];  // 0: no retry is scheduled
static bool booting = true;
static struct announcement announced;  // the announcement that partners read
static volatile struct link_events
    pending_events;  // set by the interrupt handler, cleared by take_events()

static void link_irq(unsigned source) {
    (void)source;
    const struct link_events now = neuron_link_take_events();
    pending_events.changed |= now.changed;
    pending_events.noticed |= now.noticed;
    if (pending_events.changed | pending_events.noticed) event_raise(EVENT_LINK);
}

static struct link_events take_events(void) {
    const unsigned long state = irq_save();
    const struct link_events taken = {pending_events.changed, pending_events.noticed};
    pending_events.changed = pending_events.noticed = 0;
    irq_restore(state);
    return taken;
}

static bool has_events(const void* unused) {
    (void)unused;
    return (pending_events.changed | pending_events.noticed) != 0;
}

// --- State of the ports -------------------------------------------------------------------

static void read_port(unsigned p) {
    struct port* port = &ports[p];
    const struct link_status now = neuron_link_status(p);
    const bool stayed_up = port->up && now.up && now.downs == port->downs;
    port->connected = neuron_link_connected() >> p & 1;
    port->up = now.up;
    port->degraded = now.degraded;
    port->generation = now.generation;
    port->lanes = now.lanes;
    port->lanes_full = now.lanes_full;
    port->downs = now.downs;
    if (stayed_up) return;
    port->silent = port->garbage = false;
    discovery_forget(port);
    claims_unknown[p] = true;  // the switch may hold claims of an earlier run
}

static uint64_t packed(const struct partner* partner) {
    return (uint64_t)partner->kind << 24 | (uint64_t)partner->place.rack << 16 |
           (uint64_t)partner->place.server << 8 | partner->place.chip;
}

static void report_fault_change(unsigned p, enum link_fault before) {
    const struct port* port = &ports[p];
    const struct partner wanted = topology_expects(&machine, p);
    char text[160];
    if (port->fault != LINK_OK) {
        log_warn("%s", topology_complaint(&machine, p, port, text, sizeof text));
        error_log_add(ERROR_LINK, (uint16_t)(p | (unsigned)port->fault << 8),
                      packed(&port->partner) << 32 | packed(&wanted));
    } else if (before != LINK_OK) {
        log_info("port %u works again: Gen%u x%u", p, port->generation, port->lanes);
    }
}

static void update_faults(void) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        const enum link_fault before = ports[p].fault;
        if (booting && ports[p].connected && !ports[p].up) continue;  // still training
        ports[p].fault = topology_judge(&machine, p, &ports[p]);
        if (ports[p].fault != before) report_fault_change(p, before);
    }
}

/// Maps faulty ports to the link components of HEALTH_STATUS.
static void publish_health(void) {
    uint32_t unhealthy = 0;
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        if (ports[p].fault == LINK_OK) continue;
        const struct partner wanted = topology_expects(&machine, p);
        if (wanted.kind == PARTNER_SLED_SWITCH || wanted.kind == PARTNER_RACK_SWITCH)
            unhealthy |= TRN_MISC_RAM_HEALTH_STATUS_LINK_SWITCH_MASK;
        else if (wanted.kind == PARTNER_CHIP && (wanted.place.server != machine.own.server ||
                                                 wanted.place.rack != machine.own.rack))
            unhealthy |= TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK;
        else
            unhealthy |= TRN_MISC_RAM_HEALTH_STATUS_LINK_INTRASERVER_MASK;
    }
    health_set(TRN_MISC_RAM_HEALTH_STATUS_LINK_SWITCH_MASK |
                   TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK |
                   TRN_MISC_RAM_HEALTH_STATUS_LINK_INTRASERVER_MASK,
               unhealthy);
}

// --- Claims, routes and announcements -----------------------------------------------------------

/// A switch that answers on this port: also a switch that has refused a claim, which then receives
/// the withdrawal of the other claims.
static bool has_switch(const struct port* port) {
    return (topology_usable(port) || (port->up && port->fault == LINK_DUPLICATE)) &&
           port->partner.kind != PARTNER_CHIP;
}

/// Sends the switch on a port the claims that it does not hold yet, and withdraws others. False
/// when a claim was refused or had no response, which changes the port's fault.
static bool announce_claims(unsigned p) {
    struct port* port = &ports[p];
    if (!has_switch(port)) return true;
    const uint32_t wanted = routes_claims(&machine, ports, p);
    for (unsigned n = 0; n < CLAIM_KINDS; ++n) {
        const uint32_t bit = 1u << n;
        const bool holds = (wanted & bit) != 0;
        const unsigned chips = holds ? routes_claimed_chips(&machine, ports, (enum claim)bit) : 0;
        if (((wanted ^ accepted_claims[p]) & bit) == 0 && chips == claimed_chips[p][n] &&
            !claims_unknown[p])
            continue;
        const enum claim_result result =
            discovery_claim(p, &machine, (enum claim)bit, chips, holds);
        if (result == CLAIM_REFUSED) port->duplicate = true;
        if (result == CLAIM_NO_RESPONSE) port->silent = true;
        if (result != CLAIM_ACCEPTED) return false;
        accepted_claims[p] = (accepted_claims[p] & ~bit) | (wanted & bit);
        claimed_chips[p][n] = (uint16_t)chips;
    }
    claims_unknown[p] = false;
    return true;
}

/// A claim depends on the state of other ports, and a refusal changes the state of its port: claims
/// are sent until all ports agree. Each further pass begins with one usable port less.
static void settle_claims(void) {
    bool settled = false;
    for (unsigned pass = 0; pass <= TOPOLOGY_PORTS && !settled; ++pass) {
        settled = true;
        for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
            if (announce_claims(p)) continue;
            update_faults();
            settled = false;
        }
    }
}

static void program_routes(void) {
    const struct routes found = routes_find(&machine, ports);
    for (unsigned n = 0; n < TOPOLOGY_MAX_CHIPS; ++n)
        if (found.chip[n] != routes.chip[n]) neuron_link_route_chip(n, found.chip[n]);
    for (unsigned n = 0; n < TOPOLOGY_MAX_SERVERS; ++n)
        if (found.server[n] != routes.server[n]) neuron_link_route_server(n, found.server[n]);
    for (unsigned n = 0; n < TOPOLOGY_MAX_RACKS; ++n)
        if (found.rack[n] != routes.rack[n]) neuron_link_route_rack(n, found.rack[n]);
    routes = found;
}

/// Clears the routing table, which may hold routes of an earlier run of the firmware.
static void clear_routes(void) {
    for (unsigned n = 0; n < TOPOLOGY_MAX_CHIPS; ++n) neuron_link_route_chip(n, NO_PORT);
    for (unsigned n = 0; n < TOPOLOGY_MAX_SERVERS; ++n) neuron_link_route_server(n, NO_PORT);
    for (unsigned n = 0; n < TOPOLOGY_MAX_RACKS; ++n) neuron_link_route_rack(n, NO_PORT);
    memset(&routes, NO_PORT, sizeof routes);
}

void links_publish(void) {
    if (machine.kind == TOPOLOGY_NONE) {
        misc_ram_write(MISC_RAM(TOPOLOGY_MAGIC), 0);
        return;
    }
    topology_table_publish(&machine, ports, routes_count(&machine, ports, &routes));
}

static void apply_changes(void) {
    update_faults();
    settle_claims();
    program_routes();
    const struct announcement now = routes_announce(&machine, ports);
    if (memcmp(&now, &announced, sizeof now) != 0) neuron_link_announce(now.words, ANNOUNCED_WORDS);
    announced = now;
    publish_health();
    links_publish();
}

static bool has_no_valid_response(unsigned p) {
    return ports[p].up && (ports[p].silent || ports[p].garbage);
}

/// Each port has a time of its own: the retries of one port do not use up those of another.
static void schedule_retries(void) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        if (!has_no_valid_response(p)) {
            retries[p] = 0;
            retry_at_us[p] = 0;
            continue;
        }
        if (retries[p] == RETRIES) continue;
        if (retry_at_us[p] == 0) retry_at_us[p] = timer_now_us() + (FIRST_RETRY_US << retries[p]);
        event_raise_at(EVENT_LINK_RETRY, retry_at_us[p]);
    }
}

static void serve(struct link_events now) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        const bool changed = now.changed >> p & 1, noticed = now.noticed >> p & 1;
        if (changed) read_port(p);
        if (!changed && !noticed) continue;
        retries[p] = 0;
        retry_at_us[p] = 0;
        if (ports[p].up) discovery_read(p, &machine, &ports[p]);
    }
    apply_changes();
    schedule_retries();
}

void links_retry(void) {
    const uint64_t now = timer_now_us();
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        if (retry_at_us[p] == 0 || retry_at_us[p] > now) continue;
        ++retries[p];
        retry_at_us[p] = 0;
        discovery_read(p, &machine, &ports[p]);
    }
    apply_changes();
    schedule_retries();
}

void links_serve(void) {
    const struct link_events now = take_events();
    if (now.changed | now.noticed) serve(now);
}

void links_refresh(void) {
    if (machine.kind == TOPOLOGY_NONE) return;
    const uint32_t all = (1u << TOPOLOGY_PORTS) - 1;
    serve((struct link_events){all, all});
}

static struct fabric_id id_of(const struct place* place) {
    return (struct fabric_id){place->rack, place->server, place->chip};
}

// --- Boot ------------------------------------------------------------------------------------

/// Sets the destinations of the neighbour windows. Torus of several servers, as the hosts' election
/// expects (contract 11.1): windows 1 and 2 lead to the left neighbour, 0 and 3 to the right one.
/// The left neighbour's right neighbour must be the node across, so servers 0 and 1 are each
/// other's left, servers 1 and 2 each other's right neighbours. Behind switches (invented): window
/// n leads to chip own + n + 1 of the server, the window after the last chip to the other rack.
static void open_windows(void) {
    const unsigned next = 5, previous = 4;
    const bool even = machine.own.server % 2 == 0;
    const unsigned left = even ? next : previous, right = even ? previous : next;
    const unsigned pod[NEURON_LINK_WINDOWS] = {right, left, left, right};
    for (unsigned w = 0; w < NEURON_LINK_WINDOWS; ++w) {
        if (machine.kind != TOPOLOGY_SWITCHED) {
            neuron_link_window_to_port(w, machine.z > 1 ? pod[w] : w);
            continue;
        }
        struct place destination = machine.own;
        if (w + 1 < machine.x)
            destination.chip = (uint8_t)((machine.own.chip + w + 1) % machine.x);
        else
            destination.rack = (uint8_t)((machine.own.rack + 1) % machine.z);
        neuron_link_window_to_chip(w, id_of(&destination));
    }
}

void links_start(void) {
    const struct boot_straps straps = boot_straps_read();
    machine = topology_from_straps(straps.topology, straps.place);
    if (machine.kind == TOPOLOGY_NONE) return;
    clear_routes();
    neuron_link_announce(announced.words, ANNOUNCED_WORDS);
    neuron_link_set_identity((uint64_t)straps.serial_high << 32 | straps.serial_low,
                             id_of(&machine.own));
    open_windows();
    neuron_link_enable_irqs();
    irq_enable(IRQ_LINKS, link_irq);
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        read_port(p);
        if (ports[p].connected && !ports[p].up) neuron_link_train(p);
    }
}

static bool all_partners_known(void) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p)
        if (ports[p].connected &&
            !(ports[p].up && (ports[p].identified || ports[p].silent || ports[p].garbage)))
            return false;
    return true;
}

static bool all_chips_reachable(void) {
    const struct reachable now = routes_count(&machine, ports, &routes);
    const unsigned chips = topology_chips_per_server(&machine);
    const unsigned servers = topology_servers_per_rack(&machine);
    return now.server == chips - 1 && now.rack == chips * (servers - 1) &&
           now.other == chips * servers * (topology_racks(&machine) - 1);
}

/// Serves link events until done() is true or `limit_us` has passed.
static void serve_until(bool (*done)(void), uint32_t limit_us) {
    const uint64_t end = timer_now_us() + limit_us;
    while (!done()) {
        const uint64_t now = timer_now_us();
        if (now >= end || !timer_wait_irq(has_events, 0, (uint32_t)(end - now))) return;
        serve(take_events());
    }
}

static void summarise(void) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        char name[48];
        if (!ports[p].identified) continue;
        log_info("  port %u: Gen%u x%u to %s", p, ports[p].generation, ports[p].lanes,
                 topology_name(&ports[p].partner, name, sizeof name));
    }
    const struct reachable now = routes_count(&machine, ports, &routes);
    log_info("  reach %u chips of the server, %u of the rack, %u of the other", now.server,
             now.rack, now.other);
}

bool links_bring_up(void) {
    if (machine.kind == TOPOLOGY_NONE) return true;
    // Links that were up before this boot raise no events, so all ports are read once.
    links_refresh();
    serve_until(all_partners_known, KNOWN_LIMIT_US);
    serve_until(all_chips_reachable, SETTLED_LIMIT_US);
    booting = false;
    apply_changes();
    summarise();
    return true;
}
