// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

namespace acme {

using sc_core::sc_time;

/// An approximately-timed memory controller with a socket of 128 bits: four phases, `depth`
/// requests at a time (END_REQ of a later one waits), banks that work in parallel, responses in the
/// order in which banks complete.
class ddr : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t size = 1 << 20;
        unsigned depth = 4;
        sc_time accept{4, sc_core::SC_NS}, bank_hit{20, sc_core::SC_NS},
            bank_miss{60, sc_core::SC_NS};
        bool is_mute = false;          ///< takes requests, and never responds
        bool breaks_protocol = false;  ///< sends each BEGIN_RESP twice
    };
    static constexpr unsigned banks = 4;
    static constexpr std::uint64_t row_bytes = 1024;

    tlm_utils::simple_target_socket<ddr, 128> in{"in"};

    ddr(sc_core::sc_module_name name, const config& cfg)
        : sc_module(name), cfg_(cfg), bytes_(cfg.size) {
        in.register_nb_transport_fw(this, &ddr::nb_transport_fw);
        in.register_transport_dbg(this, &ddr::transport_dbg);
    }

    unsigned max_open() const { return max_open_; }
    unsigned open() const { return open_; }
    std::uint64_t responses() const { return responses_; }

private:
    using payload = tlm::tlm_generic_payload;
    struct bank {
        std::uint64_t row = ~std::uint64_t{0};
        sc_time free_at;
    };

    tlm::tlm_sync_enum nb_transport_fw(payload& request, tlm::tlm_phase& phase, sc_time& delay) {
        if (phase == tlm::BEGIN_REQ) request.acquire();
        queue_.notify(request, phase, delay);
        return tlm::TLM_ACCEPTED;
    }
    void reached(payload& request, const tlm::tlm_phase& phase) {
        if (phase == tlm::BEGIN_REQ) {
            if (open_ == cfg_.depth)
                held_ = &request;
            else
                take(request);
        } else if (phase == tlm::END_RESP) {
            ended(request);
        } else if (phase == tlm::BEGIN_RESP) {
            done_.push_back(&request);
            respond();
        }
    }
    void take(payload& request) {
        max_open_ = std::max(max_open_, ++open_);
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_time delay = cfg_.accept;
        in->nb_transport_bw(request, phase, delay);
        if (!cfg_.is_mute) queue_.notify(request, tlm::BEGIN_RESP, access_time(request));
    }
    sc_time access_time(const payload& request) {
        const std::uint64_t row = request.get_address() / row_bytes;
        bank& used = banks_[row % banks];
        const sc_time now = sc_core::sc_time_stamp() + cfg_.accept;
        used.free_at =
            std::max(used.free_at, now) + (used.row == row ? cfg_.bank_hit : cfg_.bank_miss);
        used.row = row;
        return used.free_at - sc_core::sc_time_stamp();
    }
    void respond() {
        while (responding_ == nullptr && !done_.empty()) {
            responding_ = done_.front();
            done_.pop_front();
            execute(*responding_);
            payload& sent = *responding_;
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_time delay;
            const auto taken = in->nb_transport_bw(sent, phase, delay);
            if (cfg_.breaks_protocol) {
                phase = tlm::BEGIN_RESP;
                in->nb_transport_bw(sent, phase, delay);
            }
            if (taken == tlm::TLM_COMPLETED ||
                (taken == tlm::TLM_UPDATED && phase == tlm::END_RESP))
                ended(sent);
        }
    }
    void ended(payload& request) {
        responding_ = nullptr;
        ++responses_;
        --open_;
        request.release();
        if (held_ != nullptr) take(*std::exchange(held_, nullptr));
        if (!done_.empty()) queue_.notify(*pop(), tlm::BEGIN_RESP, sc_core::SC_ZERO_TIME);
    }
    payload* pop() {
        payload* const next = done_.front();
        done_.pop_front();
        return next;
    }
    void execute(payload& request) {
        if (move(request))
            request.set_response_status(tlm::TLM_OK_RESPONSE);
        else
            request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    bool move(payload& request) {
        const std::uint64_t address = request.get_address();
        const unsigned length = request.get_data_length(), width = request.get_streaming_width();
        if (address >= bytes_.size() || std::min(length, width) > bytes_.size() - address)
            return false;
        const std::uint8_t* const enables = request.get_byte_enable_ptr();
        for (unsigned i = 0; i < length; ++i) {
            if (enables != nullptr &&
                enables[i % request.get_byte_enable_length()] != TLM_BYTE_ENABLED)
                continue;
            std::uint8_t& mine = bytes_[address + i % width];
            std::uint8_t& theirs = request.get_data_ptr()[i];
            (request.is_write() ? mine : theirs) = request.is_write() ? theirs : mine;
        }
        return true;
    }
    unsigned transport_dbg(payload& request) {
        return move(request) ? request.get_data_length() : 0;
    }

    const config cfg_;
    std::vector<std::uint8_t> bytes_;
    tlm_utils::peq_with_cb_and_phase<ddr> queue_{this, &ddr::reached};
    std::array<bank, banks> banks_;
    payload* held_ = nullptr;        // BEGIN_REQ is received, END_REQ waits for room
    payload* responding_ = nullptr;  // between BEGIN_RESP and END_RESP
    std::deque<payload*> done_;      // respond when the channel is free
    unsigned open_ = 0, max_open_ = 0;
    std::uint64_t responses_ = 0;
};

}  // namespace acme
