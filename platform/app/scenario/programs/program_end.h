// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/programs/program_choices.h"
#include "platform/app/scenario/programs/running_programs.h"

// Keys that program and kernel steps share.

namespace trn::config {

template <>
struct choices<trn_program_control> {
    static constexpr std::array list{
        choice<trn_program_control>{"mmio", TRN_CONTROL_BY_MMIO},
        choice<trn_program_control>{"dma", TRN_CONTROL_BY_DMA},
    };
};
template <>
struct choices<trn_program_completion> {
    static constexpr std::array list{
        choice<trn_program_completion>{"notification", TRN_WAIT_BY_NOTIFICATION},
        choice<trn_program_completion>{"polling", TRN_WAIT_BY_POLLING},
    };
};

}  // namespace trn::config

namespace trn::scenario {

/// The mapping {name: text} of a key, in the order of the file; empty without the key.
tensor_texts texts_in(const reader& r, std::string_view key);

/// Notes the files that texts name as inputs of the command: "x.npy", "x.npy:bfloat16",
/// "make.py:function". Other texts have no effect.
void note_inputs(const std::filesystem::path& folder, const tensor_texts& texts);

/// The expected end of a program, and its time limit.
struct program_end {
    nanoseconds limit{100'000'000};
    std::optional<core_error> error = {};
    std::optional<nanoseconds> within = {}, at_least = {};
    std::optional<std::uint32_t> clock_permille = {};
    std::string capture = {};

    program_outcome outcome = {};
    void read_end(const reader& r);
    /// Waits for the end, compares, unloads, and reports the time as the figure `text`.
    void finish_run(scenario_context& ctx, running_programs& all, const std::string& text) const;
};

template <class S>
keys<S> end_keys() {
    return {key("limit", &S::limit, "simulated time").positive(),
            key("within", &S::within, "a bound of the time from start to end, which is reported"),
            key("at_least", &S::at_least, "its lower bound"),
            key("error", &S::error, "code that an engine has to fail with")
                .not_with({"check", "rtol", "atol", "within", "at_least", "clock_permille"}),
            key("clock_permille", &S::clock_permille,
                "slowest clock of a core, in thousandths, that a throttle notification reported; "
                "1000: none did")
                .up_to(1000),
            key("as", &S::capture, "name for the simulated time in us")};
}

}  // namespace trn::scenario
