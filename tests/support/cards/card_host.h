// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace trn::test {

/// Aborts the program when `held` is false; `message` is the message.
inline void require(bool held, const char* message) {
    if (held) return;
    std::fprintf(stderr, "%s\n", message);
    std::abort();
}

/// The host of a minimal driver: register access, simulated time, and memory which the card
/// accesses at the same addresses. Implemented over a model in this process or over a function in
/// another process.
class card_host {
public:
    card_host() = default;
    virtual ~card_host() = default;
    card_host(const card_host&) = delete;
    card_host& operator=(const card_host&) = delete;

    /// BAR0.
    virtual void set(std::uint64_t offset, std::uint32_t value) = 0;
    virtual std::uint32_t get(std::uint64_t offset) = 0;
    /// BAR2.
    virtual void write_ring(std::uint64_t offset, std::span<const std::uint8_t> bytes) = 0;
    virtual std::uint8_t* bytes(std::uint64_t offset) = 0;
    virtual std::uint64_t memory_size() const = 0;
    virtual void advance(double microseconds) = 0;

    template <class T>
    T load(std::uint64_t address) {
        T value;
        std::memcpy(&value, bytes(address), sizeof value);
        return value;
    }
    template <class T>
    void store(std::uint64_t address, T value) {
        std::memcpy(bytes(address), &value, sizeof value);
    }
    /// Returns zeroed, page-aligned memory.
    std::uint64_t allocate(std::uint64_t size) {
        const std::uint64_t address = free_;
        free_ += (size + 4095) / 4096 * 4096;
        EXPECT_LE(free_, memory_size());
        std::memset(bytes(address), 0, size);
        return address;
    }

    /// False: the card may have lost its queues, so missing completions are no error.
    bool expects_answers = true;

protected:
    void free_all() { free_ = first_free; }

private:
    static constexpr std::uint64_t first_free = 0x10000;
    std::uint64_t free_ = first_free;
};

}  // namespace trn::test
