// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sw-stubs/host/machine/host_set.h"
#include "sw-stubs/host/machine/traffic.h"
#include "sw-stubs/host/text/names.h"

namespace trn {

/// Sources and destinations when all chips of a machine copy concurrently.
enum class traffic_pattern {
    local,        ///< each chip from its HBM to its own state buffers
    own_hbm,      ///< each chip from its HBM to its own HBM
    all_to_all,   ///< each chip to every other
    bisection,    ///< each chip to the one half the machine away
    incast,       ///< all chips to the first
    same_server,  ///< each chip to the next one of its server
    same_rack,    ///< each chip to the same chip of the next server in its rack
    other_rack,   ///< each chip to the one at its position in the other rack
    neighbours,   ///< each chip to all directly linked chips
};
/// Spelling on the command line: "same-server".
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

/// The chips of a machine, and copies that measure the paths between them. Several engines of the
/// source share a copy; an engine uses the stack and the window of its SENG.
class machine {
public:
    /// Parameters of a copy. Its source is written once, before.
    struct load {
        std::uint64_t bytes = std::uint64_t{1} << 20;  ///< of each copy
        std::uint32_t engines = 16;                    ///< number that share a copy
        std::uint64_t wrap = 0;  ///< bytes after which each engine starts again; 0: never
        std::uint32_t descriptor = TRN_DESCRIPTOR_BYTES;  ///< maximum bytes per descriptor
    };
    struct chip {
        std::string name;
        trn_place place{};
        trn_topology_kind topology{};
        std::uint32_t stacks = 0, cores = 0, engines = 0;  ///< engines of the cores
        std::uint64_t state_buffer = 0;                    ///< bytes of each core
        std::vector<trn_place> linked = {};                ///< chips at the ends of its links
    };
    struct result {
        std::uint64_t copies = 0, bytes = 0;
        std::uint64_t ns = 0;  ///< simulated, until the last chip's last marker
        double gb_per_s() const {
            return ns ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
        }
    };

    /// Probes and resets every chip and reads its place. \throws device_error
    explicit machine(host_set& hosts);
    /// Opens again the chips that have lost power since. \throws device_error
    void reopen();

    const std::vector<chip>& chips() const { return chips_; }

    /// A single copy. \throws device_error
    result copy(std::size_t source, std::size_t destination, const load& options) {
        return run({sender{source, {destination}}}, options);
    }
    /// A copy of 64 bytes by one engine, for latencies.
    result small_copy(std::size_t source, std::size_t destination);
    /// A result of 0 copies if the machine has no chips for the pattern.
    result run(traffic_pattern pattern, const load& options) {
        return run(senders(pattern), options);
    }
    /// Sustained rate of the pattern in bytes per ns, from the additional time of twice the bytes.
    double sustained(traffic_pattern pattern, const load& options);

    /// Compares the destination of the last copy from `source` to `destination` with its source,
    /// through BAR4 instead of the measured engines. \throws device_error
    void check(std::size_t source, std::size_t destination, const load& options);

private:
    struct sender {
        std::size_t source;
        std::vector<std::size_t> destinations;
        bool into_state_buffers = false;
    };
    std::vector<sender> senders(traffic_pattern pattern) const;
    std::vector<std::size_t> targets(std::size_t source, traffic_pattern pattern) const;
    std::vector<std::size_t> others(std::size_t source, traffic_pattern pattern) const;
    result run(const std::vector<sender>& senders, const load& options);
    void fill(device& chip, std::size_t source, const load& options) const;
    std::vector<traffic::stream> streams(device& chip, const sender& s, const load& options) const;

    host_set& hosts_;
    std::vector<chip> chips_;
};

}  // namespace trn
