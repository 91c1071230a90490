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

// A partner may be slow, unpowered or absent: the boot goes on without it.
#define KNOWN_LIMIT_US 50000   // every cable's partner has announced its identity
#define SETTLED_LIMIT_US 5000  // and what they know has gone round

static struct topology machine;
static struct port ports[TOPOLOGY_PORTS];
static struct routes routes;              // as programmed
static uint32_t claimed[TOPOLOGY_PORTS];  // bits of enum claim that the switch there has heard
static uint16_t claimed_chips[TOPOLOGY_PORTS][CLAIM_KINDS];  // and with which number
static bool claims_unknown[TOPOLOGY_PORTS];
static bool booting = true;
static struct announcement announced;   // that partners read
static volatile struct link_news news;  // noted by the interrupt, taken by serve()

static void link_irq(unsigned source) {
    (void)source;
    const struct link_news now = neuron_link_take_news();
    news.changed |= now.changed;
    news.noticed |= now.noticed;
    if (news.changed | news.noticed) event_raise(EVENT_LINK);
}

static struct link_news take_news(void) {
    const unsigned long state = irq_save();
    const struct link_news taken = {news.changed, news.noticed};
    news.changed = news.noticed = 0;
    irq_restore(state);
    return taken;
}

static bool there_is_news(const void* unused) {
    (void)unused;
    return (news.changed | news.noticed) != 0;
}

// --- What is found ------------------------------------------------------------------------

static void look_at(unsigned p) {
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
    claims_unknown[p] = true;  // an earlier run of the firmware may have left some
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

static void judge(void) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        const enum link_fault before = ports[p].fault;
        if (booting && ports[p].connected && !ports[p].up) continue;  // it still trains
        ports[p].fault = topology_judge(&machine, p, &ports[p]);
        if (ports[p].fault != before) report_fault_change(p, before);
    }
}

/// The components that the host's health word knows.
static void show_health(void) {
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

// --- What follows from it -----------------------------------------------------------------------

/// False when that says something new about the port.
static bool announce_claims(unsigned p) {
    struct port* port = &ports[p];
    const uint32_t wanted = routes_claims(&machine, ports, p);
    if (!topology_usable(port) || port->partner.kind == PARTNER_CHIP) return true;
    for (unsigned n = 0; n < CLAIM_KINDS; ++n) {
        const uint32_t one = 1u << n;
        const bool holds = (wanted & one) != 0;
        const unsigned chips = holds ? routes_claimed_chips(&machine, ports, (enum claim)one) : 0;
        if (((wanted ^ claimed[p]) & one) == 0 && chips == claimed_chips[p][n] &&
            !claims_unknown[p])
            continue;
        const enum claim_result result =
            discovery_claim(p, &machine, (enum claim)one, chips, holds);
        port->duplicate = result == CLAIM_REFUSED;
        port->silent = result == CLAIM_NOT_HEARD;
        if (result != CLAIM_TAKEN) return false;
        claimed[p] = (claimed[p] & ~one) | (wanted & one);
        claimed_chips[p][n] = (uint16_t)chips;
    }
    claims_unknown[p] = false;
    return true;
}

static void program(void) {
    const struct routes found = routes_find(&machine, ports);
    for (unsigned n = 0; n < TOPOLOGY_MAX_CHIPS; ++n)
        if (found.chip[n] != routes.chip[n]) neuron_link_route_chip(n, found.chip[n]);
    for (unsigned n = 0; n < TOPOLOGY_MAX_SERVERS; ++n)
        if (found.server[n] != routes.server[n]) neuron_link_route_server(n, found.server[n]);
    for (unsigned n = 0; n < TOPOLOGY_MAX_RACKS; ++n)
        if (found.rack[n] != routes.rack[n]) neuron_link_route_rack(n, found.rack[n]);
    routes = found;
}

/// Whatever an earlier run of the firmware has left there.
static void program_nothing(void) {
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

static void act(void) {
    judge();
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        if (!announce_claims(p)) judge();
    }
    program();
    const struct announcement now = routes_announce(&machine, ports);
    if (memcmp(&now, &announced, sizeof now) != 0) neuron_link_announce(now.words, ANNOUNCED_WORDS);
    announced = now;
    show_health();
    links_publish();
}

static void serve(struct link_news now) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        if (now.changed >> p & 1) look_at(p);
        if ((now.changed | now.noticed) >> p & 1 && ports[p].up)
            discovery_ask(p, &machine, &ports[p]);
    }
    act();
}

void links_serve(void) {
    const struct link_news now = take_news();
    if (now.changed | now.noticed) serve(now);
}

void links_refresh(void) {
    if (machine.kind == TOPOLOGY_NONE) return;
    const uint32_t all = (1u << TOPOLOGY_PORTS) - 1;
    serve((struct link_news){all, all});
}

static struct fabric_id id_of(const struct place* at) {
    return (struct fabric_id){at->rack, at->server, at->chip};
}

// --- Boot ------------------------------------------------------------------------------------

/// What an access to a neighbour window leads to. In a pod that is what the election of the hosts
/// expects (contract 11.1): windows 1 and 2 the left, 0 and 3 the right neighbour, where the left
/// neighbour's right one is the node across: so servers 0 and 1 are each other's left, 1 and 2 each
/// other's right ones. Behind switches a window leads to the next chips of the server, the last one
/// to the other rack (invented).
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
        struct place to = machine.own;
        if (w + 1 < machine.x)
            to.chip = (uint8_t)((machine.own.chip + w + 1) % machine.x);
        else
            to.rack = (uint8_t)((machine.own.rack + 1) % machine.z);
        neuron_link_window_to_chip(w, id_of(&to));
    }
}

void links_start(void) {
    const struct boot_straps straps = boot_straps_read();
    machine = topology_from_straps(straps.topology, straps.place);
    if (machine.kind == TOPOLOGY_NONE) return;
    program_nothing();
    neuron_link_announce(announced.words, ANNOUNCED_WORDS);
    neuron_link_introduce((uint64_t)straps.serial_high << 32 | straps.serial_low,
                          id_of(&machine.own));
    open_windows();
    neuron_link_listen();
    irq_enable(IRQ_LINKS, link_irq);
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        look_at(p);
        if (ports[p].connected && !ports[p].up) neuron_link_train(p);
    }
}

static bool everybody_is_known(void) {
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p)
        if (ports[p].connected &&
            !(ports[p].up && (ports[p].identified || ports[p].silent || ports[p].garbage)))
            return false;
    return true;
}

static bool everybody_is_reached(void) {
    const struct reachable now = routes_count(&machine, ports, &routes);
    const unsigned chips = topology_chips_per_server(&machine);
    const unsigned servers = topology_servers_per_rack(&machine);
    return now.server == chips - 1 && now.rack == chips * (servers - 1) &&
           now.other == chips * servers * (topology_racks(&machine) - 1);
}

/// Serves what comes until `done`, or the limit.
static void serve_until(bool (*done)(void), uint32_t limit_us) {
    const uint64_t end = timer_now_us() + limit_us;
    while (!done()) {
        const uint64_t now = timer_now_us();
        if (now >= end || !timer_wait_irq(there_is_news, 0, (uint32_t)(end - now))) return;
        serve(take_news());
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
    // Links that were up before this boot have nothing new to tell.
    links_refresh();
    serve_until(everybody_is_known, KNOWN_LIMIT_US);
    serve_until(everybody_is_reached, SETTLED_LIMIT_US);
    booting = false;
    act();
    summarise();
    return true;
}
