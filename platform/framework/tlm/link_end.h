// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trn {

/// The states of a link training and status state machine (LTSSM) that devices can observe. Values
/// are those of registers.
enum class link_state : std::uint8_t {
    detect,         ///< no device at the other end, or it has not requested the link
    polling,        ///< bit and symbol lock
    configuration,  ///< combines lanes into links
    l0,             ///< carries data
    recovery,       ///< changes speed or width
    disabled,       ///< this device or its partner switched the link off
    hot_reset
};
std::string_view to_string(link_state state);

/// Errors corrected by a link; devices count and report them.
enum class link_error : std::uint8_t {
    bad_packet,      ///< this end received a packet or flit with a bad CRC
    replay_rollover  ///< this end gave up a replay: the link retrains
};

/// State and control of a link for the device at one of its ends; see plug::link().
class link_end {
public:
    struct capability {
        unsigned generation;  ///< highest generation
        unsigned lanes;       ///< of each link
        unsigned links;       ///< equal links over which bytes are striped
    };
    struct status {
        link_state state;
        bool present;         ///< there is a device at the other end
        unsigned generation;  ///< of the present speed; 0 before there is one
        unsigned lanes;       ///< of the narrowest working link
        unsigned links;       ///< working links
        unsigned all_lanes;   ///< sum over all links
        bool degraded;        ///< fewer lanes or links than the maximum
    };
    /// Counts since power-on or the last clear_counters().
    struct counters {
        std::uint64_t sent;              ///< bytes on the wire: payload, headers, coding
        std::uint64_t received;          ///< like sent
        std::uint64_t payload_sent;      ///< bytes moved by programs
        std::uint64_t payload_received;  ///< like payload_sent
        std::uint64_t replays;           ///< flits or packets received with a bad CRC, sent again
        std::uint64_t rollovers;         ///< replays given up: the link retrained
        std::uint64_t downs;             ///< exits from L0 without a request
    };

    virtual capability can() const = 0;
    virtual status state() const = 0;
    virtual counters count() const = 0;
    virtual void clear_counters() = 0;
    /// Whether an access that starts now arrives at the other end.
    virtual bool up() const = 0;
    /// Current raw bytes per second per direction; 0 while the link is down.
    virtual std::uint64_t bytes_per_second() const = 0;

    /// Requests the link at this generation or lower (0: any). Training starts after both ends have
    /// requested it; plug::device::link_changed() reports its end to both. A link that is up only
    /// changes its speed, if necessary.
    virtual void train(unsigned highest_generation) = 0;
    /// Withdraws the request: the link is down for both ends.
    virtual void disable() = 0;
    /// The device loses its power or port: like disable(), but counted as unrequested.
    virtual void lose() = 0;
    /// Resets the link: it is down, and both ends train again.
    virtual void hot_reset() = 0;

protected:
    ~link_end() = default;
};

}  // namespace trn
