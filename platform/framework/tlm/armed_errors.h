// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tlm>

namespace trn {

/// Effect of an error of a memory's cells. Corrected: counted at the next read, then gone.
/// Uncorrected and repairable: every read of the atom fails until it is written whole, or,
/// repairable, until the memory is repaired.
enum class memory_error { corrected, uncorrected, repairable };

/// The errors that tests and scenarios arm in a memory. Pages with errors in them are no direct
/// memory, so that each access is seen.
class armed_errors {
public:
    static constexpr std::uint64_t atom = 32;    ///< bytes that one code word protects
    static constexpr std::uint64_t page = 4096;  ///< bytes that an error takes out of DMI

    struct range {
        std::uint64_t first, last;
    };

    bool empty() const { return armed_.empty(); }
    void clear() { armed_.clear(); }
    /// In the atom at `offset`. Returns the range whose direct pointers are to be invalidated.
    range arm(memory_error error, std::uint64_t offset);
    void repair();

    /// Whether the access succeeds. Calls `met` with each error of a read and its offset.
    bool pass(const tlm::tlm_generic_payload& payload,
              const std::function<void(memory_error, std::uint64_t)>& met);

    /// The pages around `address` without errors, of a memory that ends at `size`; none if there is
    /// one in its own.
    std::optional<range> clean_around(std::uint64_t address, std::uint64_t size) const;

private:
    std::map<std::uint64_t, memory_error> armed_;  // by offset of the atom
};

}  // namespace trn
