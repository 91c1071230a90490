// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trn {

/// BTF that cannot be read; what() is a sentence.
class btf_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Layouts of the types of a Linux kernel, from its BPF Type Format (the kernel's
/// Documentation/bpf/btf.rst).
class btf {
public:
    /// Reads the header and the list of types. \throws btf_error
    explicit btf(std::span<const std::uint8_t> data);

    struct place {
        std::uint64_t offset = 0;          ///< bytes from the start of the structure
        std::uint64_t size = 0;            ///< of the member; of an array, of an element
        std::uint64_t count = 1;           ///< elements of an array
        std::uint32_t type = 0;            ///< of the member; of an array, of an element
        std::optional<unsigned> bit = {};  ///< of a bit field

        bool operator==(const place&) const = default;
    };
    /// The member of a structure by its path, also through unnamed structures and unions:
    /// find("module", "mkobj.kobj"). Nothing when there is none.
    std::optional<place> find(std::string_view structure, std::string_view path) const;
    /// Size of a structure or union.
    std::optional<std::uint64_t> size_of(std::string_view structure) const;
    /// The value of an enumerator of any enumeration.
    std::optional<std::int64_t> enumerator(std::string_view name) const;

private:
    struct type {
        std::uint32_t name, info, size_or_type;
        std::size_t details;  // offset of what follows in the types

        unsigned kind() const { return info >> 24 & 0x1f; }
        std::uint32_t length() const { return info & 0xffff; }
        bool has_bit_fields() const { return info >> 31 != 0; }
    };

    std::string_view text(std::uint32_t offset) const;
    std::uint32_t word(std::size_t offset) const;
    const type* structure_named(std::string_view name) const;
    const type* stripped(std::uint32_t id) const;
    std::uint64_t size_of(std::uint32_t id, unsigned depth) const;
    std::optional<place> member(const type& in, std::string_view name, unsigned depth,
                                std::size_t& left) const;
    place place_of(std::uint32_t id) const;

    std::vector<std::uint8_t> types_;
    std::string strings_;
    std::vector<type> all_;  // by id - 1
    std::unordered_map<std::string_view, std::uint32_t> structures_;
};

}  // namespace trn
