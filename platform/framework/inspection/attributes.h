// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "platform/framework/inspection/parameters.h"

namespace trn {

/// The parameters of modules as attributes of SystemC (IEEE 1666-2011, 5.16), for tools that walk
/// the hierarchy: `size` is an sc_attribute of its module, of type bool, sc_dt::uint64, double,
/// sc_time or std::string (also for lists), and `type` names the module's kind or assembly. They
/// are copies: to change one has no effect. The end of the object removes them.
class published_attributes {
public:
    /// Of a module and of all modules inside (""; all of the board).
    published_attributes(const parameter_broker& broker, std::string_view module);
    ~published_attributes();
    published_attributes(const published_attributes&) = delete;
    published_attributes& operator=(const published_attributes&) = delete;

    std::size_t size() const { return all_.size(); }

private:
    struct published {
        std::string module;  ///< found again by its name: it may end earlier
        std::unique_ptr<sc_core::sc_attr_base> attribute;
    };
    void add(const std::string& module, std::unique_ptr<sc_core::sc_attr_base> attribute);

    std::vector<published> all_;
};

}  // namespace trn
