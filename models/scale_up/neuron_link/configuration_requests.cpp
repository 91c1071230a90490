// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_link/configuration_requests.h"

#include "models/pcie/pcie/config_request.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"

namespace trn {

namespace regs = neuron_link_regs;
using regs::reg;

void configuration_requests::start(unsigned port, const register_access& access) {
    using namespace regs::config_command;
    if (pending_[port] || go.get(access.written) == 0)  // BUSY and ERROR are read-only
        return regs_.set(reg::config_command, access.old, port);
    const pending answer = send(port, access.written);
    regs_.set(reg::config_command, (access.value & write.mask()) | busy.mask(), port);
    pending_[port] = answer;
    schedule();
}

configuration_requests::pending configuration_requests::send(unsigned port, std::uint64_t command) {
    using namespace regs::config_command;
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (!port_[port].up()) return {now, ~0u, error_link_down};
    auto word = static_cast<std::uint32_t>(regs_.get(reg::config_data, port));
    pcie::config_request request(
        write.get(command) != 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
        regs_.get(reg::config_address, port), word);
    sc_core::sc_time delay;
    port_[port].send(request.payload, delay);
    if (request.payload.is_response_ok()) return {now + delay, word, error_none};
    if (!request.header.lost) return {now + delay, ~0u, error_unsupported};
    ++timeouts_;
    return {now + timeout_, ~0u, error_timeout};
}

void configuration_requests::schedule() {
    std::optional<sc_core::sc_time> first;
    for (const auto& each : pending_)
        if (each && (!first || each->end < *first)) first = each->end;
    if (first) answered_.notify(*first - sc_core::sc_time_stamp());
}

void configuration_requests::finish() {
    using namespace regs::config_command;
    for (unsigned port = 0; port < ports; ++port) {
        if (!pending_[port] || pending_[port]->end > sc_core::sc_time_stamp()) continue;
        const pending answer = *pending_[port];
        pending_[port].reset();
        const auto command = regs_.get(reg::config_command, port);
        if (write.get(command) == 0) regs_.set(reg::config_data, answer.data, port);
        regs_.set(reg::config_command, error.set(command & write.mask(), answer.error), port);
        raise_(regs::irq_status::config_done.set(0, std::uint64_t{1} << port));
    }
    schedule();
}

}  // namespace trn
