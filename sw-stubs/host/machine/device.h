// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "sw-stubs/driver/include/trn_driver.h"

namespace trn {

/// A failed call of the driver stub; what() is its error text.
class device_error : public std::runtime_error {
public:
    device_error(trn_status status, const std::string& sentence)
        : std::runtime_error(sentence), status(status) {}
    const trn_status status;
};

/// \throws device_error with TRN_INVALID_ARGUMENT and this text
template <class... Args>
[[noreturn]] void refuse_argument(fmt::format_string<Args...> text, Args&&... args) {
    throw device_error(TRN_INVALID_ARGUMENT, fmt::format(text, std::forward<Args>(args)...));
}

/// \throws device_error about the card `name` unless `error` (of a trn_rdma call) is 0
void expect_ok(int error, const std::string& name);

/// Options of a driver on a host of this SMBIOS product.
inline trn_options options_on(const std::string& product) {
    trn_options options{};
    options.platform = trn_platform_of_product(product.c_str());
    return options;
}

/// A device of the driver stub, with RAII and exceptions.
class device {
public:
    /// Owns the transport. \throws std::bad_alloc
    explicit device(const trn_transport& transport, const trn_options& options = {});

    trn_device* get() const { return handle_.get(); }
    operator trn_device*() const { return handle_.get(); }

    /// \throws device_error unless `status` is TRN_OK
    void check(trn_status status) const;
    trn_device_info info() const;

private:
    struct deleter {
        void operator()(trn_device* device) const { trn_destroy(device); }
    };
    std::unique_ptr<trn_device, deleter> handle_;
};

/// Brings a device into the state after a driver's load: probed and reset. \throws device_error
void bring_up(device& chip);
/// The same for a device that has lost the settings of its probe, as after a loss of power.
/// \throws device_error
void reopen(device& chip);

/// Host memory for DMA that frees itself.
class host_buffer {
public:
    /// The first `offset` bytes of the memory stay unused, for tests of unaligned addresses.
    host_buffer(const device& chip, std::uint64_t size, std::uint64_t offset = 0);
    ~host_buffer();
    host_buffer(const host_buffer&) = delete;
    host_buffer& operator=(const host_buffer&) = delete;

    std::span<std::uint8_t> bytes() const;
    std::uint64_t address() const { return trn_buffer_address(chip_, &buffer_, offset_); }

private:
    const device& chip_;
    trn_buffer buffer_{};
    std::uint64_t size_, offset_;
};

}  // namespace trn
