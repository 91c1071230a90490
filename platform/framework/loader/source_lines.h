// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trn {

/// Looks up functions and lines in the debugging information of ELF files.
class source_lines {
public:
    /// Files that are not ELF programs are ignored.
    explicit source_lines(const std::vector<std::filesystem::path>& programs);
    ~source_lines();
    source_lines(const source_lines&) = delete;
    source_lines& operator=(const source_lines&) = delete;

    /// "function (file:line)" in the program that has exactly `code` at `pc`; "" when no program
    /// has. Code inlined from a header belongs to the source file that uses it.
    std::string find(std::uint64_t pc, std::span<const std::uint8_t> code) const;

private:
    class program;
    std::vector<std::unique_ptr<program>> programs_;
};

}  // namespace trn
