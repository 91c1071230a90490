// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/dma/dma_access.h"

namespace trn {

progress dma_access::access(tlm::tlm_command command, unsigned engine, std::uint64_t address,
                            std::uint32_t* words, std::size_t count) {
    const auto resets = resets_;
    delay_ = sc_core::SC_ZERO_TIME;
    const auto result =
        core_.port.access(command, address, words,
                          static_cast<unsigned>(count * sizeof(std::uint32_t)), pending_, delay_);
    if (resets != resets_) return abandoned{};
    if (result == memory_port::outcome::deferred) return sleeping{};
    if (result == memory_port::outcome::failed)
        return isa::fault{isa::error::write_failed, isa::operand::none, engine};
    return finished{};
}

progress dma_access::read(unsigned engine, std::uint64_t address, std::span<std::uint32_t> words) {
    return access(tlm::TLM_READ_COMMAND, engine, address, words.data(), words.size());
}

progress dma_access::write(unsigned engine, std::uint64_t address,
                           std::span<const std::uint32_t> words) {
    return access(tlm::TLM_WRITE_COMMAND, engine, address, const_cast<std::uint32_t*>(words.data()),
                  words.size());
}

void dma_access::reset() {
    ++resets_;
    pending_.abandon();
}

}  // namespace trn
