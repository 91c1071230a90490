// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/scalar_access.h"

#include <bit>
#include <cstring>
#include <variant>

#include "models/neuron_core/tile/written_numbers.h"
#include "models/neuron_isa/numerics/numerics.h"

namespace trn {

using numerics::element;

namespace {

std::uint32_t decode(element type, const std::uint8_t* bytes) {
    if (!is_integer(type)) {
        float real = 0;
        numerics::decode(type, bytes, &real, 1);
        return std::bit_cast<std::uint32_t>(real);
    }
    std::uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    if (type == element::int8) value = static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
    if (type == element::int16)
        value = static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
    return value;
}

}  // namespace

progress scalar_access::execute(const isa::instruction& i, std::uint32_t pc,
                                register_unit& registers, const isa::number_settings& numbers) {
    const auto& f = std::get<isa::register_fields>(i.control);
    const auto type = static_cast<element>(f.selector);
    const bool loads = i.opcode == isa::opcode::reg_load;
    std::uint8_t bytes[4] = {};
    written_numbers written(numbers);
    if (!loads && is_integer(type)) {
        std::memcpy(bytes, &registers[f.ra], sizeof bytes);
    } else if (!loads) {
        const float value = std::bit_cast<float>(registers[f.ra]);
        written.convert(type, &value, 1, 0, bytes);
        written.detect(type, bytes, 1);
    }
    if (const progress p = transfer(f, pc, loads, bytes, numerics::size_of(type)); !is_finished(p))
        return p;
    if (loads) registers[f.rd] = decode(type, bytes);
    if (written.numerical()) {
        ++counters_.numerical;
        signals_.send(notification::kind::error,
                      static_cast<std::uint32_t>(isa::error::numerical) | pc << 8);
    }
    return finished{};
}

progress scalar_access::transfer(const isa::register_fields& f, std::uint32_t pc, bool loads,
                                 std::uint8_t* bytes, unsigned size) {
    if (f.place.space != isa::space::none) {
        std::uint8_t* place =
            core_.memory.bytes(f.place.space) +
            std::size_t{f.place.partition} * core_.memory.partition_bytes(f.place.space) +
            f.place.offset;
        if (loads && core_.memory.has_errors() && !core_.memory.check_read(f.place, size))
            return isa::fault{isa::error::memory, isa::operand::none, f.place.offset};
        if (core_.observer != nullptr) core_.observer->accesses(engine_, pc, f.place, size, !loads);
        std::memcpy(loads ? bytes : place, loads ? place : bytes, size);
        if (!loads) core_.memory.written(f.place, size);
        count(f.place.space, loads, size);
        return finished{};
    }
    sc_core::sc_time delay;
    const auto resets = resets_;
    const auto result = core_.port.access(loads ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND,
                                          f.address, bytes, size, pending_, delay);
    if (resets != resets_) return abandoned{};
    if (result == memory_port::outcome::deferred) return sleeping{};
    if (result == memory_port::outcome::failed)
        return isa::fault{isa::error::write_failed, isa::operand::none, 0};
    if (loads && core_.observer != nullptr) core_.observer->polled(engine_);
    clock_.reach(clock_.after(clock_.now(), delay));
    return finished{};
}

void scalar_access::count(isa::space memory, bool loads, unsigned size) {
    isa::work done;
    (loads ? done.bytes_read : done.bytes_written) = size;
    if (memory == isa::space::psum) (loads ? done.psum_bytes_read : done.psum_bytes_written) = size;
    counters_.bytes_read += done.bytes_read;
    counters_.bytes_written += done.bytes_written;
    counters_.psum_bytes_read += done.psum_bytes_read;
    counters_.psum_bytes_written += done.psum_bytes_written;
    core_.sram_bytes += size;
    timeline_.counted(0, done);
}

}  // namespace trn
