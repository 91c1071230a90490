// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trn::riscv::translate {

/// Memory for host code. No page is writable and executable at the same time. A forked process has
/// a copy-on-write copy at the same addresses.
class code_region {
public:
    explicit code_region(std::size_t size);
    ~code_region();
    code_region(const code_region&) = delete;
    code_region& operator=(const code_region&) = delete;

    /// False: this host does not let processes create code; this does not change later.
    bool usable() const { return base_ != nullptr; }
    /// Address of the next code.
    const std::uint8_t* next() const { return base_ + used_; }
    std::size_t room() const { return usable() ? size_ - used_ : 0; }
    std::size_t used() const { return used_; }
    /// Appends code at next(). False, without effect: no room, or the host refuses.
    bool add(std::span<const std::uint8_t> code);
    /// Overwrites part of the added code. False: the host refuses; the code must not be executed
    /// any more.
    bool replace(const std::uint8_t* place, std::span<const std::uint8_t> code);
    /// Drops all code except the first `kept` bytes.
    void shrink(std::size_t kept) { used_ = kept; }

private:
    bool write(std::size_t place, std::span<const std::uint8_t> code);
    bool protect(std::size_t first, std::size_t last, int access);

    std::uint8_t* base_ = nullptr;
    const std::size_t size_;
    std::size_t used_ = 0;
};

}  // namespace trn::riscv::translate
