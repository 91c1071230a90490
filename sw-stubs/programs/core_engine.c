/* SPDX-License-Identifier: Apache-2.0 */
#include "core_engine.h"

#include <string.h>

const char* trn_core_engine_name(uint32_t engine) {
    static const char* const names[] = {"tensor", "scalar", "gpsimd", "vector", "sync"};
    return engine < TRN_CORE_ENGINES ? names[engine] : "unknown";
}

const char* trn_core_engine_mode_name(uint32_t mode) {
    static const char* const names[] = {"idle",   "running", "waiting",
                                        "halted", "stopped", "failed"};
    return mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

const char* trn_core_error_name(uint32_t error) {
    static const char* const names[] = {"none",          "ILLEGAL_INSTRUCTION", "BAD_OPERAND",
                                        "OUT_OF_BOUNDS", "INDIRECT_OOB",        "MEMORY",
                                        "FETCH",         "WRITE_FAILED",        "SEMAPHORE",
                                        "NUMERICAL",     "PSUM_COLLISION",      "TIMEOUT",
                                        "BREAKPOINT"};
    return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

trn_status trn_core_engine_read(trn_device* device, uint32_t core, uint32_t engine,
                                trn_core_engine_state* state) {
    if (!device || !state) return trn_no_argument(device);
    trn_status status = trn_need_probe(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status != TRN_OK) return status;
    if (engine >= TRN_CORE_ENGINES)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no engine %u: a core has %u", engine,
                        TRN_CORE_ENGINES);
    memset(state, 0, sizeof *state);
    trn_mmio io = trn_mmio_of(device);
#define READ(name) trn_control_read(&io, core, engine, SEQUENCER(name))
#define READ_WIDE(name) (READ(name##_LO) | (uint64_t)READ(name##_HI) << 32)
    const uint32_t now = READ(STATUS);
    state->mode = TRN_SEQUENCER_STATUS_STATE_GET(now);
    state->error = TRN_SEQUENCER_STATUS_ERROR_GET(now);
    state->semaphore = TRN_SEQUENCER_STATUS_SEMAPHORE_GET(now);
    state->wait_value = (int32_t)READ(WAIT_VALUE);
    state->program = READ_WIDE(PROGRAM);
    state->program_words = READ(PROGRAM_WORDS);
    state->start_pc = READ(START_PC);
    state->pc = READ(PC);
    state->retired = READ(RETIRED);
    state->error_pc = READ(ERROR_PC);
    state->error_detail = READ(ERROR_DETAIL);
    state->fp_config = READ(FP_CONFIG);
    state->seed = READ(SEED);
    state->notify_config = READ(NOTIFY_CONFIG);
    state->wait_limit = READ(WAIT_LIMIT);
    state->busy_cycles = READ_WIDE(BUSY);
    state->wait_cycles = READ_WIDE(WAIT);
    state->bytes_read = READ_WIDE(BYTES_READ);
    state->bytes_written = READ_WIDE(BYTES_WRITTEN);
    state->version = READ(VERSION);
    for (uint32_t i = 0; i < TRN_CORE_REGISTERS; ++i)
        state->registers[i] = trn_control_read(&io, core, engine, SEQUENCER(R)(i));
    for (uint32_t i = 0; i < sizeof state->instruction; i += 4) {
        const uint32_t word = trn_control_read(&io, core, engine, SEQUENCER(BLOCK)(i / 4));
        for (uint32_t b = 0; b < 4; ++b) state->instruction[i + b] = (uint8_t)(word >> 8 * b);
    }
#undef READ_WIDE
#undef READ
    return io.status;
}
