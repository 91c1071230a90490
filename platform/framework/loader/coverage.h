// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/loader/elf.h"

namespace trn {

/// Records which instructions were executed and which directions conditional branches took, without
/// counts. Harts record into it while it exists. The marks are in memory shared with forked
/// processes, so that those of a crashed child are kept.
class coverage {
public:
    enum mark : std::uint8_t { ran = 1, taken = 2, passed = 4 };

    /// A program with one byte of marks per possible instruction address (every two bytes).
    class program {
    public:
        program(std::filesystem::path file, elf_program code, std::uint64_t moved_by);

        const std::filesystem::path& file() const { return file_; }
        /// See elf_program::instruction(). Addresses are those in the file.
        std::optional<std::uint32_t> instruction(std::uint64_t address) const {
            return code_.instruction(address);
        }
        /// The marks of the instruction at `address`; nullptr when the program has none there.
        std::uint8_t* marks(std::uint64_t address) const;
        /// The marks of the instruction that is executed at `address`; nullptr also when it is not
        /// `bits`.
        std::uint8_t* marks(std::uint64_t address, std::uint32_t bits) const;
        bool any_ran() const;

    private:
        friend class coverage;
        std::filesystem::path file_;
        elf_program code_;
        std::uint64_t moved_by_;
        std::vector<std::uint8_t*> marks_;  // per segment
        bool used_ = false;                 // this process has executed it
    };

    /// Covers these ELF files; ignores other files. They are executed at their addresses plus
    /// `moved_by`. At most one object may exist at a time. \throws std::system_error when there is
    /// no memory for the marks
    explicit coverage(const std::vector<std::filesystem::path>& programs,
                      std::uint64_t moved_by = 0);
    ~coverage();
    coverage(const coverage&) = delete;
    coverage& operator=(const coverage&) = delete;

    /// The object that harts record into; nullptr without one.
    static coverage* active() { return active_; }

    /// The program that contains the code `page` at `address`; of several, the best match; nullptr:
    /// none.
    program* find(std::uint64_t address, std::span<const std::uint8_t> page);
    /// The marks of an instruction whose page is not known; nullptr when no program contains it.
    std::uint8_t* marks(std::uint64_t address, std::uint32_t bits);

    std::span<const std::unique_ptr<program>> programs() const { return programs_; }
    /// An address of executed code that belongs to no program.
    std::optional<std::uint64_t> unknown_code() const;

private:
    struct header {
        std::uint64_t unknown;  // the first such address found, + 1; 0: none
    };

    inline static coverage* active_ = nullptr;

    void note_unknown(std::uint64_t address);

    std::vector<std::unique_ptr<program>> programs_;
    std::size_t size_ = sizeof(header);
    void* shared_ = nullptr;
};

}  // namespace trn
