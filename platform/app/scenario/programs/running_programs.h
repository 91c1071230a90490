// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "sw-stubs/host/programs/group.h"

namespace trn::scenario {

using shared_bytes = std::shared_ptr<const std::vector<std::uint8_t>>;

struct tensor_bytes {
    std::string tensor;
    shared_bytes bytes;
};

/// Expected content of a tensor after the run.
struct expected_tensor {
    std::string result;  ///< its name in messages
    std::string tensor;
    shared_bytes bytes = {};                   ///< null: only the digest is compared
    bool has_numbers = false;                  ///< `bytes` are binary64 numbers, not elements
    std::optional<std::uint64_t> digest = {};  ///< CRC-64 (ECMA-182) of the elements' bytes
};

/// The program of one instance, its inputs and expected outputs.
struct instance_values {
    shared_bytes set;
    std::vector<tensor_bytes> inputs = {};
    std::vector<expected_tensor> check = {};
};

/// What a step runs, and on which chips.
struct program_request : trn::program_request {
    std::uint32_t chips = 1;  ///< number of chips, from the first; ignored with `all_chips`
    std::string image = collective_firmware;  ///< firmware of the CC-Cores
    /// Replaces `set` and `inputs`: programs, inputs and results per instance, in the order of
    /// chips; null: not used.
    std::shared_ptr<const std::vector<instance_values>> values = {};
    tensors::tolerance allowed = {};  ///< tolerance for `values`
};

/// Instances of a program on cores of one, some or all chips. Call members in a process of the
/// host CPU; they throw step_failure too.
class running_programs : public program_group {
public:
    /// \throws step_failure when the board has too few chips
    running_programs(scenario_context& ctx, const program_request& request);

    /// Loads all instances, writes their inputs, and starts them.
    void start();
    void check(const program_outcome& outcome);

private:
    void write_inputs(const instance& place) const override;
    const std::vector<std::uint8_t>& set_of(const instance& place) const override;
    const instance_values* values_of(const instance& place) const;
    void check_values(const instance& place, const instance_values& values) const;

    scenario_context& ctx_;
    const std::string image_;
    const std::shared_ptr<const std::vector<instance_values>> values_;
    const tensors::tolerance allowed_;  // for values_
};

/// The noun of a program in the background: "program 'x'".
std::string program_text(const std::string& name);
/// Calls `work`. If it fails, the next step with collectives resets all chips first.
void run_guarded(scenario_context& ctx, const running_programs& all,
                 const std::function<void()>& work);
/// Starts programs in the background as `name`. \throws step_failure when the name is in use
void start_in_background(scenario_context& ctx, const std::string& name,
                         const program_request& request);
/// Programs in the background. \throws step_failure when none has this name
std::shared_ptr<running_programs> find_program(scenario_context& ctx, const std::string& name);
/// The same; they are no longer in the background.
std::shared_ptr<running_programs> take_program(scenario_context& ctx, const std::string& name);

}  // namespace trn::scenario
