/* SPDX-License-Identifier: Apache-2.0 */
/* The generated C header compiles as C and its numbers are usable in constant expressions. */
#include <trn/example_regs.h>

_Static_assert(TRN_EXAMPLE_Q_TAIL_OFFSET(2) == 0x3038, "array offset");
_Static_assert(TRN_EXAMPLE_Q_SELECTOR_OFFSET(1, 3) == 0x2070, "nested array offset");
_Static_assert(TRN_EXAMPLE_CONTROL_VERSION_GET(TRN_EXAMPLE_CONTROL_RESET) == 3, "field of a value");
_Static_assert(TRN_EXAMPLE_CONTROL_MODE_SET(TRN_EXAMPLE_CONTROL_MODE_TURBO) == 0x20,
               "value of a field");
