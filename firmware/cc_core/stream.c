// SPDX-License-Identifier: Apache-2.0
#include "firmware/cc_core/stream.h"

#include <stddef.h>
#include <trn/udma_regs.h>

#include "firmware/cc_core/hardware.h"
#include "firmware/cc_core/log.h"
#include "firmware/cc_core/mailbox_words.h"
#include "firmware/cc_core/network.h"

#define OP(name) TRN_CC_PROGRAM_STEP_OP_CODE_##name
#define FIELD(name, op) TRN_CC_PROGRAM_STEP_OP_##name##_GET(op)
#define STATE(name) TRN_CC_MAILBOX_SLOT_STATE_NOW_##name
#define ERROR(name) TRN_CC_MAILBOX_SLOT_ERROR_WHY_##name

static struct stream {
    const struct program* program;
    uint32_t state;
    uint32_t next;     ///< step
    uint32_t pending;  ///< triggers received while it ran
    uint32_t loops;    ///< iterations left of the current loop; 0: in no loop
    uint32_t marks;
    bool waiting;
    bool watches;  ///< the second comparator is armed, for events of the network
    uint64_t started, deadline;
    struct network network;
} streams[CC_SLOTS];

static void set_state(unsigned slot, uint32_t state) {
    streams[slot].state = state;
    mmio_write(CC_MAILBOX_AT(SLOT_STATE, slot), state);
}

/// The comparator for events of the network.
static unsigned event_match(unsigned slot) {
    return CC_SLOTS + slot;
}

/// Arms or disarms the comparator for events of the network. Armed while no wait takes the events,
/// it would keep the hart awake.
static void watch_events(unsigned slot, bool on) {
    struct stream* s = &streams[slot];
    if (s->watches == on) return;
    s->watches = on;
    if (on)
        match_arm(event_match(slot), network_event(&s->network), 1);
    else
        match_disarm(event_match(slot));
}

/// The comparator stays armed: it has no effect until the hart sleeps, and the next wait sets it
/// again.
static void stop_waiting(unsigned slot) {
    streams[slot].waiting = false;
    streams[slot].deadline = UINT64_MAX;
}

static void fail(unsigned slot, uint32_t why, uint32_t notice) {
    stop_waiting(slot);
    match_disarm(slot);
    watch_events(slot, false);
    mmio_write(CC_MAILBOX_AT(SLOT_STEP, slot), streams[slot].next);
    mmio_write(CC_MAILBOX_AT(SLOT_ERROR, slot), why);
    streams[slot].pending = 0;
    set_state(slot, STATE(FAILED));
    mailbox_notify(slot, notice);
}

static void fail_on_bus(unsigned slot) {
    fail(slot, ERROR(BUS), NOTICE(HARDWARE, streams[slot].next));
}

// --- Steps -------------------------------------------------------------------------------------

/// First row of QUEUE whose DMA queue has aborted; the number of rows if none has.
static unsigned aborted_row(const struct program* p) {
    for (unsigned row = 0; row < p->queues; ++row) {
        const uint64_t engine = program_engine(p, row);
        const unsigned queue = program_queue(p, row);
        uint32_t m2s = 0, s2m = 0;
        if (axi_read(engine + TRN_UDMA_M2S_Q_STATUS_OFFSET(queue), &m2s, sizeof m2s) &&
            axi_read(engine + TRN_UDMA_S2M_Q_STATUS_OFFSET(queue), &s2m, sizeof s2m) &&
            (TRN_UDMA_M2S_Q_STATUS_ABORTED_GET(m2s) || TRN_UDMA_S2M_Q_STATUS_ABORTED_GET(s2m)))
            return row;
    }
    return p->queues;
}

/// Reports a wait that timed out. Cause: an aborted DMA queue of this program, else the peer's
/// core.
static void report_hang(unsigned slot, const struct program_step* step) {
    const struct program* p = streams[slot].program;
    const unsigned semaphore = FIELD(WHICH, step->op), peer = FIELD(WITH, step->op);
    const int32_t value = semaphore_value(semaphore);
    mmio_write(CC_MAILBOX_AT(SLOT_SEMAPHORE, slot), semaphore);
    mmio_write(CC_MAILBOX_AT(SLOT_PEER, slot), peer);
    mmio_write(CC_MAILBOX_AT(SLOT_WANTED, slot), step->count);
    mmio_write(CC_MAILBOX_AT(SLOT_VALUE, slot), (uint32_t)value);
    mailbox_count(CC_MAILBOX(HANGS));
    log_line("hang: rank %u step %u waits for semaphore %u of rank %u: it is %d of %u",
             (unsigned)p->rank, (unsigned)streams[slot].next, semaphore, peer, (int)value,
             (unsigned)step->count);
    const unsigned row = aborted_row(p);
    if (row == p->queues) return fail(slot, ERROR(HANG), NOTICE(COLLECTIVES_STUCK, peer));
    log_line("slot %u: DMA queue %u has stopped", slot, row);
    fail(slot, ERROR(DMA_ABORT), NOTICE(DMA_ABORT, row));
}

/// Fails the run unless `result` is NETWORK_OK, which it returns.
static bool check_network(unsigned slot, enum network_result result) {
    const struct stream* s = &streams[slot];
    switch (result) {
    case NETWORK_OK:
        return true;
    case NETWORK_BUS_ERROR:
        log_line("slot %u: step %u: no response of the network's rings", slot, (unsigned)s->next);
        fail_on_bus(slot);
        return false;
    case NETWORK_FAILED:
        mmio_write(CC_MAILBOX_AT(SLOT_SEMAPHORE, slot), s->network.failure.request);
        mmio_write(CC_MAILBOX_AT(SLOT_PEER, slot), s->network.failure.peer);
        mmio_write(CC_MAILBOX_AT(SLOT_VALUE, slot), s->network.failure.status);
        fail(slot, ERROR(NETWORK), NOTICE(HARDWARE, s->next));
        return false;
    }
    return false;
}

/// The time `limit` after now; UINT64_MAX: never.
static uint64_t time_after(uint64_t limit) {
    const uint64_t now = time_ns();
    return limit > UINT64_MAX - now ? UINT64_MAX : now + limit;
}

/// True: the semaphore reached its value. False: still waiting, timed out, or the run has failed.
static bool wait(unsigned slot, const struct program_step* step) {
    struct stream* s = &streams[slot];
    const unsigned semaphore = FIELD(WHICH, step->op);
    const bool of_network = network_posts(&s->network, semaphore);
    if (of_network && semaphore_value(semaphore) < (int32_t)step->count &&
        !check_network(slot, network_take(&s->network, slot)))
        return false;
    if (semaphore_value(semaphore) >= (int32_t)step->count) {
        semaphore_take(semaphore, step->count);
        stop_waiting(slot);
        return true;
    }
    if (of_network) network_arm(&s->network);
    if (!s->waiting) {
        s->waiting = true;
        if (s->program->limit) s->deadline = time_after(s->program->limit);
        mailbox_count(CC_MAILBOX(WAITS));
        mmio_write(CC_MAILBOX_AT(SLOT_STEP, slot), s->next);
        match_arm(slot, semaphore, step->count);
        watch_events(slot, of_network);
    } else if (time_ns() >= s->deadline) {
        report_hang(slot, step);
    }
    return false;
}

static bool write_queue(const struct program* p, unsigned row, uint64_t offset, uint32_t value) {
    return axi_write_word(program_engine(p, row) + offset, value);
}

/// Posts the write side (s2m) first, so that data has a destination (contract section 7.4).
static bool advance(const struct program* p, const struct program_step* step) {
    const unsigned first = FIELD(WHICH, step->op), end = first + FIELD(WITH, step->op);
    const uint32_t destinations = (uint32_t)step->address;
    bool good = true;
    for (unsigned row = first; row < end && good; ++row) {
        const unsigned queue = program_queue(p, row);
        good = write_queue(p, row, TRN_UDMA_S2M_Q_TAIL_INCREMENT_OFFSET(queue), destinations) &&
               write_queue(p, row, TRN_UDMA_M2S_Q_TAIL_INCREMENT_OFFSET(queue), step->count);
        mailbox_count(CC_MAILBOX(DOORBELLS));
    }
    return good;
}

/// Resets both rings to the first descriptor and the first ring id.
static bool rewind_queues(const struct program* p, const struct program_step* step) {
    const unsigned first = FIELD(WHICH, step->op), end = first + FIELD(WITH, step->op);
    bool good = true;
    for (unsigned row = first; row < end && good; ++row) {
        const unsigned queue = program_queue(p, row);
        good = write_queue(p, row, TRN_UDMA_S2M_Q_SW_CONTROL_OFFSET(queue),
                           TRN_UDMA_S2M_Q_SW_CONTROL_RESET_MASK) &&
               write_queue(p, row, TRN_UDMA_M2S_Q_SW_CONTROL_OFFSET(queue),
                           TRN_UDMA_M2S_Q_SW_CONTROL_RESET_MASK);
    }
    return good;
}

static bool post(const struct program_step* step) {
    mailbox_count(CC_MAILBOX(POSTS));
    return axi_write_word(step->address, step->count);
}

static void mark(unsigned slot) {
    struct stream* s = &streams[slot];
    if (s->marks < s->program->marks)
        mmio_write((uintptr_t)s->program + s->program->length + s->marks * sizeof(uint32_t),
                   (uint32_t)(time_ns() - s->started));
    ++s->marks;
}

static void write_time(uintptr_t low, uintptr_t high, uint64_t time) {
    mmio_write(low, (uint32_t)time);
    mmio_write(high, (uint32_t)(time >> 32));
}

static void start(unsigned slot) {
    struct stream* s = &streams[slot];
    s->next = s->loops = s->marks = 0;
    s->deadline = UINT64_MAX;
    s->started = time_ns();
    write_time(CC_MAILBOX_AT(SLOT_STARTED_LO, slot), CC_MAILBOX_AT(SLOT_STARTED_HI, slot),
               s->started);
    set_state(slot, STATE(RUNNING));
}

/// Ends a run. True: a pending trigger has started the next one.
static bool end(unsigned slot) {
    struct stream* s = &streams[slot];
    match_disarm(slot);
    watch_events(slot, false);
    write_time(CC_MAILBOX_AT(SLOT_ENDED_LO, slot), CC_MAILBOX_AT(SLOT_ENDED_HI, slot), time_ns());
    mmio_write(CC_MAILBOX_AT(SLOT_MARKS, slot), s->marks);
    const uint32_t runs = mmio_read(CC_MAILBOX_AT(SLOT_RUNS, slot)) + 1;
    mmio_write(CC_MAILBOX_AT(SLOT_RUNS, slot), runs);
    set_state(slot, STATE(LOADED));
    if (s->program->done && !axi_write(s->program->done, &runs, sizeof runs)) {
        log_line("slot %u: no response at %lx", slot, (unsigned long)s->program->done);
        fail_on_bus(slot);
        return false;
    }
    if (s->pending == 0) return false;
    --s->pending;
    start(slot);
    return true;
}

/// Executes the next step. False: the stream waits, has ended or has failed.
static bool run_step(unsigned slot) {
    struct stream* s = &streams[slot];
    const struct program_step* step = &s->program->step[s->next];
    bool good = true;
    switch (FIELD(CODE, step->op)) {
    case OP(END):
        return end(slot);
    case OP(WAIT):
        if (!wait(slot, step)) return false;
        break;
    case OP(ADVANCE):
        good = advance(s->program, step);
        break;
    case OP(REWIND):
        good = rewind_queues(s->program, step);
        break;
    case OP(POST):
        good = post(step);
        break;
    case OP(SEND):
        good = network_send(&s->network, FIELD(WITH, step->op), step->count);
        mailbox_count(CC_MAILBOX(POSTS));
        break;
    case OP(MARK):
        mark(slot);
        break;
    case OP(LOOP):
        s->loops = s->loops ? s->loops - 1 : step->count;
        if (s->loops) {
            s->next = FIELD(WITH, step->op);
            return true;
        }
        break;
    }
    if (!good) {
        log_line("slot %u: step %u: bus error", slot, (unsigned)s->next);
        fail_on_bus(slot);
        return false;
    }
    ++s->next;
    return true;
}

// --- Interface to the scheduler ----------------------------------------------------------------

#define STEPS_PER_TURN 4096u

bool stream_continue(unsigned slot) {
    uint32_t done = 0;
    while (done < STEPS_PER_TURN && run_step(slot)) ++done;
    mmio_write(CC_MAILBOX(STEPS), mmio_read(CC_MAILBOX(STEPS)) + done);
    return done == STEPS_PER_TURN;
}

void stream_trigger(unsigned slot, uint32_t runs) {
    struct stream* s = &streams[slot];
    if (runs == 0) return;  // counted before the doorbell was cleared
    if (s->program == NULL || s->state == STATE(FAILED)) {
        log_line("slot %u: triggered without a program that can run", slot);
        return;
    }
    s->pending += runs;
    if (s->state == STATE(RUNNING)) return;
    --s->pending;
    start(slot);
}

void stream_load(unsigned slot, const struct program* program) {
    match_disarm(slot);
    match_disarm(event_match(slot));
    streams[slot] = (struct stream){
        .program = program, .deadline = UINT64_MAX, .network = {.program = program}};
    mmio_write(CC_MAILBOX_AT(SLOT_RUNS, slot), 0);
    mmio_write(CC_MAILBOX_AT(SLOT_STEP, slot), 0);
    mmio_write(CC_MAILBOX_AT(SLOT_ERROR, slot), ERROR(NONE));
    mmio_write(CC_MAILBOX_AT(SLOT_NOTICE, slot), 0);
    set_state(slot, program ? STATE(LOADED) : STATE(EMPTY));
    if (program == NULL) return;
    const unsigned first = TRN_CC_PROGRAM_SEMAPHORES_FIRST_GET(program->semaphores);
    const unsigned count = TRN_CC_PROGRAM_SEMAPHORES_COUNT_GET(program->semaphores);
    for (unsigned n = first; n < first + count; ++n) semaphore_clear(n);
}

const struct program* stream_program(unsigned slot) {
    return streams[slot].program;
}

bool stream_runs(unsigned slot) {
    return streams[slot].state == STATE(RUNNING);
}

uint64_t streams_deadline(void) {
    uint64_t first = UINT64_MAX;
    for (unsigned slot = 0; slot < CC_SLOTS; ++slot)
        if (streams[slot].waiting && streams[slot].deadline < first) first = streams[slot].deadline;
    return first;
}
