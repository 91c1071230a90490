// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tlm>
#include <utility>

namespace trn {

/// Effect of a memory cell error. Corrected: counted at the next read, then cleared. Uncorrected
/// and repairable: each read of the atom fails until the whole atom is written or, if repairable,
/// until the memory is repaired.
enum class memory_error { corrected, uncorrected, repairable };

/// Errors injected into a memory by tests and scenarios. Pages with errors grant no DMI, so that
/// each access is checked.
class armed_errors {
public:
    static constexpr std::uint64_t atom = 32;    ///< bytes protected by one code word
    static constexpr std::uint64_t page = 4096;  ///< granularity at which errors disable DMI, bytes

    struct range {
        std::uint64_t first, last;
    };

    /// `revoke` revokes the direct pointers to a range of the memory, and refusals of pointers: an
    /// error begins or ends.
    armed_errors(std::uint64_t size, std::function<void(range)> revoke)
        : all_{0, size - 1}, revoke_(std::move(revoke)) {}

    bool empty() const { return armed_.empty(); }
    /// The caller revokes all pointers.
    void clear() { armed_.clear(); }
    /// Injects an error in the atom at `offset`.
    void arm(memory_error error, std::uint64_t offset);
    void repair();

    /// Returns whether the access succeeds. Calls `met` with each error in a read and its offset.
    bool pass(const tlm::tlm_generic_payload& payload,
              const std::function<void(memory_error, std::uint64_t)>& met);

    /// The error-free pages around `address`, in a memory of `size` bytes; nullopt if the page of
    /// `address` has errors.
    std::optional<range> clean_around(std::uint64_t address, std::uint64_t size) const;

private:
    bool check(const tlm::tlm_generic_payload& payload,
               const std::function<void(memory_error, std::uint64_t)>& met);

    const range all_;
    const std::function<void(range)> revoke_;
    std::map<std::uint64_t, memory_error> armed_;  // by the atom's offset
};

}  // namespace trn
