// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/cards/card_host.h"

namespace trn::test {

/// A minimal driver of a PCI function in another process: `Host` over vfio-user. Aborts the program
/// when that process does not answer.
template <class Host>
class attached : public Host {
public:
    explicit attached(const std::string& socket) {
        constexpr std::uint64_t command_register = 4;
        constexpr std::uint16_t memory_space_and_bus_master = 6;
        trn_vfio_user_options options{};
        options.timeout_ms = 60'000;
        check(trn_vfio_user_open(socket.c_str(), &options, &client_, nullptr, 0));
        check(trn_vfio_user_dma_alloc(client_, bytes_of_memory, 0, &memory_));
        check(trn_vfio_user_write(client_, TRN_VFIO_USER_CONFIG, command_register,
                                  &memory_space_and_bus_master,
                                  sizeof memory_space_and_bus_master));
    }
    ~attached() override { trn_vfio_user_close(client_); }

    void set(std::uint64_t offset, std::uint32_t value) override {
        check(trn_vfio_user_post(client_, 0, offset, &value, sizeof value));
    }
    std::uint32_t get(std::uint64_t offset) override {
        std::uint32_t value = 0;
        check(trn_vfio_user_read32(client_, 0, offset, &value));
        return value;
    }
    void write_ring(std::uint64_t offset, std::span<const std::uint8_t> bytes) override {
        check(trn_vfio_user_post(client_, 2, offset, bytes.data(), bytes.size()));
    }
    std::uint8_t* bytes(std::uint64_t address) override {
        return static_cast<std::uint8_t*>(memory_.host) + address;
    }
    std::uint64_t memory_size() const override { return memory_.size; }
    void advance(double microseconds) override {
        const auto nanoseconds = static_cast<std::uint64_t>(microseconds * 1000);
        check(trn_vfio_user_wait(client_, nanoseconds == 0 ? 1 : nanoseconds, nullptr));
    }
    /// Simulated time.
    std::uint64_t nanoseconds() {
        std::uint64_t now = 0;
        check(trn_vfio_user_now(client_, &now));
        return now;
    }

private:
    static constexpr std::uint64_t bytes_of_memory = 64 << 20;

    void check(int error) const {
        require(error == 0, client_ == nullptr ? "no such function" : trn_vfio_user_error(client_));
    }

    trn_vfio_user* client_ = nullptr;
    trn_dma_memory memory_{};
};

}  // namespace trn::test
