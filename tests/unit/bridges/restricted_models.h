// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/initiator.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::test {

/// An initiator of this project: a method that makes one access after the other.
class method_initiator : public sc_core::sc_module {
public:
    struct result {
        sc_core::sc_time end;  ///< with the annotated delay
        std::uint32_t word;
        memory_port::outcome outcome;
    };
    tlm_utils::simple_initiator_socket<method_initiator, 64> out{"out"};

    SC_HAS_PROCESS(method_initiator);
    explicit method_initiator(sc_core::sc_module_name name) : sc_module(name) {
        out.register_invalidate_direct_mem_ptr(this, &method_initiator::invalidate);
        SC_METHOD(run);
        sensitive << wake_;
        dont_initialize();
    }
    /// Adds an access, with an annotated delay.
    void access(tlm::tlm_command command, std::uint64_t address, std::uint32_t word = 0,
                const sc_core::sc_time& delay = {}) {
        to_do_.push_back({command, address, word, delay, {}});
        wake_.notify(sc_core::SC_ZERO_TIME);
    }
    void read(std::uint64_t address) { access(tlm::TLM_READ_COMMAND, address); }
    void write(std::uint64_t address, std::uint32_t word) {
        access(tlm::TLM_WRITE_COMMAND, address, word);
    }
    /// Drops all accesses, also the pending one.
    void reset() {
        to_do_.clear();
        pending_.abandon();
    }
    unsigned invalidations = 0;
    const initiator* identity = nullptr;  ///< for reports
    trace::operation operation = 0;       ///< of its accesses
    std::vector<result> results;
    memory_port port{out};

private:
    struct access_to_do {
        tlm::tlm_command command;
        std::uint64_t address;
        std::uint32_t word;
        sc_core::sc_time delay;
        std::optional<sc_core::sc_time> begins = {};  // of the first attempt, absolute
    };
    void run() {
        while (!to_do_.empty()) {
            access_to_do& next = to_do_.front();
            const sc_core::sc_time& now = sc_core::sc_time_stamp();
            if (!next.begins) next.begins = now + next.delay;
            sc_core::sc_time delay = *next.begins > now ? *next.begins - now : sc_core::sc_time();
            const trace::on_behalf_of it(operation);
            std::optional<acting> self;
            if (identity != nullptr) self.emplace(*identity);
            const auto outcome = port.access(next.command, next.address, &next.word,
                                             sizeof next.word, pending_, delay);
            if (outcome == memory_port::outcome::deferred) return;
            results.push_back({sc_core::sc_time_stamp() + delay, next.word, outcome});
            to_do_.pop_front();
        }
    }
    void invalidate(sc_dt::uint64, sc_dt::uint64) { ++invalidations; }

    sc_core::sc_event wake_;
    pending_access pending_{wake_};
    std::deque<access_to_do> to_do_;
};

/// Collects the texts of reports of a message type instead of printing them.
class report_log {
public:
    explicit report_log(const char* type) {
        type_ = type;
        texts_.clear();
        sc_core::sc_report_handler::set_actions(type, sc_core::SC_WARNING, sc_core::SC_LOG);
        sc_core::sc_report_handler::set_handler(&report_log::handle);
    }
    ~report_log() { sc_core::sc_report_handler::set_handler(nullptr); }
    report_log(const report_log&) = delete;
    report_log& operator=(const report_log&) = delete;

    const std::vector<std::string>& texts() const { return texts_; }

private:
    static void handle(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
        if (type_ == report.get_msg_type())
            texts_.emplace_back(report.get_msg());
        else
            sc_core::sc_report_handler::default_handler(report, actions);
    }
    static inline std::string type_;
    static inline std::vector<std::string> texts_;
};

}  // namespace trn::test
