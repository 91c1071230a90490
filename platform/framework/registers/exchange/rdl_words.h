// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "platform/framework/registers/generator/schema.h"

/// Words of SystemRDL 2.0.
namespace trn::registers {

template <class Effect>
struct effect_word {
    std::string_view word;
    Effect effect;
};
inline constexpr std::array rdl_write_words{
    effect_word<write_effect>{"woclr", write_effect::one_to_clear},
    effect_word<write_effect>{"woset", write_effect::one_to_set},
    effect_word<write_effect>{"wot", write_effect::one_to_toggle},
    effect_word<write_effect>{"wzc", write_effect::zero_to_clear},
    effect_word<write_effect>{"wzs", write_effect::zero_to_set},
    effect_word<write_effect>{"wzt", write_effect::zero_to_toggle},
    effect_word<write_effect>{"wclr", write_effect::clear},
    effect_word<write_effect>{"wset", write_effect::set},
    effect_word<write_effect>{"wuser", write_effect::modify}};
inline constexpr std::array rdl_read_words{effect_word<read_effect>{"rclr", read_effect::clear},
                                           effect_word<read_effect>{"rset", read_effect::set},
                                           effect_word<read_effect>{"ruser", read_effect::modify}};

/// The word of an effect; "" if it has none.
template <class Words, class Effect>
std::string_view word_of(const Words& words, Effect effect) {
    for (const auto& each : words)
        if (each.effect == effect) return each.word;
    return {};
}

/// Text in quotes.
std::string rdl_text(std::string_view text);

/// Values that are words.
inline constexpr std::array<std::string_view, 23> rdl_value_words{
    "na",   "rw",    "wr",    "r",       "w",        "rw1",       "w1",  "rclr",
    "rset", "ruser", "woclr", "woset",   "wot",      "wzs",       "wzc", "wzt",
    "wclr", "wset",  "wuser", "compact", "regalign", "fullalign", "hw"};

/// Words that no component may have as its name without a backslash.
inline constexpr std::array<std::string_view, 60> rdl_keywords{
    "abstract",   "accesstype",  "addressingtype",
    "addrmap",    "alias",       "all",
    "bit",        "boolean",     "bothedge",
    "compact",    "component",   "componentwidth",
    "constraint", "default",     "encode",
    "enum",       "external",    "false",
    "field",      "fullalign",   "hw",
    "inside",     "internal",    "level",
    "longint",    "mem",         "na",
    "negedge",    "nonsticky",   "number",
    "onreadtype", "onwritetype", "posedge",
    "property",   "r",           "rclr",
    "ref",        "reg",         "regalign",
    "regfile",    "rset",        "ruser",
    "rw",         "rw1",         "signal",
    "string",     "struct",      "sw",
    "this",       "true",        "type",
    "unsigned",   "w",           "w1",
    "wclr",       "woclr",       "woset",
    "wr",         "wset",        "wuser"};

}  // namespace trn::registers
