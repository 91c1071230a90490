// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/neuron_isa/assembler/cursor.h"
#include "models/neuron_isa/assembler/program_set.h"

namespace trn::isa {

/// Reads tensors, transfers and addresses, which have names. Members throw line_error.
class program_names {
public:
    explicit program_names(program_set& set) : set_(set) {}

    /// Core of the streams and transfers that follow in the text.
    unsigned core = 0;

    /// "x bf16 [128, 512] in align=4096 core=1"
    void read_tensor(cursor& input);
    /// "load_x x[0:128, 0:512] -> sbuf[0:128, 4096] queue=2 S[20]"
    void read_transfer(cursor& input);
    /// Reads "core1." and returns 1; without it, returns the present core.
    unsigned read_core(cursor& input);
    /// "S[5]", "core1.S[5]": \returns core and index
    sync_index read_semaphore(cursor& input);
    /// After "@": "x+64", "core1.S[5]", "control.vector+4", "sbuf+0x100", "cc[0]", "program.vector"
    relocation read_address(cursor& input);
    const transfer& read_transfer_name(cursor& input) const;
    /// Extends the set to core `number`, which a directive names.
    void need_core(unsigned number);

    /// A use of a core's DMA queue for collectives, and its place in the line.
    struct collective_queue {
        unsigned core, queue;
        std::size_t column, length;
    };
    /// Reads the "8" of "queue=8": a queue of the present core's DMA engines.
    unsigned read_queue(cursor& input, unsigned max);
    /// Returns the uses of collectives' queues, and the cores whose collectives the program starts,
    /// read since the last call.
    std::vector<collective_queue> take_collective_queues() {
        return std::exchange(collective_queues_, {});
    }
    std::vector<unsigned> take_collective_cores() { return std::exchange(collective_cores_, {}); }

private:
    struct rows_of_blocks;

    rows_of_blocks read_side(cursor& input);
    rows_of_blocks read_tile(cursor& input, unsigned core, transfer_side::memory kind);
    rows_of_blocks read_slice(cursor& input);
    static bool read_shape(cursor& input, transfer& t);
    void read_options(cursor& input, transfer& t, rows_of_blocks (&sides)[2]);
    static bool split_evenly(unsigned engines, rows_of_blocks (&sides)[2]);
    static void lay_out(cursor& input, std::size_t start, transfer& t, rows_of_blocks (&sides)[2]);
    std::string new_name(cursor& input, std::string_view expected) const;
    std::uint32_t find_tensor(cursor& input, std::size_t start, std::string_view name) const;

    program_set& set_;
    std::map<std::string, std::uint32_t, std::less<>> tensors_, transfers_;
    std::vector<collective_queue> collective_queues_;
    std::vector<unsigned> collective_cores_;
};

}  // namespace trn::isa
