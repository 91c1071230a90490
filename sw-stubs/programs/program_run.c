/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "sw-stubs/driver/ring.h"

/* Runs a program: the host flow of NeuronCore spec 5.3. */

#define NOTIFICATION_RING_BYTES 4096u
#define NOTIFY 1u /* types of entries */
#define ERROR 3u
#define THROTTLE 5u
#define FIRST_PAUSE NS_PER_US
#define MAX_PAUSE (16 * NS_PER_US)
#define MAX_POLL_INTERVAL NS_PER_MS /* of STATUS: limits the delay by a lost notification */
#define MAX_WAIT_READS 2u
#define WAITER_TEXT 384u
#define PROGRAM_REGISTERS 4u /* PROGRAM_LO, PROGRAM_HI, PROGRAM_WORDS, START_PC */

static uint32_t device_core(const trn_program* program, uint32_t core) {
    return program->options.core + core;
}

/* Calls `visit` for every engine with a stream, until one fails. Returns its status. */
typedef trn_status (*visitor)(trn_program* program, uint32_t core, uint32_t engine);
static trn_status each_engine(trn_program* program, visitor visit) {
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores; ++core)
        for (uint32_t e = 0; e < SET_ENGINES && status == TRN_OK; ++e)
            if (program->cores[core].stream[e] != NO_STREAM) status = visit(program, core, e);
    return status;
}

/* Writes registers of a control block from `reg` on, by MMIO or DMA (options.control). */
static trn_status write_control(trn_program* program, uint32_t core, uint32_t engine, uint64_t reg,
                                const uint32_t* values, uint32_t count) {
    trn_device* device = program->device;
    const uint32_t number = device_core(program, core);
    if (program->options.control == TRN_CONTROL_BY_DMA)
        return trn_program_engine(
            device, number, trn_sbuf_address(device, number, trn_control_in_core(engine) + reg),
            values, count * sizeof *values);
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t n = 0; n < count; ++n)
        trn_mmio_write(&io, trn_control_in_bar(device, number, engine) + reg + 4 * n, values[n]);
    return io.status;
}

static trn_status read_control(trn_program* program, uint32_t core, uint32_t engine, uint64_t reg,
                               uint32_t* value) {
    trn_mmio io = trn_mmio_of(program->device);
    *value = trn_control_read(&io, device_core(program, core), engine, reg);
    return io.status;
}

static trn_status poll_engines(trn_program* program, bool every);
static trn_status fail_busy(trn_program* other);

/* ---- accounts ---- */

/* By the sequencer's error codes (NeuronCore spec 10.1), whose names trn_core_error_name has. */
static trn_run_outcome outcome_of(uint32_t error) {
    static const trn_run_outcome outcomes[] = {
        TRN_RUN_ENGINE_ERROR,    TRN_RUN_ENGINE_ERROR,   TRN_RUN_ENGINE_ERROR,
        TRN_RUN_OUT_OF_BOUNDS,   TRN_RUN_OUT_OF_BOUNDS,  TRN_RUN_MEMORY_ERROR,
        TRN_RUN_ENGINE_ERROR,    TRN_RUN_ENGINE_ERROR,   TRN_RUN_SEMAPHORE_ERROR,
        TRN_RUN_NUMERICAL_ERROR, TRN_RUN_PSUM_COLLISION, TRN_RUN_TIMED_OUT};
    return error < sizeof outcomes / sizeof *outcomes ? outcomes[error] : TRN_RUN_ENGINE_ERROR;
}

/* Accounts for a run once: its first failure, or its completion. A core that completes after an
 * error that does not stop it, such as a result that is no number, has that error. */
static void account(trn_program* program, trn_run_outcome outcome) {
    if (program->is_accounted) return;
    program->is_accounted = true;
    trn_accounts* accounts = &program->device->accounts;
    const trn_program_result* r = &program->result;
    const uint64_t busy = trn_now(program->device) - program->start;
    for (uint32_t core = 0; core < program->set.cores; ++core) {
        trn_run_outcome own = outcome;
        if (r->failed && r->core != core) own = TRN_RUN_ENGINE_ERROR;
        if (own == TRN_RUN_COMPLETED && program->notified[core])
            own = outcome_of(program->notified[core]);
        trn_core_account* account = &accounts->cores[device_core(program, core)];
        ++account->runs;
        ++account->outcomes[own];
        account->busy_ns += busy;
    }
    const bool has_times = program->device->transport.simulated_now && r->ended_ns >= r->started_ns;
    if (outcome == TRN_RUN_COMPLETED)
        accounts->latencies_ns[accounts->completed++ % TRN_ACCOUNT_LATENCIES] =
            has_times ? r->ended_ns - r->started_ns : busy;
    trn_accounts_changed(program->device);
}

/* ---- starting ---- */

static trn_status clear_engine(trn_program* program, uint32_t core, uint32_t engine) {
    uint32_t now = 0;
    trn_status status = read_control(program, core, engine, SEQUENCER(STATUS), &now);
    if (status != TRN_OK) return status;
    const uint32_t mode = TRN_SEQUENCER_STATUS_STATE_GET(now);
    if (mode == TRN_CORE_ENGINE_RUNNING || mode == TRN_CORE_ENGINE_WAITING)
        return trn_fail(program->device, TRN_BUSY, "the %s engine of core %u is %s",
                        trn_core_engine_name(engine), device_core(program, core),
                        trn_core_engine_mode_name(mode));
    const uint32_t reset = TRN_SEQUENCER_CONTROL_RESET_MASK;
    return write_control(program, core, engine, SEQUENCER(CONTROL), &reset, 1);
}

static trn_status assign_rings(trn_program* program) {
    trn_ring_request requests[SET_DMA_ENGINES];
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores; ++core) {
        const program_core* c = &program->cores[core];
        for (uint32_t q = 0; q < RING_QUEUES && status == TRN_OK; ++q) {
            uint32_t count = 0;
            for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e) {
                const program_ring* ring = &c->rings[e][q];
                if (ring->length)
                    requests[count++] = (trn_ring_request){
                        .engine = device_core(program, core) * TRN_ENGINES_PER_CORE + e,
                        .queue = q,
                        .m2s_base = c->image + ring->m2s,
                        .m2s_length = ring->length,
                        .s2m_base = c->image + ring->s2m,
                        .s2m_length = ring->length};
            }
            if (count) status = trn_ring_init_batch(program->device, requests, count);
        }
    }
    program->has_queues = true;
    return status;
}

/* Sets a semaphore to 0, or clears an event. */
static trn_status zero(trn_program* program, const set_semaphore* s) {
    trn_device* device = program->device;
    const uint32_t core = device_core(program, s->core), value = 0;
    const bool is_event = s->index >= SET_FIRST_EVENT;
    const uint32_t index = s->index % SET_FIRST_EVENT;
    if (program->options.control == TRN_CONTROL_BY_DMA) {
        const uint64_t offset = is_event ? SYNC(EVENT)(index) : SYNC(SEMAPHORE_SET)(index);
        return trn_program_engine(device, core, trn_sbuf_address(device, core, CORE_SYNC + offset),
                                  &value, sizeof value);
    }
    return is_event ? trn_event_set(device, TRN_SYNC_CORE, core, index, value)
                    : trn_semaphore_set(device, TRN_SYNC_CORE, core, index, 0);
}

static trn_status zero_semaphores(trn_program* program) {
    trn_status status = TRN_OK;
    for (uint32_t n = 0; n < program->set.semaphore_count && status == TRN_OK; ++n)
        status = zero(program, &program->set.semaphores[n]);
    return status;
}

/* Sets the core's slot of throttle entries: a register of Tensor, even if the program does not use
 * Tensor. */
static trn_status set_throttle_slot(trn_program* program, uint32_t core) {
    const uint32_t config = TRN_SEQUENCER_THROTTLE_CONFIG_SLOT_SET(program->options.notify_slot);
    return write_control(program, core, TRN_TENSOR_ENGINE, SEQUENCER(THROTTLE_CONFIG), &config, 1);
}

/* Opens one notification ring per core, shared by its engines. */
static trn_status open_notifications(trn_program* program) {
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores && status == TRN_OK; ++core) {
        program_core* c = &program->cores[core];
        if (c->has_notifications)
            status = trn_notifications_close(program->device, &c->notifications);
        c->has_notifications = false;
        if (status == TRN_OK)
            status = trn_notifications_open(
                program->device, TRN_NOTIFY_CORE, device_core(program, core),
                program->options.notify_slot, NOTIFICATION_RING_BYTES, &c->notifications);
        c->has_notifications = status == TRN_OK;
        if (status == TRN_OK) status = set_throttle_slot(program, core);
    }
    return status;
}

/* Sets the address of source lines, for messages and timeline of the platform; 0: none. */
static trn_status set_lines(trn_program* program, uint32_t core, uint32_t engine) {
    const program_core* c = &program->cores[core];
    const uint64_t address = program->set.lines ? c->image + c->lines_at[engine] : 0;
    const uint32_t registers[] = {(uint32_t)address, (uint32_t)(address >> 32)};
    return write_control(program, core, engine, SEQUENCER(LINES_LO), registers, 2);
}

/* Clears FP_CONFIG and SEED, which a program before may have set. */
static trn_status clear_number_settings(trn_program* program, uint32_t core, uint32_t engine) {
    const uint32_t registers[] = {0, 0};
    return write_control(program, core, engine, SEQUENCER(FP_CONFIG), registers, 2);
}

static trn_status set_up_engine(trn_program* program, uint32_t core, uint32_t engine) {
    const program_core* c = &program->cores[core];
    const uint64_t address = c->image + c->stream_at[engine];
    const uint32_t registers[PROGRAM_REGISTERS] = {(uint32_t)address, (uint32_t)(address >> 32),
                                                   program->set.streams[c->stream[engine]].words,
                                                   0};
    trn_status status =
        write_control(program, core, engine, SEQUENCER(PROGRAM_LO), registers, PROGRAM_REGISTERS);
    if (status == TRN_OK) status = clear_number_settings(program, core, engine);
    if (status == TRN_OK)
        status = write_control(program, core, engine, SEQUENCER(WAIT_LIMIT),
                               &program->options.wait_limit_us, 1);
    if (status == TRN_OK) status = set_lines(program, core, engine);
    if (status != TRN_OK || program->options.completion == TRN_WAIT_BY_POLLING) return status;
    uint32_t config = 0;
    status = read_control(program, core, engine, SEQUENCER(NOTIFY_CONFIG), &config);
    if (status != TRN_OK) return status;
    config &= ~(uint32_t)(TRN_SEQUENCER_NOTIFY_CONFIG_ERROR_SLOT_MASK |
                          TRN_SEQUENCER_NOTIFY_CONFIG_NOTIFY_SLOT_MASK);
    config |= TRN_SEQUENCER_NOTIFY_CONFIG_ERROR_SLOT_SET(program->options.notify_slot) |
              TRN_SEQUENCER_NOTIFY_CONFIG_NOTIFY_SLOT_SET(program->options.notify_slot) |
              TRN_SEQUENCER_NOTIFY_CONFIG_ERRORS_MASK |
              TRN_SEQUENCER_NOTIFY_CONFIG_NOTIFICATIONS_MASK;
    return write_control(program, core, engine, SEQUENCER(NOTIFY_CONFIG), &config, 1);
}

static trn_status start_engine(trn_program* program, uint32_t core, uint32_t engine) {
    const uint32_t start = TRN_SEQUENCER_CONTROL_START_MASK;
    return write_control(program, core, engine, SEQUENCER(CONTROL), &start, 1);
}

/* Releases the queues and notification rings of other programs on the cores: a core runs one
 * program at a time. */
static trn_status take_cores(trn_program* program) {
    trn_status status = TRN_OK;
    trn_program* other = trn_program_other(program, NULL);
    for (; other && status == TRN_OK; other = trn_program_other(program, other)) {
        if (!trn_programs_share_core(program, other)) continue;
        if (other->is_running) status = poll_engines(other, true);
        if (status == TRN_OK && other->is_running) return fail_busy(other);
        if (status == TRN_OK) status = trn_program_release(other);
    }
    return status;
}

trn_status trn_program_prepare(trn_program* program) {
    if (!program) return TRN_INVALID_ARGUMENT;
    trn_device* device = program->device;
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = take_cores(program);
    if (status == TRN_OK) status = each_engine(program, clear_engine);
    if (status != TRN_OK) return status;
    program->is_running = false;
    for (uint32_t core = 0; core < program->set.cores; ++core)
        program->resets[core] = trn_core_resets(device, device_core(program, core));
    if (!program->is_written || program->probes != device->probes)
        status = trn_program_write_images(program);
    program->is_written = status == TRN_OK;
    program->probes = device->probes;
    if (status == TRN_OK) status = assign_rings(program);
    if (status == TRN_OK) status = zero_semaphores(program);
    if (status == TRN_OK && program->options.completion == TRN_WAIT_BY_NOTIFICATION)
        status = open_notifications(program);
    if (status == TRN_OK) status = each_engine(program, set_up_engine);
    program->is_prepared = status == TRN_OK;
    return status;
}

static bool lost_preparation(const trn_program* program) {
    for (uint32_t core = 0; core < program->set.cores; ++core)
        if (trn_program_lost_core(program, core)) return true;
    return false;
}

trn_status trn_program_start(trn_program* program) {
    if (!program) return TRN_INVALID_ARGUMENT;
    trn_device* device = program->device;
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK && (!program->is_prepared || lost_preparation(program)))
        status = trn_program_prepare(program);
    if (status != TRN_OK) return status;
    program->is_prepared = false;
    memset(&program->result, 0, sizeof program->result);
    program->result.clock_permille = 1000;
    memset(program->over, 0, sizeof program->over);
    program->is_running = true;
    program->is_accounted = false;
    memset(program->notified, 0, sizeof program->notified);
    program->start = trn_now(device);
    program->result.started_ns = trn_simulated_now(device);
    return each_engine(program, start_engine);
}

/* ---- completion ---- */

static trn_status record_failure(trn_program* program, uint32_t core, uint32_t engine,
                                 uint32_t now) {
    trn_program_result* r = &program->result;
    if (r->failed) return TRN_OK;
    const bool has_error = TRN_SEQUENCER_STATUS_STATE_GET(now) == TRN_CORE_ENGINE_FAILED;
    trn_mmio io = trn_mmio_of(program->device);
    const uint32_t number = device_core(program, core);
    r->error_pc =
        trn_control_read(&io, number, engine, has_error ? SEQUENCER(ERROR_PC) : SEQUENCER(PC));
    r->error_detail = trn_control_read(&io, number, engine, SEQUENCER(ERROR_DETAIL));
    if (io.status != TRN_OK) return io.status;
    r->failed = true;
    r->core = core;
    r->engine = engine;
    r->error = TRN_SEQUENCER_STATUS_ERROR_GET(now);
    if (!trn_program_source(program, core, engine, r->error_pc, &r->file, &r->line)) r->file = NULL;
    return TRN_OK;
}

static trn_status poll_engine(trn_program* program, uint32_t core, uint32_t engine) {
    if (program->over[core] >> engine & 1) return TRN_OK;
    uint32_t now = 0;
    trn_status status = read_control(program, core, engine, SEQUENCER(STATUS), &now);
    if (status != TRN_OK) return status;
    const uint32_t mode = TRN_SEQUENCER_STATUS_STATE_GET(now);
    if (mode == TRN_CORE_ENGINE_RUNNING || mode == TRN_CORE_ENGINE_WAITING) return TRN_OK;
    if (mode != TRN_CORE_ENGINE_HALTED) status = record_failure(program, core, engine, now);
    if (status == TRN_OK) program->over[core] |= (uint8_t)(1u << engine);
    return status;
}

/* Payload: K active of N clocks. */
static void record_throttling(trn_program* program, uint32_t payload) {
    const uint32_t k = payload & 0xffff, n = payload >> 16;
    const uint32_t permille = n ? k * 1000 / n : 1000;
    if (permille < program->result.clock_permille) program->result.clock_permille = permille;
}

/* Polls the engines that sent a notification. */
static trn_status take_notifications(trn_program* program) {
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores; ++core) {
        uint32_t senders = 0;
        for (;;) {
            trn_notification entry;
            bool there = false;
            status = trn_notifications_next(program->device, &program->cores[core].notifications,
                                            &entry, &there);
            if (status != TRN_OK || !there) break;
            if (entry.type == THROTTLE) record_throttling(program, entry.payload);
            if (entry.type == THROTTLE || entry.source >= SET_ENGINES) continue;
            if (entry.type == NOTIFY) program->result.codes[core][entry.source] = entry.payload;
            if (entry.type == NOTIFY || entry.type == ERROR) senders |= 1u << entry.source;
            if (entry.type == ERROR && !program->notified[core])
                program->notified[core] = (uint8_t)(entry.payload & 0xff);
            if (entry.time > program->result.ended_ns) program->result.ended_ns = entry.time;
        }
        for (uint32_t e = 0; e < SET_ENGINES && status == TRN_OK; ++e)
            if (senders >> e & 1 && program->cores[core].stream[e] != NO_STREAM)
                status = poll_engine(program, core, e);
    }
    return status;
}

static bool is_done(const trn_program* program) {
    for (uint32_t core = 0; core < program->set.cores; ++core)
        for (uint32_t e = 0; e < SET_ENGINES; ++e)
            if (program->cores[core].stream[e] != NO_STREAM && !(program->over[core] >> e & 1))
                return false;
    return true;
}

static trn_status poll_engines(trn_program* program, bool every) {
    trn_status status = TRN_OK;
    const bool notified = program->options.completion == TRN_WAIT_BY_NOTIFICATION;
    if (notified) status = take_notifications(program);
    if (status == TRN_OK && (every || !notified)) status = each_engine(program, poll_engine);
    if (status != TRN_OK) return status;
    program->result.done = is_done(program);
    if (program->result.done) program->is_running = false;
    if ((program->result.done || program->result.failed) && !program->result.ended_ns)
        program->result.ended_ns = trn_simulated_now(program->device);
    if (program->result.failed)
        account(program, outcome_of(program->result.error));
    else if (program->result.done)
        account(program, TRN_RUN_COMPLETED);
    return TRN_OK;
}

trn_status trn_program_poll(trn_program* program, trn_program_result* result) {
    if (!program || !result) return TRN_INVALID_ARGUMENT;
    trn_status status = trn_need_ready(program->device);
    if (status == TRN_OK && program->is_running) status = poll_engines(program, true);
    *result = program->result;
    return status;
}

static void describe_place(const trn_program* program, uint32_t core, uint32_t engine, uint32_t pc,
                           char* text, size_t size) {
    const char* file = NULL;
    uint32_t line = 0;
    if (trn_program_source(program, core, engine, pc, &file, &line))
        snprintf(text, size, "pc %u (%.120s:%u)", pc, file, line);
    else
        snprintf(text, size, "pc %u", pc);
}

static trn_status failed(trn_program* program) {
    const trn_program_result* r = &program->result;
    char place[192];
    describe_place(program, r->core, r->engine, r->error_pc, place, sizeof place);
    if (r->error == 0)
        return trn_fail(program->device, TRN_ABORTED, "the %s engine of core %u stopped at %s",
                        trn_core_engine_name(r->engine), device_core(program, r->core), place);
    const uint32_t operand = TRN_SEQUENCER_ERROR_DETAIL_OPERAND_GET(r->error_detail);
    static const char* const operands[] = {" in dst", " in a", " in b", " in s0", " in s1"};
    return trn_fail(
        program->device, TRN_ABORTED, "the %s engine of core %u failed at %s: %s%s, detail 0x%x",
        trn_core_engine_name(r->engine), device_core(program, r->core), place,
        trn_core_error_name(r->error), operand < 5 ? operands[operand] : "", r->error_detail);
}

/** Reads an engine's state and, while it waits, the semaphore's value. The engine may run between
 * reads, so a value is valid only if the wait is the same before and after it is read. */
static trn_status read_wait(trn_device* device, uint32_t core, uint32_t engine,
                            trn_core_engine_state* state, int32_t* value) {
    trn_status status = trn_core_engine_read(device, core, engine, state);
    for (uint32_t tries = 0; status == TRN_OK && tries < MAX_WAIT_READS; ++tries) {
        if (state->mode != TRN_CORE_ENGINE_WAITING) return TRN_OK;
        const trn_core_engine_state before = *state;
        status = trn_semaphore_read(device, TRN_SYNC_CORE, core, before.semaphore, value);
        if (status == TRN_OK) status = trn_core_engine_read(device, core, engine, state);
        if (status == TRN_OK && state->mode == before.mode && state->pc == before.pc &&
            state->retired == before.retired)
            return TRN_OK;
    }
    if (state->mode == TRN_CORE_ENGINE_WAITING) state->mode = TRN_CORE_ENGINE_RUNNING;
    return status;
}

/* Describes the state of the first engine that is not done. */
static trn_status describe_waiter(trn_program* program, char* text, size_t size) {
    uint32_t core = 0, engine = 0;
    for (uint32_t n = 0; n < program->set.cores * SET_ENGINES; ++n) {
        core = n / SET_ENGINES;
        engine = n % SET_ENGINES;
        if (program->cores[core].stream[engine] != NO_STREAM &&
            !(program->over[core] >> engine & 1))
            break;
    }
    trn_core_engine_state state;
    const uint32_t number = device_core(program, core);
    int32_t value = 0;
    const trn_status status = read_wait(program->device, number, engine, &state, &value);
    if (status != TRN_OK) return status;
    char place[192], waits[96] = "";
    describe_place(program, core, engine, state.pc, place, sizeof place);
    if (state.mode == TRN_CORE_ENGINE_WAITING)
        snprintf(waits, sizeof waits, " for value %d of semaphore %u, which is %d",
                 (int)state.wait_value, state.semaphore, (int)value);
    snprintf(text, size, "the %s engine of core %u is %s at %s%s", trn_core_engine_name(engine),
             number, trn_core_engine_mode_name(state.mode), place, waits);
    return TRN_OK;
}

static trn_status fail_busy(trn_program* other) {
    char waiter[WAITER_TEXT];
    const trn_status status = describe_waiter(other, waiter, sizeof waiter);
    if (status != TRN_OK) return status;
    return trn_fail(other->device, TRN_BUSY,
                    "another program runs there, and a core runs one at a time: %s", waiter);
}

static trn_status timed_out(trn_program* program, uint64_t limit) {
    char waiter[WAITER_TEXT];
    const trn_status status = describe_waiter(program, waiter, sizeof waiter);
    if (status != TRN_OK) return status;
    return trn_fail(program->device, TRN_TIMED_OUT, "after %s %s", trn_text_of_time(limit).text,
                    waiter);
}

static trn_status check_queue(trn_program* program, uint32_t core, uint32_t engine,
                              uint32_t queue) {
    char waiter[WAITER_TEXT], why[sizeof program->device->error];
    trn_status status = trn_queue_check(
        program->device, device_core(program, core) * TRN_ENGINES_PER_CORE + engine, queue);
    if (status != TRN_ABORTED) return status;
    snprintf(why, sizeof why, "%s", trn_last_error(program->device));
    status = describe_waiter(program, waiter, sizeof waiter);
    if (status != TRN_OK) return status;
    return trn_fail(program->device, TRN_ABORTED, "%s; %s", why, waiter);
}

/* TRN_ABORTED: a queue of the program has stopped on an error, so waits for its transfers never
 * end. */
static trn_status check_queues(trn_program* program) {
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores; ++core)
        for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e)
            for (uint32_t q = 0; q < RING_QUEUES && status == TRN_OK; ++q)
                if (program->cores[core].rings[e][q].length)
                    status = check_queue(program, core, e, q);
    return status;
}

trn_status trn_program_wait(trn_program* program, uint64_t limit, trn_program_result* result) {
    if (!program || !result) return TRN_INVALID_ARGUMENT;
    trn_device* device = program->device;
    trn_status status = trn_need_ready(device);
    uint64_t pause = FIRST_PAUSE;
    const uint64_t start = trn_simulated_now(device);
    uint64_t polled = start,
             queue_check = MAX_POLL_INTERVAL; /* time after the start; doubled each time */
    while (status == TRN_OK && program->is_running && !program->result.failed) {
        const uint64_t now = trn_simulated_now(device);
        const bool is_late = now - start >= limit;
        const bool every = is_late || now - polled >= MAX_POLL_INTERVAL;
        if (every) polled = now;
        status = poll_engines(program, every);
        if (status != TRN_OK || program->result.done || program->result.failed) break;
        if (is_late || now - start >= queue_check) {
            status = check_queues(program);
            if (status == TRN_ABORTED) account(program, TRN_RUN_DMA_ABORT);
            queue_check *= 2;
        }
        if (status != TRN_OK) break;
        if (is_late) {
            account(program, TRN_RUN_TIMED_OUT);
            *result = program->result;
            return timed_out(program, limit);
        }
        status = trn_pause(device, pause < limit - (now - start) ? pause : limit - (now - start));
        if (pause < MAX_PAUSE) pause *= 2;
    }
    *result = program->result;
    if (status != TRN_OK) return status;
    return program->result.failed ? failed(program) : TRN_OK;
}
