/* SPDX-License-Identifier: Apache-2.0 */
/* Measures costs in the guest: rows "bench NAME VALUE UNIT", read by tests/bench/bench.py. Optional
 * peer: another device, which only responds to register reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw-stubs/guest/program.h"

enum { ROUNDS = 9, READS = 1000, PEER_VENDOR = 0x1234, COPY = 64 << 20 };

static void row(const char* name, double value, const char* unit) {
    printf("bench %s %.6g %s\n", name, value, unit);
    fflush(stdout);
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static double median(double* runs) {
    qsort(runs, ROUNDS, sizeof *runs, ascending);
    return runs[ROUNDS / 2];
}

/* Microseconds of a register read; negative when one fails. */
static double read_cost(const trn_transport* transport, uint64_t offset) {
    uint32_t value;
    int error = 0;
    const double start = seconds_now();
    for (int i = 0; i < READS; ++i)
        error |= transport->bar_read32(transport->context, 0, offset, &value);
    return error ? -1 : (seconds_now() - start) / READS * 1e6;
}

/* Measures the device and the peer alternately, so that other load affects both equally. */
static bool reads(const struct subject* subject) {
    const uint64_t misc_ram = 0x6c84000;
    trn_sysfs_function found[1];
    trn_transport peer;
    char why[160] = "";
    const bool has_peer = trn_sysfs_find(PEER_VENDOR, found, 1) == 1;
    if (has_peer && trn_sysfs_transport(found[0].name, &peer, why, sizeof why) != 0)
        return wrong(subject, "bench", "the peer: %s", why);
    double ours[ROUNDS], theirs[ROUNDS];
    bool all = true;
    for (int round = 0; round < ROUNDS; ++round) {
        ours[round] = read_cost(&subject->transport, misc_ram);
        theirs[round] = has_peer ? read_cost(&peer, 0) : 0;
        all = all && ours[round] >= 0 && theirs[round] >= 0;
    }
    if (has_peer) peer.close(peer.context);
    if (!all) return wrong(subject, "bench", "a register read failed");
    row("mmio_read", median(ours), "us");
    if (has_peer) row("peer_mmio_read", median(theirs), "us");
    return true;
}

/* Counts the writes of engine set-up, which are the same as the public driver's. */
static uint64_t writes_seen;
static int (*uncounted_write)(void*, uint32_t, uint64_t, uint32_t);

static int counted_write(void* context, uint32_t bar, uint64_t offset, uint32_t value) {
    ++writes_seen;
    return uncounted_write(context, bar, offset, value);
}

static bool resets(struct subject* subject) {
    const double start = seconds_now();
    writes_seen = 0;
    if (!good(subject, "bench", trn_reset_device(subject->device))) return false;
    row("reset", seconds_now() - start, "s");
    row("reset_writes", (double)writes_seen, "writes");
    return true;
}

static bool copies(const struct subject* subject) {
    trn_buffer source, destination;
    if (!good(subject, "bench", trn_buffer_alloc(subject->device, COPY, &source)) ||
        !good(subject, "bench", trn_buffer_alloc(subject->device, COPY, &destination)))
        return false;
    memset(source.memory.host, 0x5a, COPY);
    memset(destination.memory.host, 0, COPY);
    const uint64_t host = trn_buffer_address(subject->device, &source, 0);
    const uint64_t hbm = trn_hbm_address(subject->device, 0, TRN_HBM_RESERVED_BYTES);
    if (!good(subject, "bench", trn_copy(subject->device, 0, hbm, host, COPY)))
        return false; /* touch */
    double rings[ROUNDS], plain[ROUNDS];
    for (int round = 0; round < ROUNDS; ++round) {
        double start = seconds_now();
        if (!good(subject, "bench", trn_copy(subject->device, 0, hbm, host, COPY))) return false;
        rings[round] = COPY / (seconds_now() - start) / 1e9;
        start = seconds_now();
        memcpy(destination.memory.host, source.memory.host, COPY);
        plain[round] = COPY / (seconds_now() - start) / 1e9;
    }
    row("ring_copy", median(rings), "GB/s");
    row("guest_memcpy", median(plain), "GB/s");
    return true;
}

bool measure(struct subject* subject) {
    if (!open_transport(subject)) return false;
    uncounted_write = subject->transport.bar_write32;
    subject->transport.bar_write32 = counted_write;
    return create_device(subject, NULL) && good(subject, "bench", trn_probe(subject->device)) &&
           resets(subject) && resets(subject) && reads(subject) && copies(subject);
}
