// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/protocol_checker.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "platform/framework/tlm/checked_sockets.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/router.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/support/tlm_driver.h"

using namespace trn;
using namespace trn::test;
using sc_core::sc_time;
using tlm::tlm_generic_payload;
using tlm::tlm_phase;
namespace rules = base_protocol::rules;

namespace {

sc_time ns(double value) {
    return {value, sc_core::SC_NS};
}

struct owned_extension : tlm::tlm_extension<owned_extension> {
    tlm::tlm_extension_base* clone() const override { return new owned_extension; }
    void copy_from(const tlm::tlm_extension_base&) override {}
};

struct target_script {
    std::function<void(tlm_generic_payload&, sc_time&)> transport;
    std::function<tlm::tlm_sync_enum(tlm_generic_payload&, tlm_phase&, sc_time&)> phases;
    std::function<unsigned(tlm_generic_payload&)> debug;
    std::function<bool(tlm_generic_payload&, tlm::tlm_dmi&)> pointer;
};

/// A target that does what the test says; without, it obeys the rules.
class scripted_target : public target_script, public tlm::tlm_fw_transport_if<> {
public:
    void b_transport(tlm_generic_payload& payload, sc_time& delay) override {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        if (transport) transport(payload, delay);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm_generic_payload& payload, tlm_phase& phase,
                                       sc_time& delay) override {
        if (phases) return phases(payload, phase, delay);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    unsigned transport_dbg(tlm_generic_payload& payload) override {
        return debug ? debug(payload) : payload.get_data_length();
    }
    bool get_direct_mem_ptr(tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        static unsigned char bytes[16];
        dmi.set_dmi_ptr(bytes);
        dmi.set_end_address(0xffff);
        dmi.allow_read_write();
        return pointer ? pointer(payload, dmi) : true;
    }
};

class counting_manager : public tlm::tlm_mm_interface {
public:
    void free(tlm_generic_payload* released) override { released->reset(); }
};

/// An initiator and a scripted target, joined by a checked socket.
class joined_models : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<joined_models, 64> out{"out"};
    checked_target_socket<> in;
    scripted_target target;
    counting_manager manager;
    std::function<tlm::tlm_sync_enum(tlm_generic_payload&, tlm_phase&, sc_time&)> answered;
    std::function<void()> invalidated;
    std::uint64_t word = 0;
    tlm_generic_payload payload, managed{&manager}, other{&manager};
    sc_time delay;

    joined_models(const sc_core::sc_module_name& name, protocol rules)
        : sc_module(name), in("in", rules) {
        in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(target));
        out.register_nb_transport_bw(this, &joined_models::answer);
        out.register_invalidate_direct_mem_ptr(this, &joined_models::invalidate);
        out.bind(in);
        managed.acquire();
        other.acquire();
        restore();
    }
    /// What a test may have changed.
    void restore() {
        static_cast<target_script&>(target) = {};
        answered = {};
        invalidated = {};
        delay = {};
        payload.clear_extension<owned_extension>();
        for (tlm_generic_payload* each : {&payload, &managed, &other}) {
            set_access(*each, tlm::TLM_WRITE_COMMAND, 0x100, &word, sizeof word);
            each->set_byte_enable_ptr(nullptr);
            each->set_byte_enable_length(0);
            each->set_dmi_allowed(false);
            each->set_gp_option(tlm::TLM_MIN_PAYLOAD);
            each->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        }
    }
    void transport() { out->b_transport(payload, delay); }
    tlm::tlm_sync_enum send(tlm_phase phase, tlm_generic_payload& sent, sc_time after = {}) {
        return out->nb_transport_fw(sent, phase, after);
    }
    tlm::tlm_sync_enum respond(tlm_phase phase, tlm_generic_payload& sent, sc_time after = {}) {
        sent.set_response_status(tlm::TLM_OK_RESPONSE);
        return in->nb_transport_bw(sent, phase, after);
    }
    /// The target accepts each phase, and answers by respond().
    void accept() {
        target.phases = [](auto&, auto&, auto&) { return tlm::TLM_ACCEPTED; };
    }
    bool request_pointer(tlm::tlm_dmi dmi = {}) { return out->get_direct_mem_ptr(payload, dmi); }

private:
    tlm::tlm_sync_enum answer(tlm_generic_payload& sent, tlm_phase& phase, sc_time& after) {
        return answered ? answered(sent, phase, after) : tlm::TLM_ACCEPTED;
    }
    void invalidate(sc_dt::uint64, sc_dt::uint64) {
        if (invalidated) invalidated();
    }
};

using counts = std::map<std::string, std::uint64_t>;

counts violations() {
    counts all;
    for (const auto& each : base_protocol::violations())
        all[std::string(each.broken.name)] += each.count;
    return all;
}

/// Runs a function as a process of the simulation.
void run_in_process(const std::function<void()>& work, bool is_method = false) {
    sc_core::sc_spawn_options options;
    if (is_method) options.spawn_method();
    sc_core::sc_spawn(work, sc_core::sc_gen_unique_name("process"), &options);
    sc_core::sc_start(ns(100));
}

struct broken_rule {
    base_protocol::rule rule;
    const char* how;
    std::function<void(joined_models&)> breaks;
    protocol rules = protocol::restricted;
};

const std::vector<broken_rule> table{
    {rules::command, "a command that does not exist",
     [](auto& m) {
         m.payload.set_command(static_cast<tlm::tlm_command>(3));
         m.transport();
     }},
    {rules::data_pointer, "a write of no data",
     [](auto& m) {
         m.payload.set_data_ptr(nullptr);
         m.transport();
     }},
    {rules::data_length, "a write of 0 bytes",
     [](auto& m) {
         m.payload.set_data_length(0);
         m.transport();
     }},
    {rules::byte_enables, "byte enables without length",
     [](auto& m) {
         m.payload.set_byte_enable_ptr(reinterpret_cast<unsigned char*>(&m.word));
         m.transport();
     }},
    {rules::streaming_width, "no streaming width",
     [](auto& m) {
         m.payload.set_streaming_width(0);
         m.transport();
     }},
    {rules::dmi_hint, "a payload that is used again",
     [](auto& m) {
         m.payload.set_dmi_allowed(true);
         m.transport();
     }},
    {rules::request_status, "a payload that has a response",
     [](auto& m) {
         m.payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
         m.transport();
     }},
    {rules::option, "the option of debug transport",
     [](auto& m) {
         m.payload.set_gp_option(tlm::TLM_FULL_PAYLOAD);
         m.transport();
     }},
    {rules::reference_count, "a payload that is free",
     [](auto& m) {
         tlm_generic_payload free(&m.manager);
         set_access(free, tlm::TLM_READ_COMMAND, 0, &m.word, sizeof m.word);
         m.out->b_transport(free, m.delay);
     }},
    {rules::memory_manager, "a non-blocking call without memory manager",
     [](auto& m) { m.send(tlm::BEGIN_REQ, m.payload); }},
    {rules::payload_in_use, "BEGIN_REQ with the payload of an open transaction",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed);
         m.respond(tlm::END_REQ, m.managed);
         m.managed.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
         m.send(tlm::BEGIN_REQ, m.managed);
     }},
    {rules::payload_in_use, "two threads with one payload",
     [](auto& m) {
         m.target.transport = [](auto& payload, auto&) {
             payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
             sc_core::wait(ns(10));
             payload.set_response_status(tlm::TLM_OK_RESPONSE);
         };
         const auto call = [&m] { m.transport(); };
         sc_core::sc_spawn(call, sc_core::sc_gen_unique_name("process"));
         run_in_process(call);
     },
     protocol::base},
    {rules::delay_range, "a delay below zero, as an unsigned number",
     [](auto& m) {
         sc_core::sc_start(ns(10));
         m.delay = sc_core::sc_max_time() - ns(1);
         m.out->b_transport(m.payload, m.delay);
     }},
    {rules::method_process, "a method that calls b_transport",
     [](auto& m) { run_in_process([&m] { m.transport(); }, true); }, protocol::base},
    {rules::response_status, "a target that does not respond",
     [](auto& m) {
         m.target.transport = [](auto& payload, auto&) {
             payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
         };
         m.transport();
     }},
    {rules::response_status, "a deferral, which foreign initiators do not know",
     [](auto& m) {
         sc_core::sc_event woken;
         pending_access pending(woken);
         deferral held;
         m.target.transport = [&](auto& payload, auto&) { held.hold(payload); };
         m.payload.set_extension(&pending);
         pending.attempt(m.payload);
         m.transport();
         m.payload.template clear_extension<pending_access>();
     },
     protocol::base},
    {rules::response_status, "BEGIN_RESP without a response",
     [](auto& m) {
         m.target.phases = [](auto&, auto& phase, auto&) {
             phase = tlm::BEGIN_RESP;
             return tlm::TLM_UPDATED;
         };
         m.send(tlm::BEGIN_REQ, m.managed);
         m.accept();
         m.send(tlm::END_RESP, m.managed);
     }},
    {rules::response_status, "TLM_COMPLETED without a response",
     [](auto& m) {
         m.target.phases = [](auto&, auto&, auto&) { return tlm::TLM_COMPLETED; };
         m.send(tlm::BEGIN_REQ, m.managed);
     }},
    {rules::attributes, "a target that sets the length",
     [](auto& m) {
         m.target.transport = [](auto& payload, auto&) { payload.set_data_length(4); };
         m.transport();
     }},
    {rules::attributes, "a target that sets the command between phases",
     [](auto& m) {
         m.target.phases = [](auto& payload, auto&, auto&) {
             payload.set_command(tlm::TLM_READ_COMMAND);
             payload.set_response_status(tlm::TLM_OK_RESPONSE);
             return tlm::TLM_COMPLETED;
         };
         m.send(tlm::BEGIN_REQ, m.managed);
     }},
    {rules::address, "an interconnect that keeps the translated address",
     [](auto& m) {
         m.target.transport = [](auto& payload, auto&) { payload.set_address(0); };
         m.transport();
     }},
    {rules::data, "a target that changes what is written",
     [](auto& m) {
         m.target.transport = [](auto& payload, auto&) { ++*payload.get_data_ptr(); };
         m.transport();
     }},
    {rules::extensions, "an extension that stays",
     [](auto& m) {
         static owned_extension left;
         m.target.transport = [](auto& payload, auto&) { payload.set_extension(&left); };
         m.transport();
     }},
    {rules::extensions, "an extension that was cleared",
     [](auto& m) {
         owned_extension own;
         m.payload.set_extension(&own);
         m.target.transport = [](auto& payload, auto&) {
             payload.template clear_extension<owned_extension>();
         };
         m.transport();
     }},
    {rules::delay, "a delay that shrinks",
     [](auto& m) {
         m.delay = ns(5);
         m.target.transport = [](auto&, auto& delay) { delay = ns(4); };
         m.transport();
     }},
    {rules::wait, "a target that waits",
     [](auto& m) {
         m.target.transport = [](auto&, auto&) { sc_core::wait(ns(1)); };
         run_in_process([&m] { m.transport(); });
     }},
    {rules::dmi_request, "a tlm_dmi that is used again",
     [](auto& m) {
         tlm::tlm_dmi used;
         used.set_start_address(0x100);
         m.request_pointer(used);
     }},
    {rules::dmi_command, "a request for no access",
     [](auto& m) {
         m.payload.set_command(tlm::TLM_IGNORE_COMMAND);
         m.request_pointer();
     }},
    {rules::dmi_range, "a range without the requested address",
     [](auto& m) {
         m.target.pointer = [](auto&, auto& dmi) {
             dmi.set_start_address(0x1000);
             return true;
         };
         m.request_pointer();
     }},
    {rules::dmi_access, "a pointer for reads only",
     [](auto& m) {
         m.target.pointer = [](auto&, auto& dmi) {
             dmi.allow_read();
             return true;
         };
         m.request_pointer();
     }},
    {rules::dmi_access, "a refusal of nothing",
     [](auto& m) {
         m.target.pointer = [](auto&, auto& dmi) {
             dmi.allow_none();
             return false;
         };
         m.request_pointer();
     }},
    {rules::dmi_pointer, "a null pointer",
     [](auto& m) {
         m.target.pointer = [](auto&, auto& dmi) {
             dmi.set_dmi_ptr(nullptr);
             return true;
         };
         m.request_pointer();
     }},
    {rules::dmi_in_invalidation, "a request while pointers are invalidated",
     [](auto& m) {
         m.invalidated = [&m] { m.request_pointer(); };
         m.in->invalidate_direct_mem_ptr(0, 0xff);
     }},
    {rules::invalidation_range, "an invalidation from the end to the start",
     [](auto& m) { m.in->invalidate_direct_mem_ptr(0xff, 0); }},
    {rules::debug_data, "a debug access without data",
     [](auto& m) {
         m.payload.set_data_ptr(nullptr);
         m.out->transport_dbg(m.payload);
     }},
    {rules::debug_count, "more bytes than there are",
     [](auto& m) {
         m.target.debug = [](auto&) { return 9u; };
         m.out->transport_dbg(m.payload);
     }},
    {rules::debug_response, "a debug access with a response",
     [](auto& m) {
         m.target.debug = [](auto& payload) {
             payload.set_response_status(tlm::TLM_OK_RESPONSE);
             return 8u;
         };
         m.out->transport_dbg(m.payload);
     }},
    {rules::debug_time, "a debug access that waits",
     [](auto& m) {
         m.target.debug = [](auto&) {
             sc_core::wait(ns(1));
             return 8u;
         };
         run_in_process([&m] { m.out->transport_dbg(m.payload); });
     }},
    {rules::nonblocking_wait, "a target that waits in nb_transport_fw",
     [](auto& m) {
         m.target.phases = [](auto& payload, auto&, auto&) {
             sc_core::wait(sc_core::SC_ZERO_TIME);
             payload.set_response_status(tlm::TLM_OK_RESPONSE);
             return tlm::TLM_COMPLETED;
         };
         run_in_process([&m] { m.send(tlm::BEGIN_REQ, m.managed); });
     }},
    {rules::nonblocking_wait, "an initiator that waits in nb_transport_bw",
     [](auto& m) {
         m.accept();
         m.answered = [](auto&, auto&, auto&) {
             sc_core::wait(sc_core::SC_ZERO_TIME);
             return tlm::TLM_ACCEPTED;
         };
         m.send(tlm::BEGIN_REQ, m.managed);
         run_in_process([&m] { m.respond(tlm::END_REQ, m.managed); });
     }},
    {rules::phase_direction, "END_REQ of an initiator",
     [](auto& m) { m.send(tlm::END_REQ, m.managed); }},
    {rules::phase_direction, "END_RESP of a target",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed);
         m.respond(tlm::END_RESP, m.managed);
     }},
    {rules::phase_order, "END_RESP before BEGIN_RESP",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed);
         m.send(tlm::END_RESP, m.managed);
     }},
    {rules::phase_order, "END_REQ twice",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed);
         m.respond(tlm::END_REQ, m.managed);
         m.respond(tlm::END_REQ, m.managed);
     }},
    {rules::phase_order, "a response by nb_transport_bw, and by the return",
     [](auto& m) {
         m.answered = [](auto&, auto&, auto&) { return tlm::TLM_COMPLETED; };
         m.target.phases = [&m](auto& payload, auto&, auto&) {
             m.respond(tlm::BEGIN_RESP, payload);
             return tlm::TLM_COMPLETED;
         };
         m.send(tlm::BEGIN_REQ, m.managed);
     }},
    {rules::phase_order, "a response to no request",
     [](auto& m) { m.respond(tlm::BEGIN_RESP, m.managed); }},
    {rules::request_exclusion, "a second request before END_REQ",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed);
         m.send(tlm::BEGIN_REQ, m.other);
     }},
    {rules::response_exclusion, "a second response before END_RESP",
     [](auto& m) {
         m.accept();
         for (auto* each : {&m.managed, &m.other}) {
             m.send(tlm::BEGIN_REQ, *each);
             m.respond(tlm::END_REQ, *each);
         }
         m.respond(tlm::BEGIN_RESP, m.managed);
         m.respond(tlm::BEGIN_RESP, m.other);
     }},
    {rules::phase_time, "a response before its request",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed, ns(5));
         m.respond(tlm::BEGIN_RESP, m.managed, ns(4));
     }},
    {rules::mixed_transport, "b_transport with the payload of an open transaction",
     [](auto& m) {
         m.accept();
         m.send(tlm::BEGIN_REQ, m.managed);
         m.out->b_transport(m.managed, m.delay);
     }},
};

/// Violations are only counted.
class quiet_checks {
public:
    quiet_checks() {
        base_protocol::set_policy(base_protocol::policy::log);
        sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    }
};

TEST(ProtocolCheckerTest, EachBrokenRuleIsFoundAndNoOther) {
    const quiet_checks quiet;
    std::vector<std::unique_ptr<joined_models>> all;
    for (std::size_t i = 0; i < table.size(); ++i)
        all.push_back(
            std::make_unique<joined_models>(sc_core::sc_gen_unique_name("models"), table[i].rules));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (std::size_t i = 0; i < table.size(); ++i) {
        SCOPED_TRACE(table[i].how);
        counts before = violations();
        table[i].breaks(*all[i]);
        all[i]->restore();
        for (const auto& [name, count] : violations())
            EXPECT_EQ(count > before[name], name == table[i].rule.name) << name;
        EXPECT_GT(violations()[std::string(table[i].rule.name)],
                  before[std::string(table[i].rule.name)]);
    }
}

TEST(ProtocolCheckerTest, TheTableBreaksEachRule) {
    for (const auto& each : base_protocol::all_rules) {
        if (each == rules::before_simulation) continue;  // TransactionsBeforeTheSimulationAreFound
        EXPECT_TRUE(std::ranges::any_of(table, [&](const broken_rule& row) {
            return row.rule == each;
        })) << each.name;
    }
}

TEST(ProtocolCheckerTest, NothingIsFoundInCorrectCalls) {
    const quiet_checks quiet;
    joined_models models("models", protocol::restricted);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::array<unsigned char, 8> released{};
    const std::vector<std::function<void()>> calls{
        [&] { models.transport(); },
        [&] {  // the restricted protocol defers
            sc_core::sc_event woken;
            pending_access pending(woken);
            deferral held;
            models.target.transport = [&](auto& payload, auto&) { held.hold(payload); };
            models.payload.set_extension(&pending);
            pending.attempt(models.payload);
            models.transport();
            models.payload.clear_extension<pending_access>();
        },
        [&] {  // a command without data
            models.payload.set_command(tlm::TLM_IGNORE_COMMAND);
            models.payload.set_data_ptr(nullptr);
            models.payload.set_data_length(0);
            models.transport();
        },
        [&] { models.request_pointer(); },
        [&] {  // a pointer for writes, whose request has no data
            models.payload.set_data_ptr(released.data());
            models.target.pointer = [&](auto&, auto&) {
                ++released.front();  // it is something else by now
                return true;
            };
            models.request_pointer();
        },
        [&] { models.out->transport_dbg(models.payload); },
        [&] {  // the full payload in debug transport
            models.payload.set_gp_option(tlm::TLM_FULL_PAYLOAD);
            models.target.debug = [](auto& payload) {
                payload.set_gp_option(tlm::TLM_FULL_PAYLOAD_ACCEPTED);
                payload.set_response_status(tlm::TLM_OK_RESPONSE);
                return 8u;
            };
            models.out->transport_dbg(models.payload);
        },
        [&] {  // a target that throws, and the payload again
            models.target.phases = [](auto&, auto&, auto&) -> tlm::tlm_sync_enum { throw 1; };
            EXPECT_THROW(models.send(tlm::BEGIN_REQ, models.managed), int);
            models.target.phases = {};
            models.send(tlm::BEGIN_REQ, models.managed);
        },
        [&] { models.in->invalidate_direct_mem_ptr(0, ~0ull); },
        [&] { models.send(tlm::BEGIN_REQ, models.managed); },
        [&] {  // four phases, and the payload again
            models.accept();
            for (int i = 0; i < 2; ++i) {
                models.managed.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
                models.send(tlm::BEGIN_REQ, models.managed, ns(1));
                models.respond(tlm::END_REQ, models.managed, ns(2));
                models.respond(tlm::BEGIN_RESP, models.managed, ns(3));
                models.send(tlm::END_RESP, models.managed, ns(3));
            }
        },
        [&] {  // END_RESP as the return of nb_transport_bw
            models.accept();
            models.answered = [](auto&, auto& phase, auto&) {
                phase = tlm::END_RESP;
                return tlm::TLM_UPDATED;
            };
            models.send(tlm::BEGIN_REQ, models.managed);
            models.respond(tlm::BEGIN_RESP, models.managed);
        },
    };
    for (const auto& call : calls) {
        models.restore();
        call();
    }
    EXPECT_EQ(base_protocol::summary(), std::vector<std::string>{});
}

TEST(ProtocolCheckerTest, AReportNamesRuleClauseSocketCallTimeAndProcess) {
    const quiet_checks quiet;
    joined_models models("models", protocol::restricted);
    models.payload.set_streaming_width(0);
    run_in_process([&models] {
        sc_core::wait(ns(12));
        models.transport();
    });
    ASSERT_EQ(base_protocol::violations().size(), 1u);
    EXPECT_EQ(base_protocol::violations()[0].first,
              "models.in: b_transport of a write of 8 bytes at 0x100: the streaming width is 0 "
              "(IEEE 1666-2011, 14.15 f); at 12 ns, called by process_0");
}

TEST(ProtocolCheckerTest, AViolationIsReportedOnceForEachSocketAndCounted) {
    const quiet_checks quiet;
    static unsigned reports = 0;
    sc_core::sc_report_handler::set_handler(
        [](const sc_core::sc_report& report, const sc_core::sc_actions&) {
            if (report.get_msg_type() == std::string("/trn/protocol/dmi_hint")) ++reports;
        });
    joined_models first("first", protocol::restricted), second("second", protocol::restricted);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (joined_models* each : {&first, &first, &second}) {
        each->restore();
        each->payload.set_dmi_allowed(true);
        each->transport();
    }
    sc_core::sc_report_handler::set_handler(nullptr);
    EXPECT_EQ(reports, 2u);
    ASSERT_EQ(base_protocol::violations().size(), 2u);
    EXPECT_EQ(base_protocol::violations()[0].count, 2u);
    EXPECT_EQ(base_protocol::violations()[1].socket, "second.in");
}

TEST(ProtocolCheckerTest, ViolationsFailARunUnderThePolicyFailOnly) {
    const quiet_checks quiet;
    joined_models models("models", protocol::restricted);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    models.payload.set_dmi_allowed(true);
    models.transport();
    EXPECT_FALSE(base_protocol::failed());
    base_protocol::set_policy(base_protocol::policy::fail);
    EXPECT_TRUE(base_protocol::failed());
}

TEST(ProtocolCheckerTest, NothingIsCheckedIfTheSocketsWereConstructedWithoutChecks) {
    const quiet_checks quiet;
    base_protocol::set_policy(base_protocol::policy::off);
    joined_models models("models", protocol::restricted);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    base_protocol::set_policy(base_protocol::policy::log);
    models.payload.set_dmi_allowed(true);
    models.transport();
    EXPECT_TRUE(base_protocol::violations().empty());
}

/// A device that does not respond.
class silent_device : public sc_core::sc_module, public plug::device {
public:
    explicit silent_device(const sc_core::sc_module_name& name) : sc_module(name) {}
    plug end{"end", *this};
    void received(plug&, tlm_generic_payload&, sc_time&) override {}
};

TEST(ProtocolCheckerTest, APlugIsChecked) {
    const quiet_checks quiet;
    silent_device first("first"), second("second");
    first.end.join(second.end);
    tlm_generic_payload payload;
    std::uint32_t word = 0;
    set_access(payload, tlm::TLM_WRITE_COMMAND, 0, &word, sizeof word);
    sc_time delay;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    first.end.send(payload, delay);
    ASSERT_EQ(base_protocol::violations().size(), 1u);
    EXPECT_EQ(base_protocol::violations()[0].broken, rules::response_status);
    EXPECT_EQ(base_protocol::violations()[0].socket, "second.end");
}

TEST(ProtocolCheckerTest, TransactionsBeforeTheSimulationAreFound) {
    const quiet_checks quiet;
    joined_models models("models", protocol::restricted);
    models.in.get_base_export()->b_transport(models.payload, models.delay);
    EXPECT_EQ(violations()["before_simulation"], 1u);
}

TEST(ProtocolCheckerTest, SocketsOfMemoriesAndRoutersAreChecked) {
    const quiet_checks quiet;
    tlm_driver driver("driver");
    router bus("bus", {});
    memory ram("ram", {.size = 0x1000});
    driver.out.bind(bus.target);
    bus.initiator.bind(ram.in);
    ASSERT_EQ(bus.map({0, 0x1000, 0, 0}), nullptr);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::uint32_t word = 0;
    tlm_generic_payload payload;
    set_access(payload, tlm::TLM_READ_COMMAND, 0, &word, sizeof word);
    payload.set_dmi_allowed(true);
    sc_time delay;
    driver.out->b_transport(payload, delay);
    ASSERT_EQ(base_protocol::violations().size(), 2u);
    EXPECT_EQ(base_protocol::violations()[0].socket, "bus.target");
    EXPECT_EQ(base_protocol::violations()[1].socket, "ram.in");
}

}  // namespace
