// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/misuse/rule.h"

/// Misuse rules checked by register banks.
namespace trn::misuse {

inline constexpr rule write_to_read_only{"TRN-REG-001", "write-to-read-only",
                                         "a register without writable bits was written"};
inline constexpr rule read_of_write_only{"TRN-REG-002", "read-of-write-only",
                                         "a register without readable bits was read"};
inline constexpr rule wrong_width{"TRN-REG-003", "wrong-width",
                                  "a register access narrower than a register, or misaligned"};
inline constexpr rule no_such_register{"TRN-REG-004", "no-such-register",
                                       "an access to an offset without a register"};

}  // namespace trn::misuse
