// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/app/linux_symbols/guest_memory.h"
#include "platform/framework/loader/btf.h"

namespace trn {

/// A kernel module that is loaded, or whose initialization runs.
struct loaded_module {
    std::uint64_t address = 0;  ///< of its struct module
    std::string name;           ///< with '_', as /proc/modules has it
    std::map<std::string, std::uint64_t, std::less<>> sections;  ///< addresses; not those freed
    bool operator==(const loaded_module&) const = default;
};

/// Reads the kernel's list of modules.
class module_list {
public:
    static constexpr std::size_t max_modules = 1024, max_sections = 512, max_name = 128;

    /// \throws btf_error when the types lack a member that is needed
    explicit module_list(const btf& types);

    /// `head`: the address of the kernel's `modules`. A list that cannot be read ends there.
    std::vector<loaded_module> read(const guest_memory& memory, std::uint64_t head) const;

private:
    struct range {
        std::uint64_t first, size;
    };

    loaded_module module_at(const guest_memory& memory, std::uint64_t address) const;
    std::vector<range> memory_of(const guest_memory& memory, std::uint64_t address) const;

    std::uint64_t list_, name_, name_size_, state_, unformed_, memory_, memory_size_, memory_count_,
        base_, size_, attributes_, count_, first_, attribute_size_, section_name_, section_address_;
};

}  // namespace trn
