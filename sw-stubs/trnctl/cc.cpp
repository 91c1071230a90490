// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sw-stubs/trnctl/commands.h"

namespace trn {

void load_cores(session& platform, std::uint32_t cores, const std::vector<std::uint8_t>& image,
                const output& out) {
    platform.run([&](device& chip) {
        bring_up(chip);
        chip.check(trn_cc_load(chip, cores, image.data(), image.size()));
        out.result({{"cores", cores}, {"bytes", image.size()}},
                   fmt::format("cores {:#x} run an image of {} bytes", cores, image.size()));
    });
}

void print_core_log(session& platform, std::uint32_t core, const output& out) {
    run_probed(platform, [&](device& chip) {
        std::array<char, 4097> text{};
        chip.check(trn_cc_log(chip, core, text.data(), text.size()));
        for (std::string_view rest = text.data(); !rest.empty();) {
            const auto line = rest.substr(0, rest.find('\n'));
            out.result({{"core", core}, {"line", line}}, std::string(line));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        }
    });
}

}  // namespace trn
