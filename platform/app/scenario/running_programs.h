// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/scenario/scenario_context.h"
#include "sw-stubs/host/program_collectives.h"
#include "sw-stubs/host/program_tensors.h"

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

/// What is to run where.
struct program_request {
    std::vector<std::uint8_t> set = {};
    std::filesystem::path folder = {};  ///< of files that tensors name
    trn_program_options loading = {};
    std::uint32_t cores = 1;      ///< of an instance
    std::uint32_t instances = 1;  ///< on consecutive cores of a chip
    std::uint32_t chips = 1;      ///< the first ones of the board
    bool all_chips = false;       ///< in place of `chips`
    tensor_texts in = {};
    std::vector<program_collective> collectives = {};  ///< over all chips
    std::string image = {};                            ///< for the cores that run them
    /// In place of `in`, by instance, chip after chip; null: none.
    std::shared_ptr<const std::vector<instance_values>> values = {};
    tensors::tolerance allowed = {};  ///< for `values`
};

/// What has to come out. Texts may hold {chip} and {core}, the numbers of an instance, and be
/// sum_over_chips(REFERENCE).
struct program_outcome {
    tensor_texts check = {};
    tensors::tolerance allowed = {};  ///< for `check`
    std::uint64_t limit_ns = 100'000'000;
    std::optional<std::uint32_t> error = {};  ///< an engine fails with this code
};

/// Instances of one program on cores of one or all chips. Members run in a process of the host CPU,
/// and throw step_failure or device_error.
class running_programs {
public:
    running_programs(scenario_context& ctx, program_request request);
    /// Leaves devices alone: see unload().
    ~running_programs();

    /// Loads all, writes their inputs, and starts them. \throws step_failure without enough chips
    void start();
    void wait(const program_outcome& outcome);
    /// The simulated time from the first start to the last end.
    std::uint64_t ns() const { return ended_ns_ - std::min(started_ns_, ended_ns_); }
    void check(const program_outcome& outcome);
    /// What is wrong with a tensor of the first instance.
    std::optional<std::string> difference(const std::string& tensor, const std::string& text,
                                          tensors::tolerance allowed);
    void unload();
    bool has_collectives() const { return !request_.collectives.empty(); }

private:
    struct instance {
        std::uint32_t chip, core;
        std::unique_ptr<loaded_program> program;
        std::unique_ptr<program_tensors> tensors;
    };
    bool uses_several_chips() const { return request_.all_chips || request_.chips > 1; }
    const instance_values* values_of(const instance& one) const;
    void check_values(const instance& one, const instance_values& values) const;
    using chip_work = std::function<void(std::vector<instance>& on, trn::device& chip)>;
    void each_chip(const chip_work& work);
    void load(instance& one, trn::device& chip) const;
    void load_collectives();
    void explain(const device_error& failure);
    std::optional<std::string> difference(const instance& one, const std::string& tensor,
                                          const std::string& text, tensors::tolerance allowed);
    const tensors::numbers& sum_over_chips(std::size_t number, const std::string& text);

    scenario_context& ctx_;
    const program_request request_;
    std::vector<std::vector<instance>> chips_;
    std::unique_ptr<program_collectives> collectives_;
    std::map<std::pair<std::size_t, std::string>, tensors::numbers> sums_;  ///< over all chips
    std::uint64_t started_ns_ = ~std::uint64_t{0}, ended_ns_ = 0;
};

/// Does `work` on programs; when it fails, the next step with collectives begins with a reset of
/// all chips.
void run_guarded(scenario_context& ctx, const running_programs& all,
                 const std::function<void()>& work);
/// Starts programs that ctx.programs knows by `name` from now on. \throws step_failure when it has
/// one of that name
void start_in_background(scenario_context& ctx, const std::string& name, program_request request);

}  // namespace trn::scenario
