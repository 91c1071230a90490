// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/assembler/cursor.h"
#include "models/assembler/program_set.h"

namespace trn::isa {

/// Tensors, transfers and addresses by name. Members read from a cursor and throw line_error.
class program_names {
public:
    explicit program_names(program_set& set) : set_(set) {}

    /// Core of the streams and transfers that follow.
    unsigned core = 0;

    /// "x bf16 [128, 512] in align=4096 core=1"
    void read_tensor(cursor& in);
    /// "load_x x[0:128, 0:512] -> sbuf[0:128, 4096] queue=2 S[20]"
    void read_transfer(cursor& in);
    /// "core1." or nothing, which is the present core.
    unsigned read_core(cursor& in);
    /// "S[5]", "core1.S[5]": \returns core and index
    std::array<std::uint8_t, 2> read_semaphore(cursor& in);
    /// After "@": "x+64", "core1.S[5]", "control.vector+4", "sbuf+0x100", "cc[0]", "program.vector"
    relocation read_address(cursor& in);
    const transfer& read_transfer_name(cursor& in) const;
    /// A core that a directive names exists.
    void need_core(unsigned number);

    /// A number in a line that names a DMA queue of collectives of a core.
    struct collective_queue {
        unsigned core, queue;
        std::size_t at, length;
    };
    /// "8" after "queue=": of the DMA engines of the present core.
    unsigned read_queue(cursor& in, unsigned max);
    /// The queues of collectives, and the cores whose collectives the program starts, that were
    /// read since the last call.
    std::vector<collective_queue> take_collective_queues() {
        return std::exchange(collective_queues_, {});
    }
    std::vector<unsigned> take_collective_cores() { return std::exchange(collective_cores_, {}); }

private:
    struct rows_of_blocks;

    rows_of_blocks read_side(cursor& in);
    rows_of_blocks read_tile(cursor& in, unsigned core, transfer_side::memory kind);
    rows_of_blocks read_slice(cursor& in);
    static bool read_shape(cursor& in, transfer& t);
    void read_options(cursor& in, transfer& t, rows_of_blocks (&sides)[2]);
    static bool split_evenly(unsigned engines, rows_of_blocks (&sides)[2]);
    static void lay_out(cursor& in, std::size_t at, transfer& t, rows_of_blocks (&sides)[2]);
    std::string new_name(cursor& in, std::string_view what) const;
    std::uint32_t find_tensor(cursor& in, std::size_t at, std::string_view name) const;

    program_set& set_;
    std::map<std::string, std::uint32_t, std::less<>> tensors_, transfers_;
    std::vector<collective_queue> collective_queues_;
    std::vector<unsigned> collective_cores_;
};

}  // namespace trn::isa
