// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::pcie {

/// Host memory as one function accesses it: ranges that the client shares by a descriptor (copied
/// directly, with DMI), and ranges accessed by messages (writes are posted, reads are deferred).
/// Addresses outside of all ranges return TLM_ADDRESS_ERROR_RESPONSE.
class host_memory {
public:
    using range = function_port::host_range;

    static constexpr unsigned max_questions = 64;           ///< limit of message reads in progress
    static constexpr std::uint32_t max_question = 1 << 20;  ///< limit of a message access, bytes

    bool map(const range& added);
    bool unmap(std::uint64_t iova, std::uint64_t size,
               const std::function<void(const range&)>& forgotten);
    void watch(traffic_watcher* watcher) { watcher_ = watcher; }
    void carry(host_messages* carrier);
    void carrier_ready();

    /// Whether a range contains this address.
    bool has(std::uint64_t address) const { return find(address) != ranges_.end(); }
    /// Whether the address is in a range shared by a descriptor.
    bool shares(std::uint64_t address) const {
        const auto found = find(address);
        return found != ranges_.end() && found->second.bytes != nullptr;
    }
    void transport(tlm::tlm_generic_payload& payload);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

    std::uint64_t unmapped_accesses() const { return unmapped_accesses_; }
    std::uint64_t questions() const { return last_ticket_; }  ///< number of message reads so far
    std::size_t ranges() const { return ranges_.size(); }

private:
    /// One message read, from the first attempt until its data is fetched or it is abandoned.
    struct question {
        explicit question(std::function<void()> unused) : asker(std::move(unused)) {}

        std::uint64_t ticket = 0;
        std::uint64_t iova = 0;
        bool answered = false;
        std::vector<std::uint8_t> data;  // empty after an answer: the client refused
        deferral asker;                  // unused: the slot is free
    };
    enum class reach { nowhere, forbidden, direct, messages };

    using ranges_by_iova = std::map<std::uint64_t, range>;
    ranges_by_iova::const_iterator find(std::uint64_t address) const;
    reach span(std::uint64_t address, std::uint64_t length, bool write) const;
    bool copy(std::uint64_t address, std::uint8_t* bytes, std::uint64_t length, bool write) const;
    void move(tlm::tlm_generic_payload& payload);
    bool was_freed(std::uint64_t address) const;
    bool lend(tlm::tlm_generic_payload& payload) const;
    void exchange(tlm::tlm_generic_payload& payload);
    void ask(tlm::tlm_generic_payload& payload);
    static void take_answer(tlm::tlm_generic_payload& payload, question& asked);
    question* free_question();
    question* question_of(const tlm::tlm_generic_payload& payload);
    void answer(std::uint64_t ticket, std::span<const std::uint8_t> bytes);

    static constexpr std::size_t max_freed = 64;

    ranges_by_iova ranges_;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> freed_;  // first and last byte; latest last
    // the next access is often in the same range
    mutable ranges_by_iova::const_iterator last_hit_ = ranges_.end();
    traffic_watcher* watcher_ = nullptr;
    host_messages* carrier_ = nullptr;
    std::array<std::unique_ptr<question>, max_questions> questions_;  // allocated on demand
    std::uint64_t last_ticket_ = 0;
    deferral room_;  // accesses that wait for a free slot or for room in the carrier
    std::uint64_t unmapped_accesses_ = 0;
};

}  // namespace trn::pcie
