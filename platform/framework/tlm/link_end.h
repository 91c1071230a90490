// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trn {

/// The states of a link training and status state machine (LTSSM) that a device can see. The
/// numbers are what registers show.
enum class link_state : std::uint8_t {
    detect,         ///< no device at the other end, or it has not requested the link
    polling,        ///< bit and symbol lock
    configuration,  ///< lanes become links
    l0,             ///< carries data
    recovery,       ///< changes speed or width
    disabled,       ///< this device or its partner switched the link off
    hot_reset
};
std::string_view to_string(link_state state);

/// Errors that a link corrects; a device counts and reports them.
enum class link_error : std::uint8_t {
    bad_packet,      ///< this end received a packet or flit with a bad CRC
    replay_rollover  ///< this end gave up a replay: the link trains again
};

/// The state and control of a link for the device at one of its ends, found by plug::link().
class link_end {
public:
    struct capability {
        unsigned generation;  ///< the highest
        unsigned lanes;       ///< of each link
        unsigned links;       ///< equal links over which bytes are striped
    };
    struct status {
        link_state state;
        bool present;         ///< there is a device at the other end
        unsigned generation;  ///< of the present speed; 0 before there is one
        unsigned lanes;       ///< of the narrowest link that works
        unsigned links;       ///< that work
        unsigned all_lanes;   ///< of all links together
        bool degraded;        ///< fewer lanes or links than it could have
    };
    /// From power-on or the last clear_counters().
    struct counters {
        std::uint64_t sent;              ///< bytes on the wire: payload, headers, coding
        std::uint64_t received;          ///< likewise
        std::uint64_t payload_sent;      ///< bytes that programs moved
        std::uint64_t payload_received;  ///< likewise
        std::uint64_t replays;           ///< flits or packets received with a bad CRC, sent again
        std::uint64_t rollovers;         ///< replays given up: the link trained again
        std::uint64_t downs;             ///< exits from L0 without a request
    };

    virtual capability can() const = 0;
    virtual status state() const = 0;
    virtual counters count() const = 0;
    virtual void clear_counters() = 0;
    /// Whether an access that starts now reaches the other end.
    virtual bool up() const = 0;
    /// Raw bytes per second of each direction, now; 0 while the link is down.
    virtual std::uint64_t bytes_per_second() const = 0;

    /// Requests the link at no more than this generation (0: any). Training starts once both ends
    /// have requested it; plug::device::link_changed() reports its end to both. A link that is up
    /// only changes its speed, if necessary.
    virtual void train(unsigned highest_generation) = 0;
    /// Withdraws the request: the link is down for both ends.
    virtual void disable() = 0;
    /// This device has lost its power or its port: down as after disable(), but unrequested.
    virtual void lose() = 0;
    /// Resets the link: it is down, and both ends train again.
    virtual void hot_reset() = 0;

protected:
    ~link_end() = default;
};

}  // namespace trn
