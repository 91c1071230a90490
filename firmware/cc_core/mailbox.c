// SPDX-License-Identifier: Apache-2.0
#include "firmware/cc_core/mailbox.h"

#include "firmware/cc_core/log.h"
#include "firmware/cc_core/mailbox_words.h"
#include "firmware/cc_core/stream.h"

#define OP(name) TRN_CC_MAILBOX_COMMAND_OP_##name
#define REFUSED(error) TRN_CC_MAILBOX_RESULT_ERROR_SET(TRN_CC_MAILBOX_RESULT_ERROR_##error)

static uint32_t load(unsigned slot, uint32_t length) {
    const struct program* program =
        (const struct program*)(uintptr_t)(MAP_CC_PROGRAMS + slot * MAP_CC_PROGRAM_SIZE);
    if (stream_runs(slot)) return REFUSED(BUSY);
    stream_load(slot, NULL);
    const uint32_t wrong = program_check(program, length);
    if (wrong) return wrong;
    for (unsigned other = 0; other < CC_SLOTS; ++other)
        if (stream_program(other) && programs_share_semaphores(program, stream_program(other)))
            return REFUSED(SEMAPHORE_IN_USE) | TRN_CC_MAILBOX_RESULT_DETAIL_SET(other);
    stream_load(slot, program);
    log_line("slot %u: rank %u of %u, %u steps on %u queues", slot, (unsigned)program->rank,
             (unsigned)program->ranks, (unsigned)program->steps, (unsigned)program->queues);
    return 0;
}

static uint32_t execute(uint32_t command) {
    const unsigned slot = TRN_CC_MAILBOX_COMMAND_SLOT_GET(command);
    if (slot >= CC_SLOTS) return REFUSED(SLOT);
    switch (TRN_CC_MAILBOX_COMMAND_OP_GET(command)) {
    case OP(LOAD):
        return load(slot, mmio_read(CC_MAILBOX(ARGUMENT)));
    case OP(UNLOAD):
        stream_load(slot, NULL);
        return 0;
    default:
        return REFUSED(COMMAND);
    }
}

void mailbox_serve(void) {
    const uint32_t command = mmio_read(CC_MAILBOX(COMMAND));
    if (command == 0) return;
    const uint32_t result = execute(command);
    if (result) {
        mailbox_count(CC_MAILBOX(REFUSED));
        log_line("command %x refused: %x", (unsigned)command, (unsigned)result);
        const unsigned slot = TRN_CC_MAILBOX_COMMAND_SLOT_GET(command);
        if (slot < CC_SLOTS)
            mailbox_notify(slot, NOTICE(INVALID, TRN_CC_MAILBOX_RESULT_ERROR_GET(result)));
    }
    mmio_write(CC_MAILBOX(RESULT), result);
    mmio_fence();
    mmio_write(CC_MAILBOX(COMMAND), 0);
}
