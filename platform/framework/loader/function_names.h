// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/loader/elf.h"

namespace trn {

/// Start addresses of functions of programs. While it exists, harts report entered functions.
class function_names {
public:
    using by_address = std::map<std::uint64_t, std::string>;

    /// Reads these ELF files; other files are skipped. At most one object exists at a time.
    explicit function_names(const std::vector<std::filesystem::path>& programs);
    ~function_names() { active_ = nullptr; }
    function_names(const function_names&) = delete;
    function_names& operator=(const function_names&) = delete;

    /// The object that harts use; nullptr: they report nothing.
    static const function_names* active() { return active_; }

    /// The functions of the program whose code is in this page at `address`; nullptr: no program.
    const by_address* find(std::uint64_t address, std::span<const std::uint8_t> page) const;
    /// The function that begins at `address` with this instruction, of a page that is not known;
    /// nullptr: none does.
    const std::string* at(std::uint64_t address, std::uint32_t instruction) const;

private:
    inline static const function_names* active_ = nullptr;

    std::vector<elf_program> programs_;
};

}  // namespace trn
