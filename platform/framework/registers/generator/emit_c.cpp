// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "platform/framework/registers/generator/emit.h"
#include "platform/framework/registers/generator/plain_text.h"

namespace trn::registers {

namespace {

void define(header& out, const config::place& place, const std::string& name,
            std::string_view rest) {
    out.names.push_back({name, place});
    out.text += fmt::format("#define {}{}\n", name, rest);
}

std::string hex(std::uint64_t value) {
    return fmt::format(" {:#x}", value);
}

void emit_c_register(header& out, const std::string& prefix, const register_spec& r) {
    const std::string name = prefix + r.name;
    if (!r.desc.empty()) out.text += fmt::format("/* {} */\n", comment(r.desc));
    if (r.dims.empty()) {
        define(out, r.place, name + "_OFFSET", hex(r.offset));
    } else {
        static constexpr std::string_view letters[] = {"i", "j", "k"};
        std::string parameters, sum;
        for (std::size_t d = 0; d < r.dims.size(); ++d) {
            parameters += fmt::format("{}{}", d == 0 ? "" : ", ", letters[d]);
            sum += fmt::format(" + ({}) * {:#x}", letters[d], r.dims[d].stride);
            const auto suffix = r.dims.size() == 1 ? std::string() : std::to_string(d);
            define(out, r.place, name + "_COUNT" + suffix, fmt::format(" {}", r.dims[d].count));
            define(out, r.place, name + "_STRIDE" + suffix, hex(r.dims[d].stride));
        }
        define(out, r.place, name + "_OFFSET",
               fmt::format("({}) ({:#x}{})", parameters, r.offset, sum));
    }
    define(out, r.place, name + "_RESET", hex(r.reset));
}

void emit_c_field(header& out, const std::string& name, const field_spec& f,
                  std::string_view type) {
    define(out, f.place, name + "_SHIFT", fmt::format(" {}", f.lsb));
    define(out, f.place, name + "_MASK", hex(f.mask()));
    define(out, f.place, name + "_GET",
           fmt::format("(value) (({1}(value) & {0}_MASK) >> {0}_SHIFT)", name, type));
    define(out, f.place, name + "_SET",
           fmt::format("(field) (({1}(field) << {0}_SHIFT) & {0}_MASK)", name, type));
    for (const auto& v : f.values) define(out, v.place, name + "_" + v.name, hex(v.value));
}

}  // namespace

header emit_c(const block_spec& block) {
    const std::string prefix = "TRN_" + upper(block.block) + "_";
    const std::string_view type = block.width == 8 ? "TRN_U64" : "TRN_U32";
    header out;
    out.text = fmt::format(
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Generated from {}.regs.yaml. Source of the facts: {} */\n"
        "#ifndef {}REGS_H\n",
        block.block, comment(block.source), prefix);
    define(out, block.place, prefix + "REGS_H", "");
    out.text +=
        "\n#ifndef TRN_U32\n#ifdef __ASSEMBLER__\n#define TRN_U32(x) (x)\n#define TRN_U64(x) "
        "(x)\n#else\n"
        "#include <stdint.h>\n#define TRN_U32(x) ((uint32_t)(x))\n#define TRN_U64(x) "
        "((uint64_t)(x))\n"
        "#endif\n#endif\n\n";
    define(out, block.place, prefix + "SIZE", hex(block.size));
    for (const auto& r : block.registers) {
        out.text += "\n";
        emit_c_register(out, prefix, r);
        for (const auto& f : r.fields) emit_c_field(out, prefix + r.name + "_" + f.name, f, type);
    }
    out.text += "\n#endif\n";
    return out;
}

}  // namespace trn::registers
