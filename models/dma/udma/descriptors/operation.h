// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/dma/udma/descriptors/descriptor.h"
#include "models/neuron_isa/numerics/numerics.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/registers/table.h"

namespace trn {

/// The operation of a compute packet: collected descriptor by descriptor, checked before any data
/// is read, and executed on bytes that the engine moves. Independent of memory and time. Spec:
/// doc/dma_compute.md.
class dma_operation {
public:
    /// Capabilities of a generation's engines.
    struct abilities {
        bool fp8_e4m3fn = true;
    };
    struct piece {
        std::uint64_t address;
        std::uint32_t length;
    };
    /// A piece and the offset of its bytes in the engine's buffer.
    struct access {
        std::uint64_t address;
        std::uint32_t length, offset;
    };
    struct refusal {
        const misuse::rule& rule;
        unsigned cause;  ///< bit of secondary group A
        std::string why;
    };
    static constexpr std::uint32_t max_operand_bytes = 64 << 10;
    static constexpr unsigned max_operands = 16;

    explicit dma_operation(const dma_descriptor& compute);

    // Collection of descriptors. nullopt: accepted.
    std::optional<refusal> check_operation(const abilities& can) const;
    std::optional<refusal> add_scales(const dma_descriptor& d);
    void add_source(const piece& p) { sources_.push_back(p); }
    /// Called after the last source.
    std::optional<refusal> check_sources();
    std::optional<refusal> add_destination(const piece& p);
    /// Bytes not yet covered by destinations.
    std::uint64_t destination_left() const { return destination_left_; }
    /// Called after the last destination.
    std::optional<refusal> check_overlap() const;

    // Execution: the engine moves all accesses() between memory and its buffer, requests the next
    // stage, and repeats this until writing().
    /// Lays out the buffer.
    void begin(std::vector<std::uint8_t>& buffer);
    const std::vector<access>& accesses() const { return accesses_; }
    bool writing() const { return stage_ == stage::results; }
    std::optional<refusal> next_stage(std::vector<std::uint8_t>& buffer);
    /// Whether each operand and each copy of the result is one piece; then reduce() can operate on
    /// memory directly, without a buffer.
    bool in_whole_pieces() const;
    /// `operands` in their order, preceded by the destination's old bytes if it accumulates. The
    /// result may be at the address of an operand, and must not overlap operands otherwise.
    void reduce(std::span<const std::uint8_t* const> operands, std::uint8_t* result) const;

    // Properties that determine its duration.
    bool accumulates() const;
    bool transposes() const;
    std::uint64_t bytes_read() const { return source_bytes_; }
    std::uint64_t bytes_written() const { return std::uint64_t{result_bytes_} * copies(); }
    const std::vector<piece>& sources() const { return sources_; }
    const std::vector<piece>& destinations() const { return destinations_; }
    const char* name() const;

private:
    enum class stage { indices, operands, results };

    bool flag(const register_field& f) const { return f.get(word_) != 0; }
    std::uint64_t code() const;
    bool computes() const;
    bool indirect() const;
    unsigned copies() const;
    std::uint32_t operand_count() const;
    std::uint32_t operand_bytes() const {
        return static_cast<std::uint32_t>(source_bytes_) / operand_count();
    }
    numerics::element source_type() const;
    numerics::element result_type() const;
    std::uint32_t element_bytes() const;
    std::uint32_t indices() const { return sources_.front().length / 4; }
    std::uint32_t index(const std::vector<std::uint8_t>& buffer, std::uint32_t i) const;
    std::optional<refusal> check_flags() const;
    std::optional<refusal> check_types(const abilities& can) const;
    std::optional<refusal> check_operands() const;
    std::optional<refusal> check_table() const;
    std::optional<refusal> look_up(std::vector<std::uint8_t>& buffer);
    void compute(std::vector<std::uint8_t>& buffer) const;
    void list_results();
    void list(const std::vector<piece>& pieces, std::uint32_t offset);

    std::uint32_t length_, word_, parameter_;
    std::vector<float> scales_;
    std::vector<piece> sources_, destinations_;
    std::uint64_t source_bytes_ = 0, destination_left_ = 0;
    std::uint32_t result_bytes_ = 0;  // of one copy of the result

    stage stage_ = stage::operands;
    std::vector<access> accesses_;
    std::uint32_t operands_at_ = 0, result_at_ = 0;  // offsets in the buffer
};

}  // namespace trn
