// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/neuron_isa/instructions/instruction.h"
#include "models/neuron_isa/program_set/program_set_regs.h"

/// Programs of one or more NeuronCores, and the objects that a loader must prepare for them.
/// program_set.regs.yaml defines the file format; doc/programs.md explains it.
namespace trn::isa {

struct program_set_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr unsigned max_set_cores = 8;
inline constexpr unsigned max_tensor_rank = 8;
inline constexpr std::size_t max_name_bytes = 63;    ///< of a tensor or transfer
inline constexpr std::size_t max_path_bytes = 4095;  ///< of a source file
inline constexpr std::uint64_t max_tensor_bytes = std::uint64_t{1} << 40;  ///< a tensor has less
inline constexpr unsigned dma_engines_of_core = 16;
inline constexpr unsigned transfer_queues = 13;  ///< 13 to 15 have other users (spec 5.1, 8.2)
inline constexpr unsigned first_collective_queue = 4,
                          last_collective_queue = 7;  ///< of collectives in slots 0 to 3
inline constexpr std::uint32_t max_descriptor_bytes = 65'536;
inline constexpr std::uint32_t max_doorbell = 65'535;  ///< descriptors per dma_start

/// The instruction stream of one engine.
struct stream {
    std::optional<isa::engine> engine;  ///< none: the text has no .engine line
    std::vector<std::uint8_t> words;    ///< 64 bytes each
    std::vector<int> lines;             ///< source line of each word, from 1; 0 is unknown
    unsigned core = 0;
    std::vector<std::uint8_t> files = {};  ///< source file of each word; {}: the first
};

enum class tensor_role : std::uint8_t {
    in = program_set_regs::tensor_role::code_in,
    out = program_set_regs::tensor_role::code_out,
    inout = program_set_regs::tensor_role::code_inout,
    scratch = program_set_regs::tensor_role::code_scratch
};

struct tensor {
    std::string name;
    numerics::element type{};
    tensor_role role{};
    unsigned core = 0;
    std::uint32_t alignment = 64;
    std::vector<std::uint32_t> shape;  ///< the slowest dimension first
};

/// One side of a transfer: rows of blocks of contiguous bytes.
struct transfer_side {
    enum class memory : std::uint8_t {
        tensor = program_set_regs::transfer_side_kind::code_tensor,
        sbuf = program_set_regs::transfer_side_kind::code_sbuf,
        psum = program_set_regs::transfer_side_kind::code_psum
    };
    memory kind{};
    std::uint32_t object = 0;  ///< tensor's or core's number
    std::uint64_t offset = 0;  ///< bytes in the tensor or in the partition
    std::uint64_t row = 0;     ///< tensor: bytes from row to row; otherwise the first partition
    std::uint64_t block = 0;   ///< bytes from block to block
};

struct transfer {
    std::string name;
    unsigned core = 0, queue = 0;
    std::uint16_t engines = 0xffff;
    unsigned semaphore_core = 0;
    std::optional<std::uint8_t> semaphore = {};
    std::uint32_t rows = 1, blocks = 1, bytes = 0;
    std::array<transfer_side, 2> sides = {};  ///< source, destination

    static constexpr std::uint64_t too_many_descriptors = std::uint64_t{1} << 32;
    /// Descriptors of engine `n` of `count` that share the rows, including its semaphore's; at most
    /// about too_many_descriptors.
    std::uint64_t descriptors_of(unsigned n, unsigned count) const;
    /// Whether DMA engine `e` of the core has descriptors of it.
    bool uses(unsigned e) const;
    /// Whether both have descriptors in one ring of DMA engine `e`.
    bool shares_ring(const transfer& other, unsigned e) const {
        return core == other.core && queue == other.queue && uses(e) && other.uses(e);
    }
};

struct relocation {
    enum class target : std::uint8_t {
        tensor = program_set_regs::relocation_kind::code_tensor,
        increment = program_set_regs::relocation_kind::code_increment,
        control = program_set_regs::relocation_kind::code_control,
        sbuf = program_set_regs::relocation_kind::code_sbuf,
        collective = program_set_regs::relocation_kind::code_collective,
        program = program_set_regs::relocation_kind::code_program
    };
    std::uint32_t stream = 0, word = 0, byte = 0;
    target kind{};
    unsigned core = 0;
    std::uint32_t object = 0;
    std::uint64_t addend = 0;
    bool operator==(const relocation&) const = default;
};

/// Core, and index of a semaphore; from first_event on of an event.
using sync_index = std::array<std::uint16_t, 2>;
inline constexpr std::uint16_t first_event = 256;

struct program_set {
    std::optional<isa::generation> generation = {};
    unsigned cores = 1;
    std::vector<stream> streams = {};
    std::vector<tensor> tensors = {};
    std::vector<transfer> transfers = {};
    std::vector<relocation> relocations = {};
    std::vector<sync_index> semaphores = {};  ///< set to 0 before the start; sorted
    std::vector<std::string> files = {};      ///< files of the lines; {}: none
};

bool is_program_set(std::span<const std::uint8_t> file);
std::vector<std::uint8_t> write_program_set(const program_set& set);
/// \throws program_set_error
program_set read_program_set(std::span<const std::uint8_t> file);

}  // namespace trn::isa
