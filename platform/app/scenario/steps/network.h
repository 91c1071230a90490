// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sw-stubs/driver/include/trn_rdma.h"
#include "sw-stubs/host/machine/host_set.h"
#include "sw-stubs/host/values/pattern.h"

namespace trn::scenario {

enum class network_operation : std::uint8_t { write, read };
/// The partner of each card when all cards transfer: the next card, the card half the machine away,
/// or the first card, which is the partner of all others.
enum class network_pattern : std::uint8_t { next, half, first };

/// The EFA cards of a machine, each with a chip of its server. Transfers go from the HBM of one
/// chip to that of another through the two cards, without host memory.
class network {
public:
    struct load {
        network_operation operation = network_operation::write;
        std::uint64_t bytes = std::uint64_t{1} << 20;  ///< total per card
        /// size of a work request; requests use the same buffer
        std::uint64_t block = std::uint64_t{1} << 20;
    };
    using pairs = std::vector<std::pair<std::size_t, std::size_t>>;  ///< requester and partner

    /// Opens every card and registers its chip's memory. \throws device_error, also when the board
    /// has no cards
    network(host_set& hosts, std::uint64_t seed);

    std::size_t size() const { return cards_.size(); }
    /// The card's number. \throws device_error with TRN_UNKNOWN_DEVICE
    std::size_t find(const std::string& name) const;
    pairs all(network_pattern pattern) const;

    /// Runs the work requests of all pairs in parallel. Returns the simulated ns until the last one
    /// is complete, and the first error status or TRN_RDMA_OK. \throws device_error
    std::pair<std::uint64_t, std::uint32_t> run(const pairs& group, const load& transfer);
    /// Bytes per ns in the steady state, computed from the additional time for twice the bytes; 0:
    /// undefined. \throws device_error
    double sustained(const pairs& group, load transfer);
    /// Verifies the data of the last run through BAR4. \throws device_error
    void check(const pairs& group, const load& transfer);

private:
    struct card {
        std::string name;
        trn_rdma_card* open = nullptr;  ///< owned by the host_set
        /// the card's reset count when its objects were created; 0: none created
        std::uint32_t resets = 0;
        trn_rdma_queue* queue = nullptr;
        trn_rdma_gid gid{};
        std::uint16_t domain = 0;
        std::uint32_t key = 0;                              ///< key of the chip's registered memory
        std::map<std::size_t, std::uint16_t> handles = {};  ///< address handles by card number
        std::size_t chip = 0;                               ///< index in the host_set
        std::uint64_t memory = 0;      ///< bus address of the chip's first HBM stack
        std::uint64_t registered = 0;  ///< the address that `key` is for
    };
    void find_memories();
    /// Creates the objects of a card; again after the card was removed and inserted.
    void use(std::size_t number, const trn_transport& transport);
    void meet(std::size_t number, const pairs& group);
    void fill(const pairs& group, const load& transfer);
    pattern data_of(std::size_t card) const;
    /// `place`: offset of the data at its destination.
    std::uint32_t drive(std::size_t requester, std::size_t partner, const load& transfer,
                        std::uint64_t place);
    static std::map<std::size_t, std::uint64_t> places(const pairs& group, const load& transfer);
    static std::vector<std::size_t> requesters(const pairs& group);
    static std::vector<std::size_t> members(const pairs& group);

    host_set& hosts_;
    const std::uint64_t seed_;
    std::uint64_t runs_ = 0;
    std::vector<card> cards_;
};

}  // namespace trn::scenario
