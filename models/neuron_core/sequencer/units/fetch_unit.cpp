// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/fetch_unit.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace trn {

void fetch_unit::start(const engine_settings& settings) {
    base_ = settings.program_base();
    words_ = settings.program_words();
    fetched_for_ = ~0u;
    pending_.abandon();  // a fetch that STOP interrupted
}

void fetch_unit::drop() {
    buffer_.drop();
    fetched_for_ = ~0u;
}

void fetch_unit::reset() {
    drop();
    pending_.abandon();
}

std::uint32_t fetch_unit::buffered(std::uint32_t pc, unsigned n) const {
    const std::uint64_t word = std::uint64_t{pc} + n / 16;
    const auto* block =
        buffer_.find(static_cast<std::uint32_t>(word / program_buffer::block_words));
    if (block == nullptr || !block->readable || word >= words_) return 0;
    std::uint32_t value;
    std::memcpy(
        &value,
        block->bytes.data() + word % program_buffer::block_words * isa::word_bytes + n % 16 * 4,
        sizeof value);
    return value;
}

progress fetch_unit::fetch(std::uint32_t pc, const register_unit& registers) {
    const std::uint32_t block = pc / program_buffer::block_words;
    if (decoded(pc) == nullptr)
        if (const progress p = decode(pc, registers); !is_finished(p)) return p;
    for (unsigned n = 1; n <= program_buffer::ahead; ++n)
        if (std::uint64_t{block + n} * program_buffer::block_words < words_)
            fetch_block(block + n, pc, false);
    fetched_for_ = block;
    return finished{};
}

progress fetch_unit::decode(std::uint32_t pc, const register_unit& registers) {
    std::array<std::uint8_t, isa::max_words * isa::word_bytes> words{};
    if (const progress p = fetch_word(pc, words.data()); !is_finished(p)) return p;
    program_buffer::entry e;
    e.header_fault =
        isa::check_header(std::span(words).first(16), traits_.engine, traits_.generation);
    if (!e.header_fault) {
        if ((words[2] & isa::flag::long_form) != 0)
            if (const progress p = fetch_word(pc + 1, words.data() + isa::word_bytes);
                !is_finished(p))
                return p;
        e.d = isa::decode(words);
        e.by_register = isa::reads_registers(e.d.value);
        if (!e.by_register) e.fault = isa::check(e.d, traits_, registers.values());
        e.local = !e.fault && register_unit::is_local(e.d.value);
    }
    buffer_.keep(pc, std::move(e));
    return finished{};
}

progress fetch_unit::fetch_word(std::uint32_t pc, std::uint8_t* word) {
    if (pc >= words_) return failed();
    const std::uint32_t block = pc / program_buffer::block_words;
    if (const progress p = fetch_block(block, pc, true); !is_finished(p)) return p;
    std::memcpy(
        word,
        buffer_.find(block)->bytes.data() + pc % program_buffer::block_words * isa::word_bytes,
        isa::word_bytes);
    return finished{};
}

/// Fails at the time at which the word would be executed.
progress fetch_unit::failed() const {
    if (clock_.is_ahead()) return sleeping{clock_.local()};
    return isa::fault{isa::error::fetch, isa::operand::none, 0};
}

progress fetch_unit::fetch_block(std::uint32_t number, std::uint32_t pc, bool demanded) {
    const auto* found = buffer_.find(number);
    if (found == nullptr) {
        const std::uint32_t first = number * program_buffer::block_words;
        const unsigned length =
            std::min(words_ - first, program_buffer::block_words) * isa::word_bytes;
        std::array<std::uint8_t, program_buffer::block_bytes> bytes{};
        sc_core::sc_time delay;
        const auto result =
            core_.port.access(tlm::TLM_READ_COMMAND, base_ + std::uint64_t{first} * isa::word_bytes,
                              bytes.data(), length, pending_, delay);
        if (result == memory_port::outcome::deferred) {
            if (demanded) return sleeping{};
            pending_.abandon();
            return finished{};
        }
        program_buffer::block& b = buffer_.replace(number, pc / program_buffer::block_words);
        b.bytes = bytes;
        b.readable = result == memory_port::outcome::done;
        b.ready = clock_.after(std::max(clock_.local(), clock_.now()), delay);
        if (b.readable) counters_.fetched_bytes += length;
        found = &b;
    }
    if (!demanded) return finished{};
    const auto begin = std::max(clock_.local(), clock_.now());
    clock_.reach(found->ready);
    if (clock_.local() > begin) {
        counters_.fetch_cycles += clock_.local() - begin;
        timeline_.waited("fetch", begin, clock_.local());
    }
    return found->readable ? progress{finished{}} : failed();
}

}  // namespace trn
