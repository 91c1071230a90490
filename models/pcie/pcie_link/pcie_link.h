// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/pcie_link/credits.h"
#include "models/pcie/pcie_link/ltssm.h"
#include "models/pcie/pcie_link/signalling.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/route.h"

namespace trn {

/// A cable or trace between two plugs: lanes, speeds, training, flits, replay, credits, faults.
/// Transactions pass unchanged. A write uses the outward direction; a read uses the return
/// direction, and the outward one for its requests. Spec: doc/models/pcie/pcie_link.md.
class pcie_link : public sc_core::sc_module,
                  public plug::device,
                  public publishes_statistics,
                  public publishes_signals,
                  public accepts_faults {
public:
    struct config {
        link_protocol protocol = link_protocol::pcie;
        unsigned generation = 6;  ///< highest speed; UALink has only 1
        unsigned lanes = 8;       ///< per link
        unsigned links = 1;       ///< number of equal links that share the data
        sc_core::sc_time latency{100, sc_core::SC_NS};  ///< per crossing
        unsigned max_payload = 256;                     ///< bytes of data per packet
        unsigned max_read_request = 512;                ///< bytes per read request
        // Credits per link, of PCIe's six pools.
        std::uint64_t posted_headers = 512, posted_data = 64 << 10;  ///< data in bytes
        std::uint64_t non_posted_headers = 512, non_posted_data = 4 << 10;
        std::uint64_t completion_headers = 512, completion_data = 64 << 10;
        sc_core::sc_time detect_time{20, sc_core::SC_US};
        sc_core::sc_time polling_time{30, sc_core::SC_US};
        sc_core::sc_time configuration_time{10, sc_core::SC_US};
        sc_core::sc_time recovery_time{20, sc_core::SC_US};  ///< per change of speed
        sc_core::sc_time replay_time{100, sc_core::SC_NS};   ///< per bad CRC, for one direction
        double crc_rate = 0;         ///< probability of a bad flit (of a bad packet before Gen6)
        bool needs_training = true;  ///< the link is down until both devices request training
    };
    static constexpr unsigned max_links = 32;
    /// Limit of crc_rate: with more errors a link would not stay up.
    static constexpr double max_errors = 0.1;
    static std::optional<std::string> check(const config& cfg);

    plug a{"a", *this, 0}, b{"b", *this, 1};

    SC_HAS_PROCESS(pcie_link);
    pcie_link(sc_core::sc_module_name name, const config& cfg);

    bool up() const { return machine_.runs() && sc_core::sc_time_stamp() >= accepts_from_; }
    const config& settings() const { return cfg_; }
    /// Bytes on the wire for `payload` bytes in `packets` packets, at the current speed.
    std::uint64_t wire_bytes(std::uint64_t payload, std::uint64_t packets) const;
    /// Raw bytes per second of a direction at the current speed and width.
    std::uint64_t raw_rate() const;
    /// The end of the link at device 0 (plug `a`) or 1 (plug `b`).
    link_end& end(unsigned side) { return ends_[side]; }

    void publish(statistics& out) const override;
    void publish_signals(signal_list& out) const override;
    std::vector<fault> faults() override;

private:
    struct direction {  // index 0: from a to b
        explicit direction(const config& cfg);
        bandwidth_resource wire;
        std::array<credit_flow, packet_classes> flows;
        std::uint64_t payload = 0, packets = 0, replays = 0, rollovers = 0;
        // Number of good units before the next bad one, if errors are enabled.
        std::uint64_t good_units = 0;
    };
    /// The link for requests from one side.
    struct way final : crossing {
        pcie_link* link = nullptr;
        unsigned side = 0;
        sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t address,
                                 std::uint64_t bytes, const sc_core::sc_time& start) override;
        void held_until(tlm::tlm_command command, const sc_core::sc_time& taken) override;
        void crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_core::sc_time& start,
                     const sc_core::sc_time& until) override;
        /// For configuration writes: non-posted requests with data.
        sc_core::sc_time reserve_non_posted_write(std::uint64_t bytes,
                                                  const sc_core::sc_time& start);
    };
    struct bad {
        std::uint64_t units = 0;
        bool rollover = false;  ///< a flit exceeded the replay limit: the sender retrains the link
    };
    struct seen_end final : link_end {
        pcie_link* link = nullptr;
        unsigned side = 0;
        counters cleared{};  // the link's counts when this end cleared its own
        capability can() const override;
        status state() const override { return link->state_of(side); }
        counters count() const override;
        void clear_counters() override;
        bool up() const override { return link->up(); }
        std::uint64_t bytes_per_second() const override { return up() ? link->raw_rate() : 0; }
        void train(unsigned highest_generation) override { link->train(side, highest_generation); }
        void disable() override { link->disable(side); }
        void lose() override { link->lose(side); }
        void hot_reset() override { link->hot_reset(); }
    };

    // plug::device
    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, tlm::tlm_generic_payload& payload) override;
    bool asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                           tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;
    link_end* link_seen_from(plug& local) override { return &ends_[local.index()]; }

    void settled();
    plug& other(const plug& local) { return &local == &a ? b : a; }
    sc_core::sc_time carry(unsigned side, packet_class category, std::uint64_t payload,
                           std::uint64_t packets, const sc_core::sc_time& start);
    bad bad_units(direction& d, std::uint64_t units);
    sc_core::sc_time send_again(unsigned side, const bad& damaged, const sc_core::sc_time& through);
    std::uint64_t gap();
    unsigned working_links() const;
    unsigned working_lanes() const;
    const signalling& speed() const;
    void set_rates();

    void train(unsigned side, unsigned highest_generation);
    void disable(unsigned side);
    void lose(unsigned side);
    void hot_reset();
    link_end::status state_of(unsigned side) const;
    link_end::counters counts_of(unsigned side) const;
    unsigned wanted_generation() const;
    bool can_train() const;
    void start(bool reset_first = false);
    void recover(bool new_width);
    void go_down(link_state state);
    void lose_lanes(unsigned link, unsigned lanes);

    const config cfg_;
    ltssm machine_;
    std::array<direction, 2> directions_;
    std::array<way, 2> ways_;       // by the side of the requester
    std::array<seen_end, 2> ends_;  // by side
    sc_core::sc_event over_;        // ends training, or a change of speed or width
    sc_core::sc_time accepts_from_;

    std::array<bool, 2> asked_{};
    std::array<unsigned, 2> highest_{};  // highest generation that each side supports
    std::vector<std::uint8_t> lost_;     // failed lanes of each link
    std::vector<std::uint8_t> widths_;   // lanes in use of each link
    bool broken_ = false;                // fault: the cable is broken
    sc_core::sc_time broken_until_;      // fault: the cable is broken for a time
    unsigned speed_limit_;               // equalisation fails at higher speeds
    double crc_rate_;
    struct corruption {
        unsigned count;  // number of transfers
        unsigned times;  // consecutive failures of each
    };
    std::deque<corruption> corrupt_;  // the next transfers, in order
    std::uint64_t downs_ = 0, refused_ = 0;
    std::unique_ptr<std::mt19937_64> random_;  // made only for links with errors
};

}  // namespace trn
