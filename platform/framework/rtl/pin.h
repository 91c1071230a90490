// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace trn::rtl {

/// A port of a design's top module.
struct top_port {
    std::string name;
    bool is_input;
    unsigned bits;
    void* value;  ///< as Verilator stores it: 1, 2, 4, 8 bytes, or words of 4 bytes
};

/// Access to a port. One that is not connected reads 0 and ignores what is written.
class pin {
public:
    pin() = default;
    explicit pin(const top_port& port) : value_(port.value), bits_(port.bits) {}

    bool is_connected() const { return value_ != nullptr; }
    unsigned bits() const { return bits_; }
    unsigned bytes() const { return (bits_ + 7) / 8; }

    /// The lowest 64 bits.
    std::uint64_t get() const {
        std::uint64_t value = 0;
        if (value_ != nullptr) std::memcpy(&value, value_, std::min<std::size_t>(stored(), 8));
        return value;
    }
    bool is_high() const { return get() != 0; }
    /// Bits beyond the port's width are dropped; those of a port of more than 64 bits become 0.
    void set(std::uint64_t value) {
        if (value_ == nullptr) return;
        if (bits_ < 64) value &= (std::uint64_t{1} << bits_) - 1;
        if (bits_ > 64) std::memset(value_, 0, stored());
        std::memcpy(value_, &value, std::min<std::size_t>(stored(), 8));
    }
    /// Bytes from bit 0 on; as many as both have.
    void read(std::span<std::uint8_t> lanes) const {
        if (value_ != nullptr)
            std::memcpy(lanes.data(), value_, std::min<std::size_t>(bytes(), lanes.size()));
    }
    void write(std::span<const std::uint8_t> lanes) {
        if (value_ == nullptr) return;
        std::memcpy(value_, lanes.data(), std::min<std::size_t>(bytes(), lanes.size()));
        const unsigned spare = bytes() * 8 - bits_;
        static_cast<std::uint8_t*>(value_)[bytes() - 1] &= static_cast<std::uint8_t>(0xff >> spare);
    }

private:
    unsigned stored() const {
        if (bits_ > 64) return (bits_ + 31) / 32 * 4;
        return bits_ > 32 ? 8 : bits_ > 16 ? 4 : bits_ > 8 ? 2 : 1;
    }

    void* value_ = nullptr;
    unsigned bits_ = 0;
};

}  // namespace trn::rtl
