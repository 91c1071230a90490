// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sw-stubs/host/host_set.h"
#include "sw-stubs/host/names.h"
#include "sw-stubs/host/traffic.h"

namespace trn {

/// Who copies to whom when all chips of a machine copy at the same time.
enum class traffic_pattern {
    local,        ///< each from its HBM into its own state buffers
    own_hbm,      ///< each from its HBM into its own HBM
    all_to_all,   ///< each to every other
    bisection,    ///< each to the one half the machine away
    incast,       ///< all to the first
    same_server,  ///< each to the next chip of its server
    same_rack,    ///< each to the chip of the same number in the next server of its rack
    other_rack,   ///< each to the chip of the same position in the other rack
    neighbours,   ///< each to every chip that one of its own links leads to
};
/// As a command line has it: "same-server".
std::string to_string(traffic_pattern pattern);

}  // namespace trn

template <>
struct trn::names_of<trn::traffic_pattern> {
    using enum traffic_pattern;
    static constexpr std::array list{
        named<traffic_pattern>{"local", local},
        named<traffic_pattern>{"own_hbm", own_hbm},
        named<traffic_pattern>{"all_to_all", all_to_all},
        named<traffic_pattern>{"bisection", bisection},
        named<traffic_pattern>{"incast", incast},
        named<traffic_pattern>{"same_server", same_server},
        named<traffic_pattern>{"same_rack", same_rack},
        named<traffic_pattern>{"other_rack", other_rack},
        named<traffic_pattern>{"neighbours", neighbours},
    };
};

namespace trn {

/// The chips of a machine and the copies that measure what is between them. A copy is shared by
/// engines of the source; an engine works on the stack and through the window of its SENG.
class machine {
public:
    /// How a copy is made. Its source is written before, once.
    struct load {
        std::uint64_t bytes = std::uint64_t{1} << 20;  ///< of each copy
        std::uint32_t engines = 16;                    ///< that share it
        std::uint64_t wrap = 0;  ///< each engine reuses so many bytes; 0: none twice
        std::uint32_t descriptor = TRN_DESCRIPTOR_BYTES;  ///< most bytes of one
    };
    struct chip {
        std::string name;
        trn_place place{};
        trn_topology_kind topology{};
        std::uint32_t stacks = 0, cores = 0, engines = 0;  ///< engines of the cores
        std::uint64_t state_buffer = 0;                    ///< bytes of each core
        std::vector<trn_place> linked = {};                ///< who is at the end of a link
    };
    struct result {
        std::uint64_t copies = 0, bytes = 0;
        std::uint64_t ns = 0;  ///< simulated, until the last chip has seen its last marker
        double gb_per_s() const {
            return ns ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
        }
    };

    /// Probes and resets every chip and asks its firmware where it is. \throws device_error
    explicit machine(host_set& hosts);

    const std::vector<chip>& chips() const { return chips_; }

    /// One copy by itself. \throws device_error
    result copy(std::size_t from, std::size_t to, const load& how) {
        return run({sender{from, {to}}}, how);
    }
    /// One engine copies 64 bytes: what a latency is.
    result small_copy(std::size_t from, std::size_t to);
    /// Nothing happens where the machine has no chips for the pattern.
    result run(traffic_pattern pattern, const load& how) { return run(senders(pattern), how); }
    /// Bytes per ns of the pattern when it has lasted: what twice the bytes take longer.
    double sustained(traffic_pattern pattern, const load& how);

    /// Compares what the last copy of this load brought from `from` to `to`; through BAR4, not by
    /// the engines that are measured. \throws device_error
    void check(std::size_t from, std::size_t to, const load& how);

private:
    struct sender {
        std::size_t from;
        std::vector<std::size_t> to;
        bool into_state_buffers = false;
    };
    std::vector<sender> senders(traffic_pattern pattern) const;
    std::vector<std::size_t> targets(std::size_t from, traffic_pattern pattern) const;
    std::vector<std::size_t> others(std::size_t from, traffic_pattern pattern) const;
    result run(const std::vector<sender>& senders, const load& how);
    void fill(device& on, std::size_t from, const load& how) const;
    std::vector<traffic::stream> streams(device& on, const sender& s, const load& how) const;

    host_set& hosts_;
    std::vector<chip> chips_;
};

}  // namespace trn
