// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "platform/framework/registers/exchange/access_words.h"
#include "platform/framework/registers/exchange/rdl_words.h"

/// Words of IP-XACT (IEEE 1685).
namespace trn::registers {

inline constexpr std::array ipxact_write_words{
    effect_word<write_effect>{"oneToClear", write_effect::one_to_clear},
    effect_word<write_effect>{"oneToSet", write_effect::one_to_set},
    effect_word<write_effect>{"oneToToggle", write_effect::one_to_toggle},
    effect_word<write_effect>{"zeroToClear", write_effect::zero_to_clear},
    effect_word<write_effect>{"zeroToSet", write_effect::zero_to_set},
    effect_word<write_effect>{"zeroToToggle", write_effect::zero_to_toggle},
    effect_word<write_effect>{"clear", write_effect::clear},
    effect_word<write_effect>{"set", write_effect::set},
    effect_word<write_effect>{"modify", write_effect::modify}};
inline constexpr std::array ipxact_read_words{
    effect_word<read_effect>{"clear", read_effect::clear},
    effect_word<read_effect>{"set", read_effect::set},
    effect_word<read_effect>{"modify", read_effect::modify}};

struct ipxact_access {
    std::string_view word;
    bool is_readable, is_writable, once;
};
inline constexpr std::array ipxact_accesses{ipxact_access{"read-write", true, true, false},
                                            ipxact_access{"read-only", true, false, false},
                                            ipxact_access{"write-only", false, true, false},
                                            ipxact_access{"read-writeOnce", true, true, true},
                                            ipxact_access{"writeOnce", false, true, true},
                                            ipxact_access{"no-access", false, false, false}};

}  // namespace trn::registers
