// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/shared/program_lines.h"

#include <fmt/format.h>

#include <array>

#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_isa/program_set/program_set_regs.h"

namespace trn {

std::string program_lines::text_of(isa::engine e, std::uint32_t pc) const {
    namespace line = program_set_regs::line;
    const engine_settings settings(control_, e);
    const std::uint64_t table = settings.lines_base();
    if (table == 0 || pc >= settings.program_words()) return {};
    std::array<std::uint8_t, 4> entry{};
    if (read_(table + std::uint64_t{pc} * entry.size(), entry) != entry.size()) return {};
    std::uint32_t value = 0;
    for (unsigned b = 0; b < entry.size(); ++b) value |= std::uint32_t{entry[b]} << 8 * b;
    if (line::number.get(value) == 0) return {};
    std::array<std::uint8_t, name_bytes> bytes{};
    const std::uint64_t names = table + std::uint64_t{settings.program_words()} * entry.size();
    if (read_(names + line::file.get(value) * name_bytes, bytes) != bytes.size()) return {};
    std::string name;
    for (const std::uint8_t c : bytes) {
        if (c == 0) break;
        name += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?';
    }
    return fmt::format("{}:{}", name, line::number.get(value));
}

std::string describe_pc(const program_lines* lines, isa::engine e, std::uint32_t pc) {
    const std::string line = lines != nullptr ? lines->text_of(e, pc) : std::string();
    return line.empty() ? fmt::format("pc {}", pc) : fmt::format("pc {} ({})", pc, line);
}

}  // namespace trn
