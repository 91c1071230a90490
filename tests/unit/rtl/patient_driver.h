// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/rtl/outgoing_access.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::test {

/// An initiator for designs: repeats what is deferred, while simulated time advances.
class patient_driver : public sc_core::sc_module, private rtl::blocking_initiator {
public:
    tlm::tlm_initiator_socket<64> out{"out"};

    explicit patient_driver(sc_core::sc_module_name name) : sc_module(name) { out.bind(*this); }

    /// Sends a payload; returns its response.
    tlm::tlm_response_status send(tlm::tlm_generic_payload& payload) {
        if (!sc_core::sc_is_running()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        for (;;) {
            payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            payload.set_dmi_allowed(false);
            payload.set_extension(&pending_);
            pending_.attempt(payload);
            delay = sc_core::SC_ZERO_TIME;
            out->b_transport(payload, delay);
            payload.clear_extension(&pending_);
            took = sc_core::sc_time_stamp() - begin;
            if (!pending_.is_deferred()) return response = payload.get_response_status();
            if (took > limit) return response = tlm::TLM_INCOMPLETE_RESPONSE;
            sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_NS));
        }
    }
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* bytes,
                                    std::size_t length) {
        tlm::tlm_generic_payload payload;
        set_access(payload, command, address, bytes, length);
        return send(payload);
    }
    template <typename T>
    tlm::tlm_response_status write(std::uint64_t address, T value) {
        return access(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
    }
    template <typename T = std::uint32_t>
    T read(std::uint64_t address) {
        T value{};
        access(tlm::TLM_READ_COMMAND, address, &value, sizeof value);
        return value;
    }
    unsigned debug_read(std::uint64_t address, std::span<std::uint8_t> to) {
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_READ_COMMAND, address, to.data(), to.size());
        return out->transport_dbg(payload);
    }

    tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
    sc_core::sc_time delay, took;
    sc_core::sc_time limit{1, sc_core::SC_MS};

private:
    sc_core::sc_event wake_;
    pending_access pending_{wake_};
};

/// Thousands of random accesses to a part of a memory, which no other initiator uses, compared with
/// a copy of it.
class random_traffic : public sc_core::sc_module, private rtl::blocking_initiator {
public:
    struct plan {
        std::uint64_t first = 0, bytes = 0;
        unsigned accesses = 0, longest = 0;
        bool has_enables = false;
        unsigned alignment = 1;
    };
    tlm::tlm_initiator_socket<64> out{"out"};

    random_traffic(sc_core::sc_module_name name, const plan& what);

    unsigned done = 0, wrong = 0, failed = 0;

private:
    void run();
    void one();
    void access(tlm::tlm_generic_payload& payload);
    std::uint64_t random(std::uint64_t below);

    const plan plan_;
    std::vector<std::uint8_t> copy_;
    sc_core::sc_event wake_;
    pending_access pending_{wake_};
    std::uint64_t state_;
};

}  // namespace trn::test
