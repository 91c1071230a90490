// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw-stubs/host/programs/collectives.h"
#include "sw-stubs/host/programs/tensors.h"

namespace trn {

/// A program, its instances and inputs.
struct program_request {
    std::vector<std::uint8_t> set = {};
    std::filesystem::path folder = {};  ///< of the tensors' files
    trn_program_options loading = {};
    std::uint32_t cores = 1;      ///< per instance
    std::uint32_t instances = 1;  ///< on consecutive cores of a chip
    bool all_chips = false;
    tensor_texts inputs = {};
    std::vector<program_collective> collectives = {};  ///< over all chips
};

/// Expected results. Texts may contain {chip} and {core}, the numbers of an instance, and may be
/// sum_over_chips(REFERENCE).
struct program_outcome {
    tensor_texts check = {};
    tensors::tolerance allowed = {};
    std::uint64_t limit_ns = 100'000'000;
    std::optional<std::uint32_t> error = {};           ///< code of an engine's failure
    std::optional<std::uint32_t> clock_permille = {};  ///< lowest reported clock rate
};

/// An engine that failed or stopped.
struct engine_failure {
    std::size_t chip;
    std::uint32_t core, engine;  ///< `core`: of the chip
    std::uint32_t error, pc, detail;
    std::string file;  ///< source of the instruction; "": unknown
    std::uint32_t line;
};

/// Instances of a program on cores of one or more chips. Members throw device_error, and
/// std::runtime_error for an invalid text.
class program_group {
public:
    using chip_work = host_set::work;
    /// Runs work on each chip (numbers from 0), where driver calls are allowed.
    using each_device = std::function<void(const chip_work& work)>;
    struct instance {
        std::size_t chip;
        std::uint32_t core;
        std::unique_ptr<loaded_program> program = {};
        std::unique_ptr<program_tensors> tensors = {};
        trn_program_result result = {};
    };
    using instance_work = std::function<void(instance& member, device& chip)>;

    program_group(std::size_t chips, each_device run, std::uint64_t seed, program_request request);
    /// Does not access devices: see unload().
    virtual ~program_group();
    program_group(const program_group&) = delete;
    program_group& operator=(const program_group&) = delete;

    /// Loads all instances, writes their inputs and starts them. `group`: of all these chips, for
    /// the request's collectives; null without collectives.
    void start(collective_group* group);
    void wait(const program_outcome& outcome);
    /// The first engine that wait() found failed or stopped.
    std::optional<engine_failure> failure() const;
    /// Simulated time from the first start to the last end.
    std::uint64_t ns() const;
    /// Text about the first tensor that differs from its expectation.
    std::optional<std::string> difference(const program_outcome& outcome);
    /// Text about a difference of a tensor of the first instance.
    std::optional<std::string> difference(const std::string& tensor, const std::string& text,
                                          tensors::tolerance allowed);
    void each_instance(const instance_work& work);
    void unload();
    bool has_collectives() const { return !request_.collectives.empty(); }
    /// `text` with {chip} and {core} replaced by the instance's numbers.
    static std::string text_for(const instance& member, const std::string& text);

protected:
    /// Writes the inputs of a loaded program: by the request's texts, zeroes without one.
    virtual void write_inputs(const instance& member) const;
    /// The program set of an instance: by default the request's.
    virtual const std::vector<std::uint8_t>& set_of(const instance& member) const;
    std::size_t chips() const { return chips_.size(); }
    const program_request& request() const { return request_; }

private:
    void load(instance& member, device& chip) const;
    void load_collectives(collective_group& group);
    void explain(const device_error& failure);
    std::optional<std::string> difference(const instance& member, const std::string& tensor,
                                          const std::string& text, tensors::tolerance allowed);
    const tensors::numbers& sum_over_chips(std::size_t number, const std::string& text);

    const each_device run_;
    const std::uint64_t seed_;
    const program_request request_;
    std::vector<std::vector<instance>> chips_;
    std::unique_ptr<program_collectives> collectives_;
    std::map<std::pair<std::size_t, std::string>, tensors::numbers> sums_;  ///< over all chips
    std::uint64_t started_ns_ = ~std::uint64_t{0}, ended_ns_ = 0;
};

}  // namespace trn
