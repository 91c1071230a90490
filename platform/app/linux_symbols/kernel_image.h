// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "platform/framework/loader/btf.h"
#include "platform/framework/loader/kallsyms.h"

namespace trn {

/// Whether a file begins as an `Image` for RISC-V does (the kernel's Documentation/arch/riscv/
/// boot-image-header.rst).
bool is_linux_image(const std::filesystem::path& file);

/// The file of a Linux kernel, an `Image` for RISC-V, with its symbols and the layouts of its
/// types.
class kernel_image {
public:
    /// \throws kernel_image_error, btf_error, file_error
    explicit kernel_image(const std::filesystem::path& file);

    const std::filesystem::path& file() const { return file_; }
    const kallsyms& symbols() const { return symbols_; }
    const btf& types() const { return *types_; }
    /// Bytes of the file for the address of a symbol; fewer at its end.
    std::span<const std::uint8_t> at(std::uint64_t address, std::size_t size) const;
    /// First address of the kernel and the first one after it.
    std::uint64_t first() const { return first_; }
    std::uint64_t end() const { return end_; }

private:
    const std::filesystem::path file_;
    const std::vector<std::uint8_t> bytes_;
    const kallsyms symbols_;
    std::uint64_t first_ = 0, end_ = 0;
    std::unique_ptr<const btf> types_;
};

}  // namespace trn
