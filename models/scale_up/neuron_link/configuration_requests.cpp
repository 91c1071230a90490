// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_link/configuration_requests.h"

#include "models/pcie/pcie/config_request.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"

namespace trn {

namespace regs = neuron_link_regs;
using regs::reg;

void configuration_requests::start(unsigned at, const register_access& access) {
    using namespace regs::config_command;
    if (pending_[at] || go.get(access.written) == 0) {  // software cannot write BUSY and ERROR
        return regs_.set(reg::config_command, access.old, at);
    }
    const pending answer = send(at, access.written);
    regs_.set(reg::config_command, (access.value & write.mask()) | busy.mask(), at);
    pending_[at] = answer;
    schedule();
}

configuration_requests::pending configuration_requests::send(unsigned at, std::uint64_t command) {
    using namespace regs::config_command;
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (!port_[at].up()) return {now, ~0u, error_link_down};
    auto word = static_cast<std::uint32_t>(regs_.get(reg::config_data, at));
    pcie::config_request request(
        write.get(command) != 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
        regs_.get(reg::config_address, at), word);
    sc_core::sc_time delay;
    port_[at].send(request.payload, delay);
    switch (request.payload.get_response_status()) {
    case tlm::TLM_OK_RESPONSE:
        return {now + delay, word, error_none};
    case tlm::TLM_INCOMPLETE_RESPONSE:
        ++timeouts_;
        return {now + timeout_, ~0u, error_timeout};
    default:
        return {now + delay, ~0u, error_unsupported};
    }
}

void configuration_requests::schedule() {
    std::optional<sc_core::sc_time> first;
    for (const auto& each : pending_)
        if (each && (!first || each->at < *first)) first = each->at;
    if (first) answered_.notify(*first - sc_core::sc_time_stamp());
}

void configuration_requests::finish() {
    using namespace regs::config_command;
    for (unsigned at = 0; at < ports; ++at) {
        if (!pending_[at] || pending_[at]->at > sc_core::sc_time_stamp()) continue;
        const pending answer = *pending_[at];
        pending_[at].reset();
        const auto command = regs_.get(reg::config_command, at);
        if (write.get(command) == 0) regs_.set(reg::config_data, answer.data, at);
        regs_.set(reg::config_command, error.set(command & write.mask(), answer.error), at);
        raise_(regs::irq_status::config_done.set(0, std::uint64_t{1} << at));
    }
    schedule();
}

}  // namespace trn
