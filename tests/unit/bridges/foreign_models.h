// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

/// Models as other projects write them, with the kit's sockets only.
namespace foreign {

using sc_core::sc_time;
using payload = tlm::tlm_generic_payload;

inline sc_time ns(double count) {
    return {count, sc_core::SC_NS};
}

/// An ignorable extension of a foreign project.
struct tag : tlm::tlm_extension<tag> {
    unsigned value = 0;
    tlm::tlm_extension_base* clone() const override { return new tag(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        value = static_cast<const tag&>(other).value;
    }
};

/// Reads or writes `bytes`, with byte enables and streaming.
inline void move_bytes(payload& request, std::vector<std::uint8_t>& bytes) {
    const unsigned length = request.get_data_length(), width = request.get_streaming_width();
    const std::uint64_t address = request.get_address();
    if (address + std::min(length, width) > bytes.size())
        return request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    const std::uint8_t* const enables = request.get_byte_enable_ptr();
    for (unsigned i = 0; i < length; ++i) {
        if (enables != nullptr && enables[i % request.get_byte_enable_length()] != TLM_BYTE_ENABLED)
            continue;
        std::uint8_t& mine = bytes[address + i % width];
        std::uint8_t& theirs = request.get_data_ptr()[i];
        if (request.is_write())
            mine = theirs;
        else
            theirs = mine;
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// What a target leaves in a payload against the rules, after it has moved the data.
struct flaws {
    bool leaves_no_response = false, changes_pointer = false;
    std::vector<std::uint8_t> other = std::vector<std::uint8_t>(64, 0xee);

    void apply(payload& request) {
        if (leaves_no_response) request.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        if (changes_pointer) request.set_data_ptr(other.data());
    }
};

/// A loosely-timed peripheral that waits for each access: first until the initiator's local time,
/// then for its latency. A write to the last word sets its interrupt.
class waiting_peripheral : public sc_core::sc_module {
public:
    static constexpr std::size_t size = 0x2000;
    tlm_utils::simple_target_socket<waiting_peripheral, 32> in{"in"};
    sc_core::sc_out<bool> irq{"irq"};

    SC_HAS_PROCESS(waiting_peripheral);
    explicit waiting_peripheral(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &waiting_peripheral::b_transport);
        in.register_transport_dbg(this, &waiting_peripheral::transport_dbg);
        in.register_get_direct_mem_ptr(this, &waiting_peripheral::get_direct_mem_ptr);
    }

    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(size);
    sc_time latency = ns(40), annotated;
    unsigned begun = 0, ended = 0, inside = 0, max_inside = 0;
    unsigned last_tag = 0;
    bool grants_pointers = false, grants_null = false, reports_errors = false;
    bool throws_exceptions = false;
    std::uint64_t granted_from = 0;
    flaws wrong;

private:
    void b_transport(payload& request, sc_time& delay) {
        if (reports_errors) SC_REPORT_ERROR("/acme/peripheral", "is broken");
        if (throws_exceptions) throw std::out_of_range("register 9");
        ++begun;
        max_inside = std::max(max_inside, ++inside);
        if (auto* const mine = request.get_extension<tag>()) last_tag = mine->value++;
        sc_core::wait(delay + latency);
        delay = annotated;
        move_bytes(request, bytes);
        if (request.is_write() && request.get_address() == size - 4)
            irq.write(bytes[size - 4] != 0);
        wrong.apply(request);
        --inside;
        ++ended;
    }
    unsigned transport_dbg(payload& request) {
        move_bytes(request, bytes);
        return request.is_response_ok() ? request.get_data_length() : 0;
    }
    bool get_direct_mem_ptr(payload&, tlm::tlm_dmi& dmi) {
        dmi.set_start_address(granted_from);
        dmi.set_end_address(size - 1);
        dmi.set_dmi_ptr(grants_null ? nullptr : bytes.data() + granted_from);
        dmi.allow_read_write();
        return grants_pointers;
    }
};

DECLARE_EXTENDED_PHASE(refresh_phase);

/// An approximately-timed memory controller. Checks the exclusion rule of requests, and keeps the
/// one of responses.
class phased_memory : public sc_core::sc_module {
public:
    enum class way {
        four_phases,
        early_end_of_request,  ///< TLM_UPDATED, END_REQ
        early_response,        ///< TLM_UPDATED, BEGIN_RESP
        completion,            ///< TLM_COMPLETED
        no_end_of_request,     ///< BEGIN_RESP without END_REQ
        extended_update,       ///< TLM_UPDATED with an extended phase, then four phases
        extended_call,         ///< an extended phase by nb_transport_bw, then four phases
        wrong_update,          ///< against the rules: TLM_UPDATED, BEGIN_REQ; then four phases
        wrong_value,           ///< against the rules: no value of the enumeration
        two_responses,         ///< against the rules: BEGIN_RESP, and then TLM_COMPLETED
    };
    tlm_utils::simple_target_socket<phased_memory, 64> in{"in"};

    explicit phased_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_nb_transport_fw(this, &phased_memory::nb_transport_fw);
    }

    way answers = way::four_phases;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x1000);
    sc_time accept_delay = ns(5), latency = ns(50);
    unsigned requests = 0, ends = 0, open = 0, max_open = 0, violations = 0;
    std::vector<sc_time> accepted_at;
    std::vector<tlm::tlm_sync_enum> extended_returns;
    flaws wrong;

private:
    tlm::tlm_sync_enum nb_transport_fw(payload& request, tlm::tlm_phase& phase, sc_time& delay) {
        if (phase == tlm::END_RESP) {
            response_ended(request);
            return tlm::TLM_COMPLETED;
        }
        if (phase != tlm::BEGIN_REQ || is_requested_) ++violations;
        ++requests;
        max_open = std::max(max_open, ++open);
        request.acquire();
        switch (answers) {
        case way::early_response:
            execute(request);
            phase = tlm::BEGIN_RESP;
            delay += latency;
            is_responding_ = true;
            return tlm::TLM_UPDATED;
        case way::completion:
            execute(request);
            delay += latency;
            response_ended(request);
            return tlm::TLM_COMPLETED;
        case way::two_responses:
            execute(request);
            call_back(request, tlm::BEGIN_RESP);
            response_ended(request);
            return tlm::TLM_COMPLETED;
        case way::early_end_of_request:
            queue_.notify(request, tlm::BEGIN_RESP, delay + latency);
            phase = tlm::END_REQ;
            delay += accept_delay;
            return tlm::TLM_UPDATED;
        default:
            is_requested_ = true;
            queue_.notify(request, phase, delay);
            if (answers == way::extended_update) phase = refresh_phase;
            if (answers == way::wrong_value) return static_cast<tlm::tlm_sync_enum>(3);
            return answers == way::extended_update || answers == way::wrong_update
                       ? tlm::TLM_UPDATED
                       : tlm::TLM_ACCEPTED;
        }
    }
    void reached(payload& request, const tlm::tlm_phase& phase) {
        if (phase == tlm::BEGIN_REQ) {
            if (answers == way::extended_call)
                extended_returns.push_back(call_back(request, refresh_phase));
            if (answers != way::no_end_of_request)
                queue_.notify(request, tlm::END_REQ, accept_delay);
            queue_.notify(request, tlm::BEGIN_RESP, latency);
        } else if (phase == tlm::END_REQ) {
            is_requested_ = false;
            accepted_at.push_back(sc_core::sc_time_stamp());
            call_back(request, tlm::END_REQ);
        } else {
            responses_.push_back(&request);
            respond();
        }
    }
    void execute(payload& request) {
        move_bytes(request, bytes);
        wrong.apply(request);
    }
    tlm::tlm_sync_enum call_back(payload& request, tlm::tlm_phase phase) {
        sc_time delay;
        return in->nb_transport_bw(request, phase, delay);
    }
    void respond() {
        if (is_responding_ || responses_.empty()) return;
        payload& next = *responses_.front();
        responses_.pop_front();
        execute(next);
        is_responding_ = true;
        if (answers == way::no_end_of_request) is_requested_ = false;
        if (call_back(next, tlm::BEGIN_RESP) != tlm::TLM_ACCEPTED) response_ended(next);
    }
    void response_ended(payload& request) {
        ++ends;
        --open;
        is_responding_ = false;
        request.release();
        respond();
    }

    tlm_utils::peq_with_cb_and_phase<phased_memory> queue_{this, &phased_memory::reached};
    bool is_requested_ = false, is_responding_ = false;
    std::deque<payload*> responses_;
};

/// A loosely-timed processor: a thread that runs ahead by the global quantum.
template <unsigned Width>
class thread_cpu : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<thread_cpu, Width> data{"data"};
    std::function<void(thread_cpu&)> program;

    SC_HAS_PROCESS(thread_cpu);
    explicit thread_cpu(sc_core::sc_module_name name) : sc_module(name) {
        keeper_.reset();
        SC_THREAD(run);
    }
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* bytes,
                                    unsigned length) {
        payload request;
        request.set_command(command);
        request.set_address(address);
        request.set_data_ptr(static_cast<unsigned char*>(bytes));
        request.set_data_length(length);
        request.set_streaming_width(length);
        sc_time delay = keeper_.get_local_time();
        data->b_transport(request, delay);
        keeper_.set(delay);
        if (keeper_.need_sync()) keeper_.sync();
        return request.get_response_status();
    }
    void execute(const sc_time& duration) { keeper_.inc(duration); }
    void write(std::uint64_t address, std::uint32_t word) {
        status = access(tlm::TLM_WRITE_COMMAND, address, &word, sizeof word);
    }
    std::uint32_t read(std::uint64_t address) {
        std::uint32_t word = 0;
        status = access(tlm::TLM_READ_COMMAND, address, &word, sizeof word);
        return word;
    }
    sc_time time() const { return keeper_.get_current_time(); }

    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    bool has_ended = false;

private:
    void run() {
        if (program) program(*this);
        has_ended = true;
    }
    tlm_utils::tlm_quantumkeeper keeper_;
};

/// An approximately-timed initiator: sends requests as fast as the target accepts them.
class phased_master : public sc_core::sc_module, private tlm::tlm_mm_interface {
public:
    enum class way {
        acceptance,  ///< TLM_ACCEPTED, and END_RESP later
        completion,  ///< TLM_COMPLETED
        update,      ///< TLM_UPDATED, END_RESP
    };
    struct response {
        sc_time time;
        std::uint32_t word;
        tlm::tlm_response_status status;
    };
    tlm_utils::simple_initiator_socket<phased_master, 64> out{"out"};

    SC_HAS_PROCESS(phased_master);
    explicit phased_master(sc_core::sc_module_name name) : sc_module(name) {
        out.register_nb_transport_bw(this, &phased_master::nb_transport_bw);
        SC_METHOD(advance);
        sensitive << work_;
        dont_initialize();
    }
    void send(tlm::tlm_command command, std::uint64_t address, std::uint32_t word = 0) {
        auto& added = transfers_.emplace_back(
            std::make_unique<transfer>(static_cast<tlm::tlm_mm_interface&>(*this), word));
        added->set_command(command);
        added->set_address(address);
        if (has_data) added->set_data_ptr(reinterpret_cast<unsigned char*>(&added->word));
        added->set_data_length(sizeof added->word);
        added->set_streaming_width(sizeof added->word);
        to_send_.push_back(added.get());
        work_.notify(sc_core::SC_ZERO_TIME);
    }

    way takes = way::acceptance;
    sc_time response_delay = ns(3);
    std::vector<response> responses;
    unsigned freed = 0, violations = 0;
    bool has_memory_manager = true, has_data = true;

private:
    struct transfer : payload {
        transfer(tlm::tlm_mm_interface& owner, std::uint32_t value)
            : payload(&owner), word(value) {}
        std::uint32_t word;
    };
    void free(payload*) override { ++freed; }
    void advance() {
        if (responding_ != nullptr) {
            tlm::tlm_phase phase = tlm::END_RESP;
            sc_time delay;
            out->nb_transport_fw(*responding_, phase, delay);
            done(*std::exchange(responding_, nullptr));
        }
        while (requested_ == nullptr && !to_send_.empty()) {
            requested_ = to_send_.front();
            to_send_.pop_front();
            if (has_memory_manager)
                requested_->acquire();
            else
                requested_->set_mm(nullptr);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay;
            const auto progress = out->nb_transport_fw(*requested_, phase, delay);
            if (progress == tlm::TLM_ACCEPTED) return;
            transfer& sent = *std::exchange(requested_, nullptr);
            if (progress == tlm::TLM_COMPLETED) done(sent);
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(payload& request, tlm::tlm_phase& phase, sc_time& delay) {
        auto& mine = static_cast<transfer&>(request);
        if (requested_ == &mine) {
            requested_ = nullptr;
            work_.notify(delay);
        }
        if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
        if (phase != tlm::BEGIN_RESP || responding_ != nullptr) ++violations;
        if (takes == way::acceptance) {
            responding_ = &mine;
            work_.notify(delay + response_delay);
            return tlm::TLM_ACCEPTED;
        }
        delay += response_delay;
        done(mine);
        if (takes == way::completion) return tlm::TLM_COMPLETED;
        phase = tlm::END_RESP;
        return tlm::TLM_UPDATED;
    }
    void done(transfer& ended) {
        responses.push_back({sc_core::sc_time_stamp(), ended.word, ended.get_response_status()});
        if (has_memory_manager) ended.release();
    }

    std::vector<std::unique_ptr<transfer>> transfers_;
    std::deque<transfer*> to_send_;
    transfer* requested_ = nullptr;
    transfer* responding_ = nullptr;
    sc_core::sc_event work_;
};

}  // namespace foreign
