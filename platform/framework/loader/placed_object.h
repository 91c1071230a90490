// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/framework/loader/unit_walk.h"

namespace trn {

/// A relocatable ELF object whose sections have been loaded, as a kernel loads a module.
class placed_object {
public:
    using addresses = std::map<std::string, std::uint64_t, std::less<>>;
    struct section {
        std::string name;
        std::uint64_t address = 0;  ///< 0: not loaded
        std::uint64_t size = 0;
        bool is_code = false;
    };
    static constexpr std::size_t max_sections = 1024;

    /// Reads the headers of `file`; its sections are at these addresses, by name. Sections that are
    /// not listed are not loaded. \throws elf_error
    placed_object(const std::filesystem::path& file, const addresses& places);
    ~placed_object();
    placed_object(const placed_object&) = delete;
    placed_object& operator=(const placed_object&) = delete;

    const std::filesystem::path& file() const { return file_; }
    /// Sections that occupy memory, in the order of the file.
    const std::vector<section>& sections() const { return sections_; }
    /// The identification of its build (NT_GNU_BUILD_ID); empty: none.
    const std::vector<std::uint8_t>& build_id() const { return build_id_; }
    /// The loaded code section at `pc`; null: none.
    const section* code_at(std::uint64_t pc) const;
    /// "function (file:line)", "function" without debugging information, "": not of this object.
    std::string find(std::uint64_t pc) const;
    /// Whether headers of its sections have addresses, which mean nothing before it is loaded.
    bool has_addresses() const { return has_addresses_; }
    bool has_lines() const { return debugging() != nullptr; }

    /// Calls visit(Dwarf_Die&) for each compilation unit until it returns true, with addresses as
    /// loaded. Returns whether it did.
    template <typename Visit>
    bool any_unit(Visit&& visit) const {
        return any_unit_of(debugging(), visit);
    }

private:
    struct access;  // callbacks of libdwfl

    Dwarf* debugging() const;
    void read_headers(const addresses& places);
    std::string function_at(std::uint64_t pc) const;

    const std::filesystem::path file_;
    std::vector<section> sections_;
    std::vector<std::uint8_t> build_id_;
    bool has_addresses_ = false;
    std::map<std::uint64_t, std::string> functions_;  // by address
    mutable Dwfl* session_ = nullptr;                 // from the first call of debugging() on
    mutable Dwarf* dwarf_ = nullptr;
    mutable bool is_read_ = false;
};

}  // namespace trn
