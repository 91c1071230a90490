// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace trn::pcie {

/// The 4 KiB configuration space of one function (PCIe base specification, chapter 7): bytes with
/// masks of writable and write-one-to-clear bits, and hooks for registers with side effects.
/// Offsets and bit names are those of <linux/pci_regs.h>. Reads always succeed: undefined bytes are
/// zero and read-only, as the specification requires.
class config_space {
public:
    static constexpr std::uint32_t size = 4096;
    using hook = std::function<void()>;

    /// Declares a register: its reset value, the bits that software may write, and the bits that
    /// are cleared by writing one. Little endian, at any offset.
    template <std::unsigned_integral T>
    void define(std::uint32_t offset, T reset, T writable = 0, T write_one_to_clear = 0) {
        for (std::uint32_t i = 0; i < sizeof(T); ++i) {
            const auto byte = [i](T value) { return static_cast<std::uint8_t>(value >> (8 * i)); };
            value_.at(offset + i) = reset_[offset + i] = byte(reset);
            writable_[offset + i] =
                static_cast<std::uint8_t>(byte(writable) | byte(write_one_to_clear));
            clear_[offset + i] = byte(write_one_to_clear);
        }
    }

    /// Appends a capability of `length` bytes to its list, writes its header, and returns its
    /// offset. Offsets follow the order of calls.
    std::uint16_t add_capability(std::uint8_t id, std::uint16_t length);
    std::uint16_t add_extended_capability(std::uint16_t id, std::uint8_t version,
                                          std::uint16_t length);

    /// Called after a software write that touches any byte of [offset, offset + length).
    void on_write(std::uint32_t offset, std::uint32_t length, hook called);

    /// Accesses by software. Bytes beyond the space read as zero and ignore writes.
    void read(std::uint32_t offset, std::span<std::uint8_t> bytes) const;
    void write(std::uint32_t offset, std::span<const std::uint8_t> bytes);

    /// Accesses by the function itself: without masks and hooks.
    template <std::unsigned_integral T>
    T get(std::uint32_t offset) const {
        std::uint64_t value = 0;
        for (std::uint32_t i = 0; i < sizeof(T); ++i) {
            value |= static_cast<std::uint64_t>(value_.at(offset + i)) << (8 * i);
        }
        return static_cast<T>(value);
    }
    /// Sets status bits.
    template <std::unsigned_integral T>
    void raise(std::uint32_t offset, std::type_identity_t<T> bits) {
        set<T>(offset, static_cast<T>(get<T>(offset) | bits));
    }
    template <std::unsigned_integral T>
    void set(std::uint32_t offset, T value) {
        for (std::uint32_t i = 0; i < sizeof(T); ++i) {
            value_.at(offset + i) = static_cast<std::uint8_t>(value >> (8 * i));
        }
    }

    /// Conventional (6.6.1): hot reset, or a link that goes down. Function-level: 6.6.2.
    enum class reset_kind : std::uint8_t { conventional, function_level };
    /// Declares `bits` of a register as sticky: no reset changes them.
    template <std::unsigned_integral T>
    void keep_over_reset(std::uint32_t offset, T bits) {
        keep(offset, bits, reset_kind::conventional);
    }
    /// Declares bits that a function-level reset does not change.
    template <std::unsigned_integral T>
    void keep_over_function_level_reset(std::uint32_t offset, T bits) {
        keep(offset, bits, reset_kind::function_level);
    }
    /// Resets all registers except the bits that this kind of reset keeps; calls no hooks.
    void reset(reset_kind kind);
    /// Power-on: resets sticky registers too.
    void forget() { value_ = reset_; }

private:
    struct write_hook {
        std::uint32_t offset, length;
        hook called;
    };
    /// Bits of one byte that a reset keeps: any reset, or a function-level reset only.
    struct kept_bits {
        std::uint16_t offset;
        std::uint8_t bits;
        reset_kind strongest;
    };
    template <std::unsigned_integral T>
    void keep(std::uint32_t offset, T bits, reset_kind strongest) {
        for (std::uint32_t i = 0; i < sizeof(T); ++i)
            kept_.push_back({static_cast<std::uint16_t>(offset + i),
                             static_cast<std::uint8_t>(bits >> (8 * i)), strongest});
    }

    std::array<std::uint8_t, size> value_{}, reset_{}, writable_{}, clear_{};
    std::vector<write_hook> hooks_;
    std::vector<kept_bits> kept_;
    std::uint32_t capability_link_ = 0x34;  // offset of the byte that links to the next capability
    std::uint32_t next_capability_ = 0x40;
    std::uint32_t extended_link_ = 0;  // header of the last extended capability; 0 = none yet
    std::uint32_t next_extended_ = 0x100;
};

}  // namespace trn::pcie
