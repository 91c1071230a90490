// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/panic.h"

#include <stdarg.h>
#include <stdio.h>

#include "firmware/lib/console.h"
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/reset_controller.h"

static const char* cause_text(unsigned long cause) {
    static const char* const exceptions[] = {"instruction address misaligned",
                                             "instruction access fault",
                                             "illegal instruction",
                                             "breakpoint",
                                             "load address misaligned",
                                             "load access fault",
                                             "store address misaligned",
                                             "store access fault",
                                             "environment call from U-mode",
                                             "environment call from S-mode",
                                             "reserved",
                                             "environment call from M-mode",
                                             "instruction page fault",
                                             "load page fault",
                                             "reserved",
                                             "store page fault"};
    if (cause & MCAUSE_INTERRUPT) return "unexpected interrupt";
    return cause < sizeof exceptions / sizeof exceptions[0] ? exceptions[cause] : "unknown cause";
}

static void quiet(void) {
    csr_clear(mstatus, MSTATUS_MIE);
    csr_write(mie, MIE_MTIE);  // console_flush() sleeps between FIFO loads
    console_use_polling();
    console_flush();
}

_Noreturn static void stop(unsigned long pc, unsigned long cause) {
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_PANIC,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_TRAP);
    panic_record(pc, cause);
    printf("panic: stopped, waiting for the watchdog\n");
    csr_write(mie, 0);
    for (;;) wait_for_interrupt();
}

__attribute__((weak)) void panic_record(unsigned long pc, unsigned long cause) {
    (void)pc;
    (void)cause;
}

void panic(const char* format, ...) {
    quiet();
    va_list arguments;
    va_start(arguments, format);
    printf("panic: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    stop((unsigned long)__builtin_return_address(0), 0);
}

void panic_trap(const struct trap_frame* frame) {
    static const char* const names[32] = {"",   "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                          "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                          "a6", "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                          "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    extern char stack_guard[], stack_bottom[];
    quiet();
    printf("panic: %s, pc %016lx, address %016lx\n", cause_text(frame->cause), frame->pc,
           frame->value);
    if (frame->value >= (unsigned long)stack_guard && frame->value < (unsigned long)stack_bottom)
        printf("panic: the stack overflowed into its guard\n");
    printf("panic: mcause %016lx  mstatus %016lx\n", frame->cause, csr_read(mstatus));
    for (unsigned r = 1; r < 32; ++r)
        printf("%s%3s %016lx%s", r % 3 == 1 ? "panic: " : "  ", names[r], frame->x[r],
               r % 3 == 0 || r == 31 ? "\n" : "");
    stop(frame->pc, frame->cause);
}
