// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trn {

/// Something whose changes a VCD shows.
struct vcd_signal {
    std::string
        path;        ///< "chip0.nc0.SEMAPHORE_READ_3": scopes, and a name without dots in the last
    unsigned width;  ///< bits, 1 to 64
    std::function<std::uint64_t()> value;  ///< without side effects
};

/// Writes a value change dump (IEEE 1364-2001, 18) in simulated time, 1 ps. The SystemC kernel has
/// it look at its signals whenever simulated time moves on, which is when changes are over: no
/// change that lasts is missed and no event is added. Without one nothing is looked at.
class vcd_file {
public:
    /// Only after elaboration. \throws std::system_error when the file cannot be written
    vcd_file(const std::string& path, std::vector<vcd_signal> signals);
    ~vcd_file();

    /// Completes the file: its last time is the present one.
    void finish();
    /// As streamed_file's.
    const std::string& failure() const;

private:
    class sampler;
    std::unique_ptr<sampler> sampler_;
};

}  // namespace trn
