// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tlm>
#include <vector>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// All address spaces of the platform by name, for peek, poke and deposit: each TLM
/// target socket ("chip0.misc_ram.in"), each module with a single target socket ("chip0.misc_ram"),
/// and each module that is an address_space (a hart's virtual memory, "chip0.mgmt.hart"). Construct
/// it after the modules and before elaboration: it binds to the routers.
class debug_spaces {
public:
    debug_spaces();
    ~debug_spaces();

    /// Null when there is no such space. Valid as long as this object.
    address_space* find(std::string_view name);
    std::vector<std::string> names();
    /// The target of the space, for accesses with side effects; null when it has none.
    tlm::tlm_fw_transport_if<>* find_bus(std::string_view name);
    /// Adds an address space that is not a module (a hart's view of memory). It must live as long
    /// as this object.
    void add(const std::string& name, address_space& space);

private:
    class probe;
    class socket_space;
    void index();

    std::vector<std::unique_ptr<probe>> probes_;
    std::vector<std::unique_ptr<socket_space>> owned_;
    std::map<std::string, address_space*, std::less<>> added_;   ///< by add()
    std::map<std::string, address_space*, std::less<>> spaces_;  ///< all, from the first look-up on
};

}  // namespace trn
