// SPDX-License-Identifier: Apache-2.0
// The engines of a core as debuggers and waveforms see them.
#include <cassert>
#include <utility>

#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"

namespace trn {

std::vector<std::string_view> neuron_core::engine_names() const {
    std::vector<std::string_view> all;
    for (unsigned e = 0; e < isa::engine_count; ++e)
        all.push_back(name_of(static_cast<isa::engine>(e)));
    return all;
}

bool neuron_core::has_started(unsigned engine) const {
    return engines_ && std::as_const(*engines_)
                           .sequencer_of(static_cast<isa::engine>(engine))
                           .counted()
                           .started;
}

sequencer& neuron_core::started(unsigned engine) {
    assert(has_started(engine));
    return engines_->sequencer_of(static_cast<isa::engine>(engine));
}

neuron_core::program_state neuron_core::inspect(unsigned engine) const {
    program_state now;
    now.state = name_of(sequencer::state::idle);
    if (!has_started(engine)) return now;
    const sequencer& s = std::as_const(*engines_).sequencer_of(static_cast<isa::engine>(engine));
    now.state = name_of(s.current());
    now.wait = s.describe_wait().value_or("");
    now.instruction = s.instruction_text();
    now.error = s.error_text();
    now.pc = s.pc();
    now.retired = s.retired();
    for (unsigned n = 0; n < isa::register_count; ++n) now.registers.push_back(s.reg(n));
    return now;
}

std::uint32_t neuron_core::state_number(unsigned engine) const {
    if (!engines_) return 0;
    return static_cast<std::uint32_t>(
        std::as_const(*engines_).sequencer_of(static_cast<isa::engine>(engine)).current());
}

std::uint32_t neuron_core::pc(unsigned engine) const {
    if (!engines_) return 0;
    return std::as_const(*engines_).sequencer_of(static_cast<isa::engine>(engine)).pc();
}

void neuron_core::publish_signals(signal_list& out) const {
    std::vector<std::string> states;
    for (auto s = sequencer::state::idle; s <= sequencer::state::failed;
         s = static_cast<sequencer::state>(static_cast<unsigned>(s) + 1))
        states.emplace_back(name_of(s));
    for (unsigned e = 0; e < isa::engine_count; ++e) {
        const std::string engine(name_of(static_cast<isa::engine>(e)));
        out.state(engine + ".state", states, [this, e] { return state_number(e); });
        out.number(engine + ".pc", 32, [this, e] { return pc(e); });
        out.transactions(engine);
    }
}

void neuron_core::order(unsigned engine, command ordered) {
    namespace control = sequencer_regs::control;
    const std::uint64_t bits = ordered == command::stop     ? control::stop.mask()
                               : ordered == command::resume ? control::continue_.mask()
                                                            : control::step.mask();
    started(engine).command(static_cast<std::uint32_t>(bits));
}

bool neuron_core::set_register(unsigned engine, unsigned number, std::uint32_t value) {
    sequencer& s = started(engine);
    if (s.current() == sequencer::state::running || number >= isa::register_count) return false;
    s.set_reg(number, value);
    return true;
}

void neuron_core::add_break(unsigned engine, std::uint32_t pc) {
    engines().sequencer_of(static_cast<isa::engine>(engine)).breaks().add(pc);
}

void neuron_core::remove_break(unsigned engine, std::uint32_t pc) {
    engines().sequencer_of(static_cast<isa::engine>(engine)).breaks().remove(pc);
}

std::vector<std::uint32_t> neuron_core::breaks(unsigned engine) const {
    if (!engines_) return {};
    const auto& all =
        std::as_const(*engines_).sequencer_of(static_cast<isa::engine>(engine)).breaks().all();
    return {all.begin(), all.end()};
}

void neuron_core::break_at_next(unsigned engine) {
    started(engine).breaks().once();
}

void neuron_core::on_break(std::function<void(const std::string& why)> hit) {
    engines().on_break(std::move(hit));
}

}  // namespace trn
