// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "platform/app/host_options/host_choices.h"
#include "sw-stubs/programs/include/trn_program.h"

// Names of engines, states and errors of NeuronCores in scenario files.

namespace trn::scenario {

/// An error code of an engine (NeuronCore spec 10.1).
enum class core_error : std::uint32_t {};

}  // namespace trn::scenario

namespace trn::config {

template <>
struct choices<scenario::core_error> {
    using code = scenario::core_error;
    static constexpr std::array list{
        choice<code>{"illegal_instruction", code{1}},
        choice<code>{"bad_operand", code{2}},
        choice<code>{"out_of_bounds", code{3}},
        choice<code>{"indirect_oob", code{4}},
        choice<code>{"memory", code{5}},
        choice<code>{"fetch", code{6}},
        choice<code>{"write_failed", code{7}},
        choice<code>{"timeout", code{11}},
        choice<code>{"breakpoint", code{12}},
    };
};

template <>
struct choices<trn_core_engine> {
    static constexpr std::array list{
        choice<trn_core_engine>{"tensor", TRN_TENSOR_ENGINE},
        choice<trn_core_engine>{"scalar", TRN_SCALAR_ENGINE},
        choice<trn_core_engine>{"gpsimd", TRN_GPSIMD_ENGINE},
        choice<trn_core_engine>{"vector", TRN_VECTOR_ENGINE},
        choice<trn_core_engine>{"sync", TRN_SYNC_ENGINE},
    };
};

template <>
struct choices<trn_core_engine_mode> {
    static constexpr std::array list{
        choice<trn_core_engine_mode>{"idle", TRN_CORE_ENGINE_IDLE},
        choice<trn_core_engine_mode>{"running", TRN_CORE_ENGINE_RUNNING},
        choice<trn_core_engine_mode>{"waiting", TRN_CORE_ENGINE_WAITING},
        choice<trn_core_engine_mode>{"halted", TRN_CORE_ENGINE_HALTED},
        choice<trn_core_engine_mode>{"stopped", TRN_CORE_ENGINE_STOPPED},
        choice<trn_core_engine_mode>{"failed", TRN_CORE_ENGINE_FAILED},
    };
};

}  // namespace trn::config
