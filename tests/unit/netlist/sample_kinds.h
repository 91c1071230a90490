// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>

#include "models/kinds.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/plug.h"

namespace trn::test {

enum class color { red, green };

class ticks : public virtual sc_core::sc_interface {
public:
    virtual unsigned count() const = 0;
};

class beat : public sc_core::sc_module, public ticks {
public:
    struct config {
        unsigned start = 7;
    };
    beat(sc_core::sc_module_name name, const config& cfg) : sc_module(name), cfg_(cfg) {}
    unsigned count() const override { return cfg_.start; }

private:
    const config cfg_;
};

/// A module with one parameter and port of every type.
class gadget : public sc_core::sc_module {
public:
    struct link {
        std::uint64_t rate = 1'000'000'000;
        sc_core::sc_time latency{5, sc_core::SC_NS};
    };
    struct config {
        unsigned queues = 16;
        bool fast = false;
        double factor = 0.5;
        std::string label = "plain";
        color paint = color::red;
        std::uint64_t clock = 1'400'000'000;
        link up;
        std::vector<std::uint32_t> weights{1, 2};
        std::vector<std::uint64_t> sizes;
        unsigned lines = 4;
    };

    tlm_utils::simple_initiator_socket<gadget, 64> mem{"mem"};
    tlm_utils::simple_initiator_socket_optional<gadget, 64> extra{"extra"};
    tlm_utils::simple_target_socket<gadget, 64> regs{"regs"};
    sc_core::sc_port<ticks, 1, sc_core::SC_ZERO_OR_MORE_BOUND> pace{"pace"};
    irq_out irq{"irq"};
    irq_in reset;
    sc_core::sc_vector<irq_out> alarm{"alarm", 2};

    gadget(sc_core::sc_module_name name, const config& cfg)
        : sc_module(name), reset("reset", cfg.lines, [](unsigned, bool) {}), cfg(cfg) {
        regs.register_b_transport(this, &gadget::b_transport);
    }
    void set_second_pace(const ticks& from) { second_pace = &from; }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        last_address = payload.get_address();
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    const config cfg;
    const ticks* second_pace = nullptr;
    std::uint64_t last_address = ~std::uint64_t{0};
};

/// A module with a required plug, and several optional ones.
class socket_strip : public sc_core::sc_module, public plug::device {
public:
    struct config {
        unsigned outlets = 3;
    };
    plug feed{"feed", *this, 100};
    sc_core::sc_vector<plug> outlet{"outlet"};

    socket_strip(sc_core::sc_module_name name, const config& cfg) : sc_module(name) {
        outlet.init(cfg.outlets, [this](const char* each, std::size_t i) {
            return new plug(each, *this, static_cast<unsigned>(i));
        });
    }
    void received(plug& at, tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
        last = at.index();
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned last = ~0u;
};

/// The project's kinds, and `gadget`.
const kind_list& sample_kinds();

}  // namespace trn::test

namespace trn::config {
template <>
struct choices<test::color> {
    static constexpr std::array list{choice<test::color>{"red", test::color::red},
                                     choice<test::color>{"green", test::color::green}};
};
}  // namespace trn::config

namespace trn::test {

inline const kind_list& sample_kinds() {
    using namespace kind_limits;
    using c = gadget::config;
    static const kind_list list = [] {
        kind_list all = kinds();
        all.push_back(kind_of<gadget>(
            "gadget", "A block for tests.",
            {{"queues", &c::queues, within(0, 4096), "queues per direction"},
             {"fast", &c::fast, "a switch"},
             {"factor", &c::factor, within(-1.5, 1000.0), "a real number"},
             {"label", &c::label, "a word"},
             {"paint", &c::paint, "a choice"},
             {"clock", &c::clock, unit::hertz, any_frequency, "a frequency"},
             {"rate", in(&c::up, &gadget::link::rate), unit::bytes_per_second, any_rate,
              "a data rate"},
             {"latency", in(&c::up, &gadget::link::latency), any_time, "a time"},
             {"weights", &c::weights, within(0, 1000), "some numbers"},
             {"sizes", &c::sizes, unit::bytes, within(1, PiB), "some sizes"},
             {"lines", &c::lines, within(0, 64), "reset lines"}},
            {port::initiator("mem", "where data is"),
             port::initiator("extra", "a second way").optional(),
             port::target("regs", "registers").of_size(0x1000),
             port::irq_out("irq", "something happened"),
             port::irq_in("reset", "resets").of_lines(&c::lines),
             port::irq_out("alarm", "two alarms").times(2).optional(),
             port::uses<ticks>("pace", "how fast").optional(),
             port::uses("second_pace", "how fast", &gadget::set_second_pace).optional()},
            [](const c& cfg) -> std::optional<std::string> {
                if (cfg.queues <= 32) return std::nullopt;
                return "at most 32 queues";
            }));
        all.push_back(kind_of<socket_strip>(
            "socket_strip", "Has plugs.",
            {{"outlets", &socket_strip::config::outlets, within(0, 64), "how many"}},
            {port::plug("feed", "must be used"), port::plug("outlet", "may be used")
                                                     .times(&socket_strip::config::outlets)
                                                     .optional()}));
        all.push_back(
            kind_of<beat>("beat", "Gives the pace.",
                          {{"start", &beat::config::start, within(0, 1000), "first tick"}},
                          {port::provides<ticks>("out", "ticks")}));
        return all;
    }();
    return list;
}

}  // namespace trn::test
