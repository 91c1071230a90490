// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of a kind's table for sockets and signals of foreign models:
///
///     kind_of<uart>("acme_uart", "A UART of others.", {},
///                   {foreign_target("in", &uart::in, coding_style::loosely_timed, "registers")
///                        .of_size(0x1000),
///                    signal_out("irq", &uart::irq, "has data")})
///
/// The member is a socket, an sc_in<bool> or an sc_out<bool>, or an sc_vector of them, which
/// .times() follows. A board binds the end like one of this project (doc/tlm.md).

#include <bit>
#include <concepts>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <type_traits>
#include <utility>

#include "platform/framework/bridges/coding_style.h"
#include "platform/framework/bridges/initiator_bridge.h"
#include "platform/framework/bridges/irq_signals.h"
#include "platform/framework/bridges/phase_bridge.h"
#include "platform/framework/bridges/thread_bridge.h"
#include "platform/framework/bridges/width_adapter.h"
#include "platform/framework/netlist/kinds/foreign_end.h"
#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

namespace foreign_ports {

template <unsigned Width>
std::integral_constant<unsigned, Width> width_type(
    const tlm::tlm_base_initiator_socket_b<Width, tlm::tlm_fw_transport_if<>,
                                           tlm::tlm_bw_transport_if<>>&);
template <unsigned Width>
std::integral_constant<unsigned, Width> width_type(
    const tlm::tlm_base_target_socket_b<Width, tlm::tlm_fw_transport_if<>,
                                        tlm::tlm_bw_transport_if<>>&);

template <class Member>
struct element {
    using type = Member;
};
template <class Member>
struct element<sc_core::sc_vector<Member>> {
    using type = Member;
};
template <class Member>
using element_t = typename element<Member>::type;

template <class Socket>
inline constexpr unsigned width_of = decltype(width_type(std::declval<Socket&>()))::value;

/// Bits of sockets that the binder joins with sockets of 64 bits.
template <class Socket>
concept joinable = width_of<Socket>
>= 32 && width_of<Socket> <= 512 && std::has_single_bit(width_of<Socket>);

/// Finds the member, and creates what stands for it.
template <class Module, class Member>
class member_end : public foreign_end {
protected:
    using object = element_t<Member>;
    explicit member_end(Member Module::*member) : member_(member) {}

    virtual stand_in join(object& foreign, const std::string& name) const = 0;

    /// Creates a part in the scope of the constructor that is running.
    template <class Part, class... Arguments>
    static Part& add(stand_in& made, const std::string& name, Arguments&&... arguments) {
        auto part = std::make_shared<Part>(name.c_str(), std::forward<Arguments>(arguments)...);
        Part& added = *part;
        made.parts.push_back(std::move(part));
        return added;
    }

private:
    stand_in make(sc_core::sc_module& module, unsigned index, const std::string& name) const final {
        auto* const foreign = dynamic_cast<Module*>(&module);
        if (foreign == nullptr) return {};
        if constexpr (std::same_as<object, Member>) {
            return index == 0 ? join(foreign->*member_, name) : stand_in{};
        } else {
            auto& vector = foreign->*member_;
            return index < vector.size() ? join(vector[index], name) : stand_in{};
        }
    }

    Member Module::*const member_;
};

std::string describe_socket(unsigned width, coding_style style);

template <class Module, class Member>
class target_end final : public member_end<Module, Member> {
    using base = member_end<Module, Member>;
    using typename base::object;
    using stand_in = foreign_end::stand_in;
    static constexpr unsigned width = width_of<object>;

public:
    target_end(Member Module::*socket, coding_style style) : base(socket), style_(style) {}

private:
    std::string describe() const override { return describe_socket(width, style_); }
    bool is_always_bound() const override { return false; }

    stand_in join(object& foreign, const std::string& name) const override {
        stand_in made;
        if (style_ == coding_style::loosely_timed)
            join_by<thread_bridge>(made, foreign, name + "_bridge");
        else if (style_ == coding_style::approximately_timed)
            join_by<phase_bridge>(made, foreign, name + "_bridge");
        else
            made.end = &adapt(made, foreign, name);
        return made;
    }
    template <class Bridge>
    static void join_by(stand_in& made, object& foreign, const std::string& name) {
        auto& bridge = base::template add<Bridge>(made, name);
        bridge.out.bind(adapt(made, foreign, name));
        made.end = &bridge.in;
    }
    /// A socket of 64 bits for the foreign one.
    static auto& adapt(stand_in& made, object& foreign, const std::string& name) {
        if constexpr (width == 64) {
            return foreign;
        } else {
            auto& adapter = base::template add<width_adapter<64, width>>(made, name + "_width");
            adapter.out.bind(foreign);
            return adapter.in;
        }
    }

    const coding_style style_;
};

template <class Module, class Member>
class initiator_end final : public member_end<Module, Member> {
    using base = member_end<Module, Member>;
    using typename base::object;
    using stand_in = foreign_end::stand_in;
    static constexpr unsigned width = width_of<object>;

public:
    initiator_end(Member Module::*socket, coding_style style) : base(socket), style_(style) {}

private:
    std::string describe() const override { return describe_socket(width, style_); }
    bool is_always_bound() const override { return false; }

    stand_in join(object& foreign, const std::string& name) const override {
        stand_in made;
        auto& narrow = adapt(made, foreign, name);
        made.end = &narrow;
        if (style_ == coding_style::restricted) return made;
        auto& bridge = base::template add<initiator_bridge>(made, name + "_bridge");
        bridge.name_initiator(foreign.name());
        narrow.bind(bridge.in);
        made.end = &bridge.out;
        return made;
    }
    /// A socket of 64 bits for the foreign one.
    static auto& adapt(stand_in& made, object& foreign, const std::string& name) {
        if constexpr (width == 64) {
            return foreign;
        } else {
            auto& adapter = base::template add<width_adapter<width, 64>>(made, name + "_width");
            foreign.bind(adapter.in);
            return adapter.out;
        }
    }

    const coding_style style_;
};

/// Foreign models may write a signal from several processes.
using line_signal = sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS>;

template <class Module, class Member>
class signal_out_end final : public member_end<Module, Member> {
    using base = member_end<Module, Member>;
    using typename base::object;
    using stand_in = foreign_end::stand_in;

public:
    signal_out_end(Member Module::*signal, const sc_core::sc_time& latency)
        : base(signal), latency_(latency) {}

private:
    std::string describe() const override { return "signal"; }
    bool is_always_bound() const override { return true; }

    stand_in join(object& foreign, const std::string& name) const override {
        stand_in made;
        auto& signal = base::template add<line_signal>(made, name + "_signal");
        auto& bridge = base::template add<signal_to_irq>(made, name + "_bridge", latency_);
        foreign.bind(signal);
        bridge.in.bind(signal);
        made.end = &bridge.out;
        return made;
    }

    const sc_core::sc_time latency_;
};

template <class Module, class Member>
class signal_in_end final : public member_end<Module, Member> {
    using base = member_end<Module, Member>;
    using typename base::object;
    using stand_in = foreign_end::stand_in;

public:
    explicit signal_in_end(Member Module::*signal) : base(signal) {}

private:
    std::string describe() const override { return "signal"; }
    bool is_always_bound() const override { return true; }

    stand_in join(object& foreign, const std::string& name) const override {
        stand_in made;
        auto& signal = base::template add<line_signal>(made, name + "_signal");
        auto& bridge = base::template add<irq_to_signal>(made, name + "_bridge");
        foreign.bind(signal);
        bridge.out.bind(signal);
        made.end = &bridge.in;
        return made;
    }
};

inline port with(port row, std::shared_ptr<const foreign_end> end) {
    row.foreign = std::move(end);
    return row;
}

}  // namespace foreign_ports

/// A target socket of 32 to 512 bits. Bridges let any number of initiators bind it, if the row is
/// .unlimited() and the style is not coding_style::restricted.
template <class Module, class Member>
requires foreign_ports::joinable<foreign_ports::element_t<Member>> port
foreign_target(std::string name, Member Module::*socket, coding_style style, std::string doc) {
    return foreign_ports::with(
        port::target(std::move(name), std::move(doc)),
        std::make_shared<foreign_ports::target_end<Module, Member>>(socket, style));
}

/// An initiator socket of 32 to 512 bits.
template <class Module, class Member>
requires foreign_ports::joinable<foreign_ports::element_t<Member>> port
foreign_initiator(std::string name, Member Module::*socket, coding_style style, std::string doc) {
    return foreign_ports::with(
        port::initiator(std::move(name), std::move(doc)),
        std::make_shared<foreign_ports::initiator_end<Module, Member>>(socket, style));
}

/// An sc_out<bool>, as an interrupt output whose edges are `latency` later.
template <class Module, class Member>
port signal_out(std::string name, Member Module::*signal, std::string doc,
                const sc_core::sc_time& latency = sc_core::SC_ZERO_TIME) {
    return foreign_ports::with(
        port::irq_out(std::move(name), std::move(doc)),
        std::make_shared<foreign_ports::signal_out_end<Module, Member>>(signal, latency));
}

/// An sc_in<bool>, as an interrupt or reset input. Low while it is not bound.
template <class Module, class Member>
port signal_in(std::string name, Member Module::*signal, std::string doc) {
    return foreign_ports::with(
        port::irq_in(std::move(name), std::move(doc)),
        std::make_shared<foreign_ports::signal_in_end<Module, Member>>(signal));
}

}  // namespace trn
