// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/make_wave_writer.h"

#include <fmt/format.h>

#include <stdexcept>

#include "platform/framework/waves/vcd_writer.h"
#ifdef TRNVP_FST
#include "platform/framework/waves/fst_writer.h"
#endif

namespace trn {

std::string wave_format_refusal(const std::string& path) {
#ifndef TRNVP_FST
    if (path.ends_with(".fst"))
        return fmt::format(
            "{}: this build cannot write FST: install the packages verilator and zlib1g-dev and "
            "build again, or name a .vcd file",
            path);
#endif
    static_cast<void>(path);
    return {};
}

std::unique_ptr<wave_writer> make_wave_writer(const std::string& path) {
    if (auto why = wave_format_refusal(path); !why.empty()) throw std::invalid_argument(why);
#ifdef TRNVP_FST
    if (path.ends_with(".fst")) return std::make_unique<fst_writer>(path);
#endif
    return std::make_unique<vcd_writer>(path);
}

}  // namespace trn
