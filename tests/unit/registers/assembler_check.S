/* SPDX-License-Identifier: Apache-2.0 */
/* The generated C header's plain numbers are usable from assembler. */
#include <trn/example_regs.h>

    .section .rodata
    .long TRN_EXAMPLE_CONTROL_OFFSET, TRN_EXAMPLE_CONTROL_RESET, TRN_EXAMPLE_CONTROL_MODE_MASK
    .if TRN_EXAMPLE_Q_TAIL_OFFSET(2) != 0x3038
    .error "array offset"
    .endif
    .if TRN_EXAMPLE_CONTROL_VERSION_GET(TRN_EXAMPLE_CONTROL_RESET) != 3
    .error "field of a value"
    .endif
    .if TRN_EXAMPLE_CONTROL_MODE_SET(TRN_EXAMPLE_CONTROL_MODE_TURBO) != 0x20
    .error "value of a field"
    .endif
    .section .note.GNU-stack, "", @progbits
