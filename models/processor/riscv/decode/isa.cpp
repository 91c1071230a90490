// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/decode/isa.h"

#include <array>
#include <cctype>
#include <stdexcept>
#include <vector>

namespace trn::riscv {

namespace {

struct named_extension {
    std::string_view name;
    std::vector<extension> gives;
};

const std::vector<named_extension>& known() {
    using enum extension;
    static const std::vector<named_extension> list{
        {"i", {i}},
        {"m", {m}},
        {"a", {a}},
        {"c", {c}},
        {"b", {zba, zbb, zbs}},
        {"f", {f}},
        {"d", {f, d}},
        {"s", {s}},
        {"u", {u}},
        {"zicsr", {zicsr}},
        {"zifencei", {zifencei}},
        {"zicond", {zicond}},
        {"zicbom", {zicbom}},
        {"zicboz", {zicboz}},
        {"zba", {zba}},
        {"zbb", {zbb}},
        {"zbs", {zbs}},
        {"zca", {c}},
        {"zicntr", {}},
        {"zihpm", {}},
        {"sv39", {}},
        {"sv48", {sv48}},
        {"svade", {}},
        {"svadu", {svadu}},
        {"svnapot", {svnapot}},
        {"svpbmt", {svpbmt}},
        {"sstc", {sstc}},
        {"smpmp", {}},
        {"smaia", {smaia, ssaia}},
        {"ssaia", {ssaia}},
    };
    return list;
}

const named_extension* find(std::string_view name) {
    for (const auto& e : known())
        if (e.name == name) return &e;
    return nullptr;
}

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw std::invalid_argument("isa '" + std::string(text) + "': " + why);
}

}  // namespace

isa isa::usual() {
    return parse("rv64imacb_zicsr_zifencei");
}

isa isa::full() {
    return parse(
        "rv64imafdcb_zicbom_zicboz_zicond_zicsr_zifencei_smaia_ssaia_sstc_sv48_svadu_"
        "svnapot_svpbmt");
}

isa isa::parse(std::string_view text) {
    std::string lower;
    for (const char ch : text)
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
    if (lower.rfind("rv64", 0) != 0) refuse(text, "must begin with rv64");

    std::vector<std::string> words;
    bool multi = false;  // names after the first '_' or 'z' have several letters
    for (const char ch : lower.substr(4)) {
        if (ch == '_') {
            multi = true;
            words.emplace_back();
        } else if (!multi && (ch == 'z' || ch == 'x')) {
            multi = true;
            words.emplace_back(1, ch);
        } else if (multi) {
            words.back() += ch;
        } else if (ch == 'g') {
            for (const char* word : {"i", "m", "a", "f", "d", "zicsr", "zifencei"})
                words.emplace_back(word);
        } else {
            words.emplace_back(1, ch);
        }
    }

    isa result;
    for (const auto& word : words) {
        const named_extension* e = find(word);
        if (e == nullptr) {
            refuse(text, "unknown extension '" + word + "' (known: " + full().name() + ")");
        }
        for (const extension given : e->gives) result.add(given);
    }
    if (!result.has(extension::i)) refuse(text, "the base 'i' is missing");
    // Privileged software needs CSRs and M, S and U modes, even if the string omits them.
    for (const extension always : {extension::zicsr, extension::s, extension::u})
        result.add(always);
    return result;
}

u64 isa::misa() const {
    const auto letter = [](char c) { return u64{1} << (c - 'A'); };
    u64 value = u64{2} << 62;  // MXL = 64 bits
    using enum extension;
    constexpr std::array<std::pair<extension, char>, 8> single{
        {{i, 'I'}, {m, 'M'}, {a, 'A'}, {f, 'F'}, {d, 'D'}, {c, 'C'}, {s, 'S'}, {u, 'U'}}};
    for (const auto& [e, name] : single)
        if (has(e)) value |= letter(name);
    if (has(zba) && has(zbb) && has(zbs)) value |= letter('B');
    return value;
}

std::string isa::name() const {
    using enum extension;
    std::string text = "rv64i";
    if (has(m)) text += 'm';
    if (has(a)) text += 'a';
    if (has(f)) text += 'f';
    if (has(d)) text += 'd';
    if (has(c)) text += 'c';
    constexpr std::array<std::pair<extension, const char*>, 15> words{{{zicbom, "_zicbom"},
                                                                       {zicboz, "_zicboz"},
                                                                       {zicond, "_zicond"},
                                                                       {zicsr, "_zicsr"},
                                                                       {zifencei, "_zifencei"},
                                                                       {zba, "_zba"},
                                                                       {zbb, "_zbb"},
                                                                       {zbs, "_zbs"},
                                                                       {smaia, "_smaia"},
                                                                       {ssaia, "_ssaia"},
                                                                       {sstc, "_sstc"},
                                                                       {sv48, "_sv48"},
                                                                       {svadu, "_svadu"},
                                                                       {svnapot, "_svnapot"},
                                                                       {svpbmt, "_svpbmt"}}};
    for (const auto& [e, word] : words)
        if (has(e)) text += word;
    return text;
}

}  // namespace trn::riscv
