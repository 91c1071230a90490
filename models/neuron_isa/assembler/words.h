// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "models/neuron_isa/instructions/instruction.h"
#include "models/neuron_isa/instructions/table.h"

/// Words of the text form, and what a row's fields mean, shared by reader and printer.
namespace trn::isa {

inline bool has_second_operator(const row& kind) {
    const operators o = kind.operators;
    return o == operators::two_operators || o == operators::two_arithmetic ||
           o == operators::cumulative || o == operators::two_comparisons;
}
/// Whether op0 is an activation function.
inline bool has_function(const row& kind) {
    return kind.operators == operators::activation || kind.operators == operators::activation_2;
}
/// Whether IMM is an FP32 number.
inline bool has_real_immediate(const row& kind, const instruction& i) {
    return kind.imm == immediate::fp32 ||
           (kind.imm == immediate::by_dst && !is_integer(i.dst.type));
}

struct mode_word {
    std::string_view word;
    std::uint16_t bit;
};
inline constexpr mode_word mode_words[] = {
    {"reverse0", mode::reverse0},
    {"reverse1", mode::reverse1},
    {"negate", mode::negate},
    {"accumulate", mode::accumulate},
    {"transpose", mode::transpose},
    {"mx", mode::mx},
    {"double_row", mode::double_row},
    {"onezero_stationary", mode::onezero_stationary},
    {"onezero_moving", mode::onezero_moving},
    {"predicate_reversed", mode::predicate_reversed},
    {"oob_skip", mode::oob_skip},
    {"ocp", mode::ocp},
    {"keep_rate", mode::keep_rate},
    {"offset_register", mode::offset_register},
};

inline constexpr std::string_view command_words[] = {"idle", "reset", "reduce", "reset_reduce",
                                                     "load_reduce"};
inline constexpr std::string_view condition_words[] = {"always", "lt", "le", "eq",
                                                       "ne",     "ge", "gt"};
inline constexpr std::string_view rank_words[] = {"core_in_chip", "core_in_pair", "chip",
                                                  "generation",   "ns_low",       "ns_high"};
inline constexpr std::string_view generator_words[] = {"oob_skip", "transpose", "accumulate",
                                                       "bf16"};

/// Signs of wait modes ge, eq, le, ne and of update modes add, subtract, set.
inline constexpr std::string_view wait_signs[] = {">=", "==", "<=", "!="};
inline constexpr std::string_view update_signs[] = {"+=", "-=", "="};

}  // namespace trn::isa
