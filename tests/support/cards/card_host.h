// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace trn::test {

/// Ends a program whose `what` does not hold, with a signal.
inline void require(bool held, const char* what) {
    if (held) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

/// What a driver in miniature needs of its host: registers of the card, memory that the card
/// reaches at the same addresses, and time. A model in this process or a function of a platform in
/// another one is behind it.
class card_host {
public:
    card_host() = default;
    virtual ~card_host() = default;
    card_host(const card_host&) = delete;
    card_host& operator=(const card_host&) = delete;

    /// BAR0.
    virtual void set(std::uint64_t at, std::uint32_t value) = 0;
    virtual std::uint32_t get(std::uint64_t at) = 0;
    /// BAR2.
    virtual void write_ring(std::uint64_t at, std::span<const std::uint8_t> bytes) = 0;
    virtual std::uint8_t* bytes(std::uint64_t at) = 0;
    virtual std::uint64_t memory_size() const = 0;
    virtual void advance(double microseconds) = 0;

    template <class T>
    T load(std::uint64_t at) {
        T value;
        std::memcpy(&value, bytes(at), sizeof value);
        return value;
    }
    template <class T>
    void store(std::uint64_t at, T value) {
        std::memcpy(bytes(at), &value, sizeof value);
    }
    /// Zeroed memory, aligned to pages.
    std::uint64_t allocate(std::uint64_t size) {
        const std::uint64_t at = free_;
        free_ += (size + 4095) / 4096 * 4096;
        EXPECT_LE(free_, memory_size());
        std::memset(bytes(at), 0, size);
        return at;
    }

    bool expects_answers = true;  ///< false: the card may have lost its queues

protected:
    void free_all() { free_ = first_free; }

private:
    static constexpr std::uint64_t first_free = 0x10000;
    std::uint64_t free_ = first_free;
};

}  // namespace trn::test
