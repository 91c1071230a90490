// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/scenario/programs/running_programs.h"

namespace trn::scenario {

/// A kernel of a step, before it is compiled. Texts may contain {chip} and {core}.
struct kernel_request {
    using texts = std::vector<std::pair<std::string, std::string>>;

    std::string function = {};  ///< FILE.py:FUNCTION
    std::string folder = {};    ///< folder of the scenario, base of relative paths
    std::string board = {};
    std::optional<std::string> generation = {};  ///< generation to use instead of that of `board`
    std::uint32_t lnc = 1, core = 0, instances = 1, chips = 1;
    std::vector<std::uint64_t> seeds = {};           ///< of the runs; not empty
    std::uint64_t memory_limit = ~std::uint64_t{0};  ///< of the compiler; bytes resident
    std::function<bool()> stop = {};                 ///< polled; when true, the compiler is ended
    bool is_exact = true;                            ///< compare results without tolerance
    texts inputs = {}, arg = {}, check = {};
};

/// The kernel cannot be compiled, or its inputs and expected results cannot be made; what() is the
/// message with the place in the kernel.
class kernel_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A compiled kernel for one seed.
struct prepared_kernel {
    std::uint32_t cores = 1;                           ///< cores of an instance
    std::vector<instance_values> instances = {};       ///< in the order of chips
    std::vector<program_collective> collectives = {};  ///< collectives that the kernel starts
    std::vector<std::string> files = {};     ///< that the kernel and its functions import or read
    std::vector<std::string> warnings = {};  ///< of the compiler, with their places
    std::string error = {};  ///< of this seed, with the place in the kernel; "": none
};

/// Compiles the kernel with `trn-nki`, a child process, once for all instances and seeds with equal
/// arguments, and reads its inputs and expected results, by seed. The result for a seed depends
/// only on the files. The first seed is there; seeds that would need much memory or time may be
/// absent. \throws kernel_error, std::system_error
std::map<std::uint64_t, prepared_kernel> prepare_kernel(const kernel_request& request);

}  // namespace trn::scenario
