// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace trn {

/// An error in an ELF file; what() begins with the file's name.
class elf_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A bare-metal RV64 program: its segments and entry point.
struct elf_program {
    struct segment {
        std::uint64_t address;            ///< physical address
        std::uint64_t size;               ///< in memory, bytes; zeroes follow `bytes`
        std::vector<std::uint8_t> bytes;  ///< content in the file
    };
    std::uint64_t entry = 0;
    bool position_independent = false;  ///< it may be moved
    std::uint64_t alignment = 1;        ///< of its segments: it is moved by multiples
    std::vector<segment> segments;      ///< as in the file
    /// About 100 MB; a Linux kernel has a third of them.
    static constexpr std::size_t max_symbols = 1 << 19;
    bool symbols_are_complete = true;  ///< false: those beyond max_symbols have no names
    std::map<std::string, std::uint64_t, std::less<>> symbols;
    std::set<std::string, std::less<>> constants;    ///< symbols that are no addresses
    std::map<std::uint64_t, std::string> functions;  ///< by start address; one name per address

    /// Adds `offset` to every address; only of a position independent program. Words that contain
    /// addresses stay as they are: such programs relocate themselves.
    void move(std::uint64_t offset);
    std::optional<std::uint64_t> symbol(std::string_view name) const;
    /// Number of bytes of `page` at `address` that equal the program's bytes there; 0 when less
    /// than half of them are equal.
    std::size_t agreement(std::uint64_t address, std::span<const std::uint8_t> page) const;
    /// The instruction at `address`, 16 bits if compressed; nullopt outside of the program.
    std::optional<std::uint32_t> instruction(std::uint64_t address) const;
};

/// All segments as one block of memory, with zeroes between them.
struct flat_program {
    std::uint64_t first = 0;  ///< the lowest address
    std::vector<std::uint8_t> bytes;
};
/// Nothing when the program is empty, or spans more than `limit` bytes.
std::optional<flat_program> flatten(const elf_program& program, std::uint64_t limit);

/// Whether the file has the magic number of ELF.
bool is_elf(std::span<const std::uint8_t> file);

/// Reads a little-endian 64-bit RISC-V executable. Throws elf_error: unreadable or truncated file,
/// not ELF, wrong class, byte order or machine, not executable, nothing to load.
elf_program read_elf(const std::string& path);
/// Reads an image in memory; messages begin with `name`.
elf_program read_elf(std::span<const std::uint8_t> image, const std::string& name);

}  // namespace trn
