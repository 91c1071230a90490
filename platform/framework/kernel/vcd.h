// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trn {

/// A signal of the value change dump.
struct vcd_signal {
    std::string path;  ///< scopes and a name separated by dots: "chip0.nc0.SEMAPHORE_READ_3"
    unsigned width;    ///< in bits, 1 to 64
    std::function<std::uint64_t()> value;  ///< must have no side effects
};

/// Writes a value change dump (IEEE 1364-2001, 18) with 1 ps resolution. Samples its signals before
/// simulated time advances, when all delta cycles are done (run_loop::on_time_step): no lasting
/// change is missed, and no events are added.
class vcd_file {
public:
    /// Construct it after elaboration. \throws std::system_error when the file cannot be created
    vcd_file(const std::string& path, std::vector<vcd_signal> signals);
    ~vcd_file();

    /// Samples the signals, if a process has run since the last call.
    void time_step_ended();
    /// Completes the file with the current time.
    void finish();
    /// See streamed_file::failure().
    const std::string& failure() const;

private:
    class sampler;
    std::unique_ptr<sampler> sampler_;
};

}  // namespace trn
