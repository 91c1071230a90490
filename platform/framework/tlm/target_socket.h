// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/tlm/blocking_transport.h"

namespace trn {

/// Functions of a module, as a TLM target.
template <class Module>
class module_functions final : public blocking_transport {
public:
    using transport_function = void (Module::*)(tlm::tlm_generic_payload&, sc_core::sc_time&);
    using debug_function = unsigned (Module::*)(tlm::tlm_generic_payload&);
    using pointer_function = bool (Module::*)(tlm::tlm_generic_payload&, tlm::tlm_dmi&);

    Module* module = nullptr;
    transport_function transport = nullptr;  ///< required before the first transaction
    debug_function debug = nullptr;
    pointer_function pointer = nullptr;

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        (module->*transport)(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
        return debug != nullptr ? (module->*debug)(payload)
                                : blocking_transport::transport_dbg(payload);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        return pointer != nullptr ? (module->*pointer)(payload, dmi)
                                  : blocking_transport::get_direct_mem_ptr(payload, dmi);
    }
};

/// A target socket that calls functions of its module. Unlike tlm_utils' sockets, it has no events,
/// processes and calls for non-blocking transport.
template <class Module, sc_core::sc_port_policy Policy = sc_core::SC_ONE_OR_MORE_BOUND>
class target_socket : public implemented_socket<module_functions<Module>, Policy> {
    using functions = module_functions<Module>;

public:
    explicit target_socket(const char* name)
        : implemented_socket<module_functions<Module>, Policy>(name) {}

    void register_b_transport(Module* module, typename functions::transport_function call) {
        this->implementation_.module = module;
        this->implementation_.transport = call;
    }
    void register_transport_dbg(Module* module, typename functions::debug_function call) {
        this->implementation_.module = module;
        this->implementation_.debug = call;
    }
    void register_get_direct_mem_ptr(Module* module, typename functions::pointer_function call) {
        this->implementation_.module = module;
        this->implementation_.pointer = call;
    }
};

/// A target socket that may be unbound.
template <class Module>
using optional_target_socket = target_socket<Module, sc_core::SC_ZERO_OR_MORE_BOUND>;

}  // namespace trn
