// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/debug_spaces.h"

#include <fmt/format.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <tlm>

#include "platform/framework/attach/control/posted_write.h"
#include "platform/framework/tlm/router.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {
namespace {

using forward = tlm::tlm_fw_transport_if<>;

// Limit of one call, since targets may not be prepared for longer ones.
constexpr std::size_t burst = 64 * 1024;

}  // namespace

/// An initiator socket for tools: a router's target socket is a multi-socket, which is only
/// reachable through a binding.
class debug_spaces::probe : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<probe, 64> out{"out"};
    probe(sc_core::sc_module_name name, router& bus) : sc_module(name), target_name(bus.name()) {
        out.bind(bus.target);
    }
    const std::string target_name;
};

class debug_spaces::socket_space : public address_space {
public:
    socket_space(forward& target, std::string name) : target_(target), name_(std::move(name)) {}
    virtual ~socket_space() = default;

    std::size_t peek(std::uint64_t address, std::span<std::byte> bytes) override {
        return move(tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size());
    }
    // A write payload's data is not modified; TLM has no const pointer for it.
    std::size_t deposit(std::uint64_t address, std::span<const std::byte> bytes) override {
        return move(tlm::TLM_WRITE_COMMAND, address, const_cast<std::byte*>(bytes.data()),
                    bytes.size());
    }
    std::size_t poke(std::uint64_t address, std::span<const std::byte> bytes) override {
        return move(tlm::TLM_WRITE_COMMAND, address, const_cast<std::byte*>(bytes.data()),
                    bytes.size(), &socket_space::write_on_bus);
    }

    forward& target() { return target_; }

private:
    /// Both return the number of bytes done.
    unsigned access_silently(tlm::tlm_generic_payload& payload) {
        return target_.transport_dbg(payload);
    }
    /// Between two slices: the annotated delay is not waited for.
    unsigned write_on_bus(tlm::tlm_generic_payload& payload) {
        auto delay = sc_core::SC_ZERO_TIME;
        const auto* const bytes = reinterpret_cast<const std::byte*>(payload.get_data_ptr());
        const auto response = posted_write::make(target_, name_.c_str(), payload.get_address(),
                                                 {bytes, payload.get_data_length()}, delay);
        return response == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
    }

    std::size_t move(tlm::tlm_command command, std::uint64_t address, std::byte* bytes,
                     std::size_t size,
                     unsigned (socket_space::*access)(tlm::tlm_generic_payload&) =
                         &socket_space::access_silently) {
        std::size_t done = 0;
        while (done < size) {
            const auto length =
                static_cast<unsigned>(std::min(size - done, burst - (address + done) % burst));
            tlm::tlm_generic_payload payload;
            set_access(payload, command, address + done, bytes + done, length);
            const auto moved = std::min((this->*access)(payload), length);
            done += moved;
            if (moved < length) break;
        }
        return done;
    }
    forward& target_;
    const std::string name_;
};

debug_spaces::debug_spaces() {
    std::vector<router*> routers;
    for_each_module<router>([&](const auto&, router& r) { routers.push_back(&r); });
    for (auto* r : routers)
        probes_.push_back(
            std::make_unique<probe>(fmt::format("debug_probe{}", probes_.size()).c_str(), *r));
}

debug_spaces::~debug_spaces() = default;

void debug_spaces::index() {
    if (!spaces_.empty()) return;
    const auto own = [this](forward& target, std::string name) {
        owned_.push_back(std::make_unique<socket_space>(target, std::move(name)));
        return owned_.back().get();
    };
    for (const auto& p : probes_) {
        auto* space = own(*p->out.operator->(), p->target_name);
        spaces_[p->target_name] = space;
        spaces_[p->target_name + ".target"] = space;
    }
    std::map<std::string, int> sockets_of;
    for_each_module<sc_core::sc_export_base>(
        [&](const auto& object, sc_core::sc_export_base& socket) {
            auto* target = dynamic_cast<forward*>(socket.get_interface());
            if (!target || spaces_.contains(object.name())) return;
            auto* space = own(*target, object.name());
            spaces_[object.name()] = space;
            const auto* module = object.get_parent_object();
            if (!module) return;
            if (++sockets_of[module->name()] == 1) {
                spaces_[module->name()] = space;
            } else {
                spaces_.erase(module->name());  // ambiguous: the module has several target sockets
            }
        });
    for_each_module<address_space>(
        [&](const auto& object, address_space& space) { spaces_[object.name()] = &space; });
    for (const auto& [name, space] : added_) spaces_[name] = space;
}

address_space* debug_spaces::find(std::string_view name) {
    index();
    const auto found = spaces_.find(name);
    return found == spaces_.end() ? nullptr : found->second;
}

tlm::tlm_fw_transport_if<>* debug_spaces::find_bus(std::string_view name) {
    auto* space = dynamic_cast<socket_space*>(find(name));
    return space ? &space->target() : nullptr;
}

void debug_spaces::add(const std::string& name, address_space& space) {
    added_[name] = &space;
    if (!spaces_.empty()) spaces_[name] = &space;
}

std::vector<std::string> debug_spaces::names() {
    index();
    std::vector<std::string> all;
    for (const auto& [name, space] : spaces_) all.push_back(name);
    return all;
}

}  // namespace trn
