// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/base_protocol.h"
#include "platform/framework/tlm/protocol_checks.h"

namespace trn {

/// Compares the calls through one socket or plug with the rules of base_protocol.h. Only reads:
/// checked and unchecked runs are the same.
class protocol_checker {
public:
    protocol_checker(const sc_core::sc_object& socket, protocol rules);
    ~protocol_checker();
    protocol_checker(const protocol_checker&) = delete;
    protocol_checker& operator=(const protocol_checker&) = delete;

    /// Interfaces that check each call and forward it.
    tlm::tlm_fw_transport_if<>* around(tlm::tlm_fw_transport_if<>* target);
    tlm::tlm_bw_transport_if<>* around(tlm::tlm_bw_transport_if<>* initiator);

    // The calls, which `forward` makes.

    /// b_transport, or another function with this name and the same contract.
    template <class Forward>
    void transport(std::string_view call, tlm::tlm_generic_payload& payload,
                   sc_core::sc_time& delay, Forward&& forward) {
        const blocking_call begun(*this, call, payload, delay);
        forward();
        begun.end(delay);
    }
    template <class Forward>
    unsigned debug(std::string_view call, tlm::tlm_generic_payload& payload, Forward&& forward) {
        const attributes before(payload);
        begin_debug(call, payload);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        const unsigned count = forward();
        end_debug(call, payload, before, begin, count);
        return count;
    }
    template <class Forward>
    bool pointer(std::string_view call, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi,
                 Forward&& forward) {
        const attributes before(payload, false);  // the data pointer has no meaning in the call
        begin_pointer(call, payload, dmi);
        const bool is_granted = forward();
        end_pointer(call, payload, before, dmi, is_granted);
        return is_granted;
    }
    template <class Forward>
    void invalidation(std::string_view call, std::uint64_t first, std::uint64_t last,
                      Forward&& forward) {
        if (first > last) report_range(call, first, last);
        const inside_invalidation during;
        forward();
    }

private:
    class forward_calls;
    class backward_calls;

    /// What only the initiator may set, and what is restored.
    struct attributes {
        static constexpr std::size_t max_extensions = 32, max_bytes = 64;

        explicit attributes(const tlm::tlm_generic_payload& payload, bool has_data = true);

        tlm::tlm_command command;
        std::uint64_t address;
        const unsigned char* data;
        unsigned length;
        const unsigned char* enables;
        unsigned enables_length, streaming_width;
        tlm::tlm_gp_option option;
        tlm::tlm_response_status status;
        bool is_managed;
        std::array<const tlm::tlm_extension_base*, max_extensions> extensions;
        std::size_t kept = 0;
        std::array<unsigned char, max_bytes> bytes;  // the first `kept` ones, unless they are read
    };
    /// A call of b_transport that has not returned.
    struct active {
        const tlm::tlm_generic_payload* payload;
        sc_core::sc_process_handle caller;
    };
    class blocking_call {
    public:
        blocking_call(protocol_checker& owner, std::string_view call,
                      tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
        ~blocking_call();
        blocking_call(const blocking_call&) = delete;
        blocking_call& operator=(const blocking_call&) = delete;
        void end(const sc_core::sc_time& delay) const;

    private:
        protocol_checker& owner_;
        const std::string_view call_;
        tlm::tlm_generic_payload& payload_;
        const attributes before_;
        const sc_core::sc_time now_, local_;
        const std::uint64_t delta_;
    };
    class inside_invalidation {
    public:
        inside_invalidation() { ++depth; }
        ~inside_invalidation() { --depth; }
        inside_invalidation(const inside_invalidation&) = delete;
        inside_invalidation& operator=(const inside_invalidation&) = delete;
        static inline unsigned depth = 0;
    };
    /// A transaction of non-blocking calls.
    struct exchange {
        attributes begin;
        tlm::tlm_phase phase;
        sc_core::sc_time local;  // latest annotated time, absolute
    };

    void report(const base_protocol::rule& broken, std::string_view call,
                const tlm::tlm_generic_payload* payload, std::string_view detail = {}) const;
    void report_range(std::string_view call, std::uint64_t first, std::uint64_t last) const;

    void check_begin(std::string_view call, const tlm::tlm_generic_payload& payload) const;
    void check_request(std::string_view call, const tlm::tlm_generic_payload& payload,
                       const sc_core::sc_time& delay) const;
    void check_unchanged(std::string_view call, const tlm::tlm_generic_payload& payload,
                         const attributes& before, bool is_address_restored) const;
    void check_extensions(std::string_view call, const tlm::tlm_generic_payload& payload,
                          const attributes& before) const;
    void begin_debug(std::string_view call, const tlm::tlm_generic_payload& payload) const;
    void end_debug(std::string_view call, const tlm::tlm_generic_payload& payload,
                   const attributes& before, const sc_core::sc_time& begin, unsigned count) const;
    void begin_pointer(std::string_view call, const tlm::tlm_generic_payload& payload,
                       const tlm::tlm_dmi& dmi) const;
    void end_pointer(std::string_view call, const tlm::tlm_generic_payload& payload,
                     const attributes& before, const tlm::tlm_dmi& dmi, bool is_granted) const;

    tlm::tlm_sync_enum forward(tlm::tlm_fw_transport_if<>& target,
                               tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay);
    tlm::tlm_sync_enum backward(tlm::tlm_bw_transport_if<>& initiator,
                                tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
    tlm::tlm_sync_enum call_forward(tlm::tlm_fw_transport_if<>& target,
                                    tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay);
    void check_managed(std::string_view call, const tlm::tlm_generic_payload& payload) const;
    void begin_request(std::string_view call, const tlm::tlm_generic_payload& payload,
                       const sc_core::sc_time& delay);
    void end_response(std::string_view call, const tlm::tlm_generic_payload& payload);
    void take_answer(std::string_view call, const tlm::tlm_generic_payload& payload,
                     const tlm::tlm_phase& phase, const sc_core::sc_time& delay);
    void complete(const tlm::tlm_generic_payload& payload);
    void advance(std::string_view call, const tlm::tlm_generic_payload& payload,
                 const sc_core::sc_time& delay);
    void check_exchange(std::string_view call, const tlm::tlm_generic_payload& payload) const;

    const sc_core::sc_object& socket_;
    const protocol rules_;
    std::list<std::unique_ptr<forward_calls>> targets_;
    std::list<std::unique_ptr<backward_calls>> initiators_;
    std::vector<active> active_;
    std::map<const tlm::tlm_generic_payload*, exchange> exchanges_;
    const tlm::tlm_generic_payload* request_ = nullptr;   // between BEGIN_REQ and END_REQ
    const tlm::tlm_generic_payload* response_ = nullptr;  // between BEGIN_RESP and END_RESP
};

}  // namespace trn
