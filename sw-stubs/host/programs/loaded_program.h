// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/programs/include/trn_program.h"

namespace trn {

/// A program set on a device (trn_program.h), with RAII and exceptions.
class loaded_program {
public:
    /// \throws device_error
    loaded_program(const device& chip, std::span<const std::uint8_t> set,
                   const trn_program_options& options);
    ~loaded_program();
    loaded_program(const loaded_program&) = delete;
    loaded_program& operator=(const loaded_program&) = delete;

    trn_program* get() const { return handle_; }
    /// From now on the device is not accessed, including by the destructor.
    void forget();

    std::vector<trn_tensor> tensors() const;
    /// \throws device_error with TRN_INVALID_ARGUMENT and a suggestion for an unknown name
    trn_tensor find(std::string_view name) const;
    void write(const trn_tensor& tensor, std::span<const std::uint8_t> bytes) const;
    std::vector<std::uint8_t> read(const trn_tensor& tensor) const;

    /// Starts it and waits up to `limit_ns` of simulated time. \throws device_error, also when an
    /// engine fails
    trn_program_result run(std::uint64_t limit_ns) const;

private:
    std::uint32_t number_of(const trn_tensor& tensor) const;

    const device& chip_;
    trn_program* handle_ = nullptr;
};

}  // namespace trn
