// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/operand_reader.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "models/neuron_isa/assembler/words.h"

namespace trn::isa {

bool operand_reader::semaphore(std::uint8_t& index) {
    const std::size_t start = in_.position();
    const bool event = in_.accept("E[");
    if (!event && !in_.accept("S["))
        in_.fail(mistake::wrong_shape, start, "expected a semaphore S[n] or an event E[n]");
    index = in_.number<std::uint8_t>();
    in_.expect("]");
    return event;
}

std::int32_t operand_reader::amount(std::uint8_t* flags, std::uint8_t bit) {
    if (flags == nullptr || !in_.at_register()) return in_.number<std::int32_t>();
    *flags |= bit;
    return in_.reg();
}

std::uint8_t operand_reader::sign(std::span<const std::string_view> known, const char* expected) {
    const auto found = std::ranges::find_if(known, [&](auto each) { return in_.accept(each); });
    if (found == known.end()) in_.fail(mistake::wrong_shape, in_.position(), expected);
    return static_cast<std::uint8_t>(found - known.begin() + 1);
}

wait_condition operand_reader::wait(std::uint8_t* flags) {
    wait_condition w;
    if (semaphore(w.index)) {
        in_.expect("==");
        w.mode = static_cast<std::uint8_t>(in_.number(0, 1) == 1 ? wait_mode::event_set
                                                                 : wait_mode::event_clear);
        return w;
    }
    w.mode = sign(wait_signs, "expected >=, ==, <= or !=");
    w.value = amount(flags, flag::wait_reg);
    if (in_.accept(":subtract")) {
        if (w.mode != static_cast<unsigned>(wait_mode::ge))
            in_.fail(mistake::wrong_shape, in_.position(), ":subtract needs >=");
        w.mode = static_cast<std::uint8_t>(wait_mode::ge_subtract);
    }
    return w;
}

semaphore_update operand_reader::update(std::uint8_t* flags) {
    semaphore_update u;
    if (semaphore(u.index)) {
        in_.expect("=");
        u.mode = static_cast<std::uint8_t>(in_.number(0, 1) == 1 ? update_mode::event_set
                                                                 : update_mode::event_clear);
    } else {
        u.mode = sign(update_signs, "expected +=, -= or =");
        u.value = amount(flags, flag::update_reg);
    }
    if (flags != nullptr && in_.accept(":at_issue"))
        u.mode = static_cast<std::uint8_t>(u.mode | at_issue);
    return u;
}

std::uint8_t operand_reader::alu_operator() {
    const std::size_t start = in_.position();
    if (in_.at_number()) return in_.number<std::uint8_t>();
    const std::string_view given = in_.word("an operator");
    std::vector<std::string_view> known;
    for (unsigned code = 0; code <= unsigned(alu::shift_right_arithmetic); ++code) {
        const std::string_view name = name_of(static_cast<alu>(code));
        if (name.empty()) continue;
        if (name == given) return static_cast<std::uint8_t>(code);
        known.push_back(name);
    }
    in_.unknown(start, given, "an operator", known);
}

std::uint8_t operand_reader::function() {
    const std::size_t start = in_.position();
    const std::string_view given = in_.word("an activation function");
    std::vector<std::string_view> known;
    for (unsigned code = 0; code < activation_count; ++code) {
        known.push_back(name_of(static_cast<activation>(code)));
        if (known.back() == given) return static_cast<std::uint8_t>(code);
    }
    in_.unknown(start, given, "an activation function", known);
}

space operand_reader::memory() {
    const std::size_t start = in_.position();
    const std::string_view given = in_.word("sbuf or psum");
    if (given == "sbuf") return space::sbuf;
    if (given == "psum") return space::psum;
    static constexpr std::string_view known[] = {"sbuf", "psum"};
    in_.unknown(start, given, "a memory of the core", known);
}

location operand_reader::address() {
    location l;
    l.space = memory();
    in_.expect("[");
    l.partition = partition();
    in_.expect(",");
    l.offset = offset();
    in_.expect("]");
    return l;
}

tile_operand operand_reader::tile() {
    tile_operand t;
    t.place.space = memory();
    in_.expect("[");
    t.place.partition = partition();
    in_.expect(":");
    const std::size_t start = in_.position();
    const auto end = in_.number(0, 127 + 256);
    if (end <= t.place.partition || end > t.place.partition + 256)
        in_.fail(mistake::out_of_range, start, "the last partition is before the first");
    t.partitions = static_cast<std::uint16_t>(end - t.place.partition);
    in_.expect(",");
    t.place.offset = offset();
    if (in_.accept("+")) {
        t.offset_from_register = true;
        t.reg = in_.reg();
    }
    in_.expect("]");
    t.type = in_.element_type();
    in_.expect("[");
    do {
        if (t.dimensions == 4)
            in_.fail(mistake::wrong_shape, in_.position(), "a tile has at most 4 dimensions");
        dimension& d = t.pattern[t.dimensions++];
        d.count = in_.number<std::uint16_t>();
        in_.expect(":");
        d.stride = in_.number<std::int16_t>();
    } while (in_.accept(","));
    in_.expect("]");
    if (in_.accept("index ")) {
        t.indirect = true;
        t.index = address();
    }
    return t;
}

scalar_operand operand_reader::scalar() {
    scalar_operand s;
    const bool real = in_.accept("fp32(");
    if (real || in_.accept("i32(")) {
        const bool reg = in_.at_register();
        s.kind = real ? (reg ? scalar_kind::register_fp32 : scalar_kind::fp32)
                      : (reg ? scalar_kind::register_i32 : scalar_kind::i32);
        if (reg)
            s.reg = in_.reg();
        else
            s.value = real ? in_.fp32_bits() : in_.bits32();
        in_.expect(")");
        return s;
    }
    if (!in_.at_word())
        in_.fail(mistake::wrong_shape, in_.position(),
                 "expected fp32(x), i32(n), or a tile such as sbuf[0, 64] fp32");
    s.kind = scalar_kind::tile;
    s.place = address();
    s.type = in_.element_type();
    return s;
}

std::uint8_t operand_reader::pe_tile_bits() {
    in_.expect("(");
    const auto start = [this] {
        const std::size_t position = in_.position();
        const auto value = in_.number(0, 96);
        if (value % 32 != 0) in_.fail(mistake::out_of_range, position, "expected 0, 32, 64 or 96");
        return static_cast<unsigned>(value / 32);
    };
    const auto size = [this] {
        const std::size_t position = in_.position();
        const auto value = in_.number(0, 128);
        if (value != 128 && value != 64 && value != 32)
            in_.fail(mistake::out_of_range, position, "expected 128, 64 or 32");
        return value == 128 ? 0u : value == 64 ? 1u : 2u;
    };
    unsigned bits = start();
    in_.expect(",");
    bits |= start() << 2;
    in_.expect(",");
    bits |= size() << 4;
    in_.expect(",");
    bits |= size() << 6;
    in_.expect(")");
    return static_cast<std::uint8_t>(bits);
}

}  // namespace trn::isa
