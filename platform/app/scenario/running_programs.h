// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/scenario/scenario_context.h"
#include "sw-stubs/host/program_group.h"

namespace trn::scenario {

using shared_bytes = std::shared_ptr<const std::vector<std::uint8_t>>;

struct tensor_bytes {
    std::string tensor;
    shared_bytes bytes;
};

/// What a tensor has to hold at the end.
struct expected_tensor {
    std::string result;  ///< its name in messages
    std::string tensor;
    shared_bytes bytes = {};                   ///< null: only the digest counts
    bool has_numbers = false;                  ///< `bytes` are binary64 numbers, not elements
    std::optional<std::uint64_t> digest = {};  ///< CRC-64 (ECMA-182) of the elements' bytes
};

/// Inputs and expected outputs of one instance.
struct instance_values {
    std::vector<tensor_bytes> in = {};
    std::vector<expected_tensor> check = {};
};

/// What a step runs where.
struct program_request : trn::program_request {
    std::uint32_t chips = 1;  ///< the first ones of the board; all of them with `all_chips`
    std::string image = collective_firmware;  ///< for the cores that run collectives
    /// In place of `in`, by instance, chip after chip; null: none.
    std::shared_ptr<const std::vector<instance_values>> values = {};
    tensors::tolerance allowed = {};  ///< for `values`
};

/// Instances of one program on cores of one, some or all chips of the board. Members run in a
/// process of the host CPU, and throw step_failure too.
class running_programs : public program_group {
public:
    /// \throws step_failure without enough chips
    running_programs(scenario_context& ctx, const program_request& request);

    /// Loads all, writes their inputs, and starts them.
    void start();
    void check(const program_outcome& outcome);

private:
    void write_inputs(const instance& one) const override;
    const instance_values* values_of(const instance& one) const;
    void check_values(const instance& one, const instance_values& values) const;

    scenario_context& ctx_;
    const std::string image_;
    const std::shared_ptr<const std::vector<instance_values>> values_;
    const tensors::tolerance allowed_;  // for values_
};

/// Does `work` on programs; when it fails, the next step with collectives begins with a reset of
/// all chips.
void run_guarded(scenario_context& ctx, const running_programs& all,
                 const std::function<void()>& work);
/// Starts programs that ctx.programs knows by `name` from now on. \throws step_failure when it has
/// one of that name
void start_in_background(scenario_context& ctx, const std::string& name, program_request request);

}  // namespace trn::scenario
