/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <string.h>

#include "device.h"

#define MARKER UINT32_C(0xABCDEF01) /* contract 7.5 */
#define STATE_POLL_INTERVAL (20 * NS_PER_US)

/* Marker page: word 0 is the source of all markers, word 1 + n receives job n's marker. */
static volatile uint32_t* marker_word(const trn_ring* ring, uint64_t sequence) {
    return (volatile uint32_t*)ring->markers.host + 1 + sequence % RING_JOBS;
}

static void start_empty(trn_ring* ring) {
    memset(ring->m2s.host, 0, ring->m2s.size);
    memset(ring->s2m.host, 0, ring->s2m.size);
    *(volatile uint32_t*)ring->markers.host = MARKER;
    for (uint32_t n = 0; n < 2; ++n)
        ring->sides[n] = (ring_side){.ring_id = 1}; /* contract 7.4: first pass after a reset */
    ring->in_flight = 0;
    ring->broken = TRN_OK;
}

static void end_all(trn_ring* ring, trn_status why) {
    for (; ring->oldest != ring->newest; ++ring->oldest) {
        ring_job* job = &ring->jobs[ring->oldest % RING_JOBS];
        job->state = JOB_OVER;
        job->result = why;
    }
    ring->in_flight = 0;
}

static trn_status assign_to_queue(trn_device* device, const trn_ring* ring) {
    trn_mmio io = trn_mmio_of(device);
    trn_queue_init(&io, ring->engine, ring->queue, trn_host_address(device, ring->m2s.iova),
                   ring->length, trn_host_address(device, ring->s2m.iova), ring->length);
    return io.status;
}

trn_status trn_ring_open(trn_device* device, trn_ring* ring, uint32_t engine, uint32_t queue,
                         uint32_t length) {
    ring->engine = engine; /* jobs and their numbers outlive a reset */
    ring->queue = queue;
    ring->length = length;
    const uint64_t bytes = (uint64_t)length * sizeof(trn_descriptor);
    trn_status status = trn_dma_allocate(device, bytes, &ring->m2s);
    if (status == TRN_OK) status = trn_dma_allocate(device, bytes, &ring->s2m);
    if (status == TRN_OK) status = trn_dma_allocate(device, 4096, &ring->markers);
    if (status != TRN_OK) {
        trn_ring_close(device, ring, status);
        return status;
    }
    start_empty(ring);
    return assign_to_queue(device, ring);
}

void trn_ring_close(trn_device* device, trn_ring* ring, trn_status why) {
    end_all(ring, why);
    trn_dma_release(device, &ring->m2s);
    trn_dma_release(device, &ring->s2m);
    trn_dma_release(device, &ring->markers);
    ring->broken = TRN_NOT_READY;
}

bool trn_ring_is_in_use(const trn_ring* ring) {
    return ring->m2s.host && (ring->oldest != ring->newest || ring->broken != TRN_OK);
}

trn_status trn_ring_restart(trn_device* device, trn_ring* ring) {
    end_all(ring, TRN_ABORTED);
    /* The queue reset comes first: until then the device may still read the old descriptors. */
    const trn_status status = assign_to_queue(device, ring);
    start_empty(ring);
    return status;
}

bool trn_ring_has_room(const trn_ring* ring, uint32_t copies) {
    const ring_job* job = &ring->jobs[ring->newest % RING_JOBS];
    return job->state == JOB_FREE && ring->in_flight + copies + 1 < ring->length;
}

void trn_ring_put(trn_ring* ring, trn_ring_kind kind, trn_descriptor descriptor) {
    ring_side* side = &ring->sides[kind];
    trn_descriptor* entries = kind == TRN_RING_M2S ? ring->m2s.host : ring->s2m.host;
    entries[side->next] = trn_descriptor_with_ring_id(descriptor, side->ring_id);
    ++side->appended;
    if (++side->next == ring->length) {
        side->next = 0;
        side->ring_id = (side->ring_id + 1) % 4;
    }
}

void trn_ring_append(trn_ring* ring, uint64_t destination, uint64_t source, uint32_t size,
                     uint32_t flags) {
    trn_ring_put(ring, TRN_RING_M2S, trn_m2s_descriptor(source, size, 0, flags));
    trn_ring_put(ring, TRN_RING_S2M, trn_s2m_descriptor(destination, size, 0, flags));
}

void trn_ring_append_copy(trn_ring* ring, uint64_t destination, uint64_t source, uint64_t size) {
    for (uint64_t done = 0; done < size;) {
        const uint64_t left = size - done;
        const uint32_t part = (uint32_t)(left < TRN_DESCRIPTOR_BYTES ? left : TRN_DESCRIPTOR_BYTES);
        trn_ring_append(ring, destination + done, source + done, part,
                        part == left ? TRN_WRITE_BARRIER : 0);
        done += part;
    }
}

/* Contract 7.5, in nanoseconds, for n descriptors with the marker. */
static uint64_t time_limit(const trn_device* device, uint32_t descriptors) {
    static const uint64_t time_factor[] = {1, 10000,
                                           100000}; /* silicon, qemu, emulator (contract 2) */
    const uint64_t copies = descriptors > 1 ? descriptors - 1 : 1;
    return copies * device->generation->limit_us_per_descriptor * NS_PER_US *
           time_factor[device->mode];
}

trn_status trn_ring_post(trn_device* device, trn_ring* ring, uint32_t flags,
                         uint32_t time_limit_divisor, uint64_t* sequence) {
    const uint64_t number = ring->newest;
    volatile uint32_t* word = marker_word(ring, number);
    *word = 0;
    const uint64_t markers = trn_host_address(device, ring->markers.iova);
    trn_ring_append(ring, markers + 4 * (1 + number % RING_JOBS), markers, 4, flags);
    const uint32_t m2s = ring->sides[TRN_RING_M2S].appended;
    const uint32_t s2m = ring->sides[TRN_RING_S2M].appended;
    const uint32_t count = m2s > s2m ? m2s : s2m;
    ring->in_flight += count;
    ring->sides[TRN_RING_M2S].appended = ring->sides[TRN_RING_S2M].appended = 0;
    ++ring->newest;
    ring_job* job = &ring->jobs[number % RING_JOBS];
    *job = (ring_job){JOB_RUNNING, TRN_OK, count, 0, trn_operation_begins(device, "copy", 0)};
    const uint64_t limit =
        trn_timeout(device, time_limit(device, ring->in_flight) / time_limit_divisor);
    job->deadline = trn_now(device) + limit;
    ring->state_polled_at = trn_now(device);
    *sequence = number;

    /* Descriptors must be in memory before the doorbell. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    trn_mmio io = trn_mmio_of(device);
    const uint64_t engine = trn_engine_registers(device, ring->engine);
    trn_mmio_write(&io, engine + UDMA(S2M_Q_TAIL_INCREMENT)(ring->queue), s2m);
    trn_mmio_write(&io, engine + UDMA(M2S_Q_TAIL_INCREMENT)(ring->queue), m2s);
    trn_operation_posted(device);
    if (io.status != TRN_OK) {
        end_all(ring, io.status);
        job->state = JOB_FREE;
        ring->broken = io.status;
    }
    return io.status;
}

static const char* state_word(uint32_t nibble) {
    return nibble == 0 ? "idle" : nibble == 1 ? "normal" : nibble == 2 ? "abort" : "unknown";
}

/* Text of the secondary causes (contract 6.4), the most specific first. */
static const char* cause_text(uint32_t m2s, uint32_t s2m) {
    static const struct {
        uint32_t m2s, s2m;
        const char* text;
    } causes[] = {
        {1u << 17, 1u << 11, "descriptor with a wrong ring id"},
        {1u << 13, 0, "packet longer than allowed"},
        {1u << 14, 0, "too many descriptors in a packet"},
        {1u << 16 | 1u << 15, 1u << 23 | 1u << 22, "first or last bit of a packet missing"},
        {0, 1u << 24, "source and destination lengths differ"},
        {1u << 11 | 1u << 8 | 1u << 5, 1u << 14 | 1u << 9 | 1u << 1,
         "address error: no response at an address of a descriptor or of the ring"},
        {1u << 12 | 1u << 9 | 1u << 6, 1u << 15 | 1u << 10 | 1u << 2, "bus timeout"},
        {1u << 10 | 1u << 7 | 1u << 4, 0, "bus parity error"},
        {1u << 0, 0, "an operation or element types that the engine cannot do"},
        {1u << 1, 0, "operands whose lengths do not fit, or that overlap the result"},
        {1u << 2, 0, "an index beyond its table"},
        {1u << 3, 0, "stream error"},
    };
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; ++i)
        if ((causes[i].m2s & m2s) || (causes[i].s2m & s2m)) return causes[i].text;
    return m2s || s2m ? "internal error" : "no cause given";
}

static void read_failure(trn_mmio* io, uint32_t number, uint32_t queue, trn_failure* failure) {
    const uint64_t engine = trn_engine_registers(io->device, number);
    const uint32_t index = 0xffffff;
    failure->engine = number;
    failure->queue = queue;
    failure->m2s_state = trn_mmio_read(io, engine + UDMA(M2S_STATE));
    failure->s2m_state = trn_mmio_read(io, engine + UDMA(S2M_STATE));
    failure->cause_m2s = trn_mmio_read(io, engine + UDMA(SECONDARY_CAUSE)(GROUP_A));
    failure->cause_s2m = trn_mmio_read(io, engine + UDMA(SECONDARY_CAUSE)(GROUP_B));
    failure->m2s_head = trn_mmio_read(io, engine + UDMA(M2S_Q_HEAD)(queue)) & index;
    failure->s2m_head = trn_mmio_read(io, engine + UDMA(S2M_Q_HEAD)(queue)) & index;
}

static trn_status fail_aborted(trn_device* device, const trn_failure* f) {
    return trn_fail(device, TRN_ABORTED,
                    "DMA engine %u aborted while queue %u was at descriptor %u (source side) and "
                    "%u (destination side): %s (states 0x%04x/0x%04x, causes 0x%08x/0x%08x)",
                    f->engine, f->queue, f->m2s_head, f->s2m_head,
                    cause_text(f->cause_m2s, f->cause_s2m), f->m2s_state, f->s2m_state,
                    f->cause_m2s, f->cause_s2m);
}

trn_status trn_queue_check(trn_device* device, uint32_t engine, uint32_t queue) {
    trn_failure failure;
    trn_mmio io = trn_mmio_of(device);
    const uint64_t registers = trn_engine_registers(device, engine);
    const uint32_t state = trn_mmio_read(&io, registers + UDMA(M2S_Q_STATUS)(queue)) |
                           trn_mmio_read(&io, registers + UDMA(S2M_Q_STATUS)(queue));
    const bool stopped = state & TRN_UDMA_M2S_Q_STATUS_ABORTED_MASK;
    if (stopped) read_failure(&io, engine, queue, &failure);
    if (io.status != TRN_OK || !stopped) return io.status;
    device->failure = failure;
    device->failed_copy = true;
    return fail_aborted(device, &failure);
}

static trn_status give_up(trn_device* device, trn_ring* ring, trn_status why) {
    trn_failure failure;
    trn_mmio io = trn_mmio_of(device);
    read_failure(&io, ring->engine, ring->queue, &failure);
    if (io.status != TRN_OK) why = io.status;
    end_all(ring, why);
    ring->broken = why;
    if (io.status != TRN_OK) return why;
    device->failure = failure;
    device->failed_copy = true;
    if (why == TRN_DEVICE_GONE)
        return trn_fail(device, why, "DMA engine %u reads as ones: the device is not present",
                        ring->engine);
    if (why == TRN_ABORTED) return fail_aborted(device, &failure);
    return trn_fail(
        device, why,
        "no completion from DMA engine %u queue %u in time: source side %s at descriptor "
        "%u, destination side %s at descriptor %u, next to be written %u of %u",
        ring->engine, ring->queue, state_word((failure.m2s_state >> 8) & 3), failure.m2s_head,
        state_word((failure.s2m_state >> 8) & 3), failure.s2m_head, ring->sides[TRN_RING_M2S].next,
        ring->length);
}

/* Ends complete jobs, from the oldest on: jobs of a ring end in order. */
static void collect(trn_device* device, trn_ring* ring) {
    while (ring->oldest != ring->newest &&
           __atomic_load_n((uint32_t*)marker_word(ring, ring->oldest), __ATOMIC_ACQUIRE) ==
               MARKER) {
        ring_job* job = &ring->jobs[ring->oldest % RING_JOBS];
        job->state = JOB_OVER;
        job->result = TRN_OK;
        ring->in_flight -= job->descriptors;
        trn_operation_complete(device, job->operation);
        ++ring->oldest;
    }
}

trn_status trn_ring_poll(trn_device* device, trn_ring* ring) {
    collect(device, ring);
    if (ring->oldest == ring->newest) return TRN_OK;
    const uint64_t time = trn_now(device);
    const ring_job* job = &ring->jobs[ring->oldest % RING_JOBS];
    const uint64_t spacing = trn_timeout(device, STATE_POLL_INTERVAL);
    if (time - ring->state_polled_at >= spacing || time >= job->deadline) {
        ring->state_polled_at = time;
        trn_mmio io = trn_mmio_of(device);
        const uint64_t engine = trn_engine_registers(device, ring->engine);
        const uint32_t m2s = trn_mmio_read(&io, engine + UDMA(M2S_STATE));
        const uint32_t s2m = trn_mmio_read(&io, engine + UDMA(S2M_STATE));
        const bool gone = m2s == ~0u && s2m == ~0u; /* reads without a response return ones */
        const bool aborted = trn_any_state(m2s, 2) || trn_any_state(s2m, 2);
        collect(device, ring); /* it may have ended since the first poll */
        if (ring->oldest == ring->newest) return TRN_OK;
        if (io.status != TRN_OK) return give_up(device, ring, io.status);
        if (gone) return give_up(device, ring, TRN_DEVICE_GONE);
        if (aborted) return give_up(device, ring, TRN_ABORTED);
        if (job->state == JOB_RUNNING && time >= job->deadline)
            return give_up(device, ring, TRN_TIMED_OUT);
    }
    return TRN_OK;
}

ring_job* trn_ring_find(trn_ring* ring, uint64_t sequence) {
    ring_job* job = &ring->jobs[sequence % RING_JOBS];
    const bool posted = sequence < ring->newest && sequence + RING_JOBS >= ring->newest;
    return posted && job->state != JOB_FREE ? job : NULL;
}

trn_status trn_ring_wait(trn_device* device, trn_ring* ring, uint64_t sequence) {
    ring_job* job = trn_ring_find(ring, sequence);
    if (!job)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "unknown job: already waited for, or never submitted");
    const uint64_t start = trn_now(device);
    for (;;) {
        const trn_status polled = trn_ring_poll(device, ring);
        if (job->state == JOB_OVER) break;
        if (polled != TRN_OK) return polled;
        /* Pauses of 1/64 of the time waited so far, at least 1 us: few polls, accurate durations.
         */
        const uint64_t spent = trn_now(device) - start;
        uint64_t step = spent / 64;
        if (step < NS_PER_US) step = NS_PER_US;
        const trn_status paused = trn_pause(device, step);
        if (paused != TRN_OK) {
            end_all(ring, paused);
            ring->broken = paused;
        }
    }
    job->state = JOB_FREE;
    return job->result;
}
