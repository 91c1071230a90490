// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/machine/device.h"

#include <fmt/format.h>

#include <new>

namespace trn {

void expect_ok(int error, const std::string& name) {
    if (error != 0)
        throw device_error(TRN_TRANSPORT_ERROR, fmt::format("{}: error {}", name, -error));
}

device::device(const trn_transport& transport, const trn_options& options)
    : handle_(trn_create(&transport, &options)) {
    if (handle_) return;
    transport.close(transport.context);
    throw std::bad_alloc();
}

void device::check(trn_status status) const {
    if (status != TRN_OK) throw device_error(status, trn_last_error(handle_.get()));
}

void bring_up(device& chip) {
    chip.check(trn_probe(chip));
    chip.check(trn_reset_device(chip));
}

void reopen(device& chip) {
    if (trn_lost_probe(chip)) bring_up(chip);
}

trn_device_info device::info() const {
    trn_device_info info{};
    if (trn_get_info(handle_.get(), &info) != TRN_OK)
        throw device_error(TRN_NOT_READY, "the device has not been probed yet");
    return info;
}

host_buffer::host_buffer(const device& chip, std::uint64_t size, std::uint64_t offset)
    : chip_(chip), size_(size), offset_(offset) {
    if (size > UINT64_MAX - offset)
        refuse_argument(
            "{} bytes at offset {:#x} of host memory pass the end of "
            "the address space",
            size, offset);
    chip_.check(trn_buffer_alloc(chip_, size + offset, &buffer_));
}

host_buffer::~host_buffer() {
    trn_buffer_free(chip_, &buffer_);
}

std::span<std::uint8_t> host_buffer::bytes() const {
    return {static_cast<std::uint8_t*>(buffer_.memory.host) + offset_, size_};
}

}  // namespace trn
