// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/descriptors/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/dma/udma/descriptors/causes.h"
#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/misuse_rules.h"

namespace trn {

namespace fields = dma_descriptor_regs::compute_operation;
namespace parameter = dma_descriptor_regs::compute_parameter;
using numerics::element;

namespace {

constexpr std::uint64_t all_fields =
    fields::skip.mask() | fields::saturate.mask() | fields::stochastic.mask() |
    fields::duplicate.mask() | fields::accumulate.mask() | fields::operands.mask() |
    fields::to.mask() | fields::from.mask() | fields::operation.mask();

dma_operation::refusal impossible(std::string why) {
    return {misuse::impossible_operation, cause::m2s_operation, std::move(why)};
}
dma_operation::refusal wrong_length(std::string why) {
    return {misuse::operand_length, cause::m2s_operand, std::move(why)};
}

std::uint64_t sum_of(const std::vector<dma_operation::piece>& pieces) {
    std::uint64_t sum = 0;
    for (const auto& p : pieces) sum += p.length;
    return sum;
}

bool overlap(const dma_operation::piece& a, const dma_operation::piece& b) {
    return a.address - b.address < b.length || b.address - a.address < a.length;
}

template <class T>
void transpose(const std::uint8_t* source, std::uint8_t* result, std::uint32_t rows,
               std::uint32_t columns) {
    for (std::uint32_t c = 0; c < columns; ++c)
        for (std::uint32_t r = 0; r < rows; ++r, result += sizeof(T))
            std::memcpy(result, source + (std::size_t{r} * columns + c) * sizeof(T), sizeof(T));
}

}  // namespace

dma_operation::dma_operation(const dma_descriptor& compute)
    : length_(compute.words[0] & 0xffff), word_(compute.words[2]), parameter_(compute.words[3]) {}

std::uint64_t dma_operation::code() const {
    return fields::operation.get(word_);
}
bool dma_operation::computes() const {
    return code() >= fields::operation_cast && code() <= fields::operation_scaled_add;
}
bool dma_operation::transposes() const {
    return code() == fields::operation_transpose;
}
bool dma_operation::indirect() const {
    return code() == fields::operation_gather || code() == fields::operation_scatter;
}
bool dma_operation::accumulates() const {
    return flag(fields::accumulate);
}
unsigned dma_operation::copies() const {
    return flag(fields::duplicate) ? 2 : 1;
}
std::uint32_t dma_operation::operand_count() const {
    return static_cast<std::uint32_t>(fields::operands.get(word_));
}
element dma_operation::source_type() const {
    return static_cast<element>(fields::from.get(word_));
}
element dma_operation::result_type() const {
    return static_cast<element>(fields::to.get(word_));
}

const char* dma_operation::name() const {
    constexpr const char* names[] = {"copy",       "cast",      "add",    "min",    "max",
                                     "scaled_add", "transpose", "gather", "scatter"};
    return code() < std::size(names) ? names[code()] : "nothing";
}

// ---- Checks

std::optional<dma_operation::refusal> dma_operation::check_operation(const abilities& can) const {
    if (code() > fields::operation_scatter)
        return impossible(fmt::format("unknown operation {}", code()));
    if ((word_ & ~all_fields) != 0)
        return impossible(fmt::format("{}: unnamed bits in {:#010x}", name(), word_));
    if (length_ != 0)
        return impossible(fmt::format("{}: a COMPUTE descriptor has no data", name()));
    if (auto refused = check_flags()) return refused;
    return check_types(can);
}

std::optional<dma_operation::refusal> dma_operation::check_flags() const {
    const auto operands = operand_count();
    const bool reduces = computes() && code() != fields::operation_cast;
    if (operands == 0 || operands > (reduces ? max_operands : 1))
        return impossible(fmt::format("{} of {} operands", name(), operands));
    const bool adds = code() == fields::operation_add || code() == fields::operation_scaled_add;
    if (accumulates() && (!adds || flag(fields::duplicate)))
        return impossible(fmt::format("{} cannot accumulate{}", name(), adds ? " twice" : ""));
    if (flag(fields::duplicate) && code() == fields::operation_scatter)
        return impossible("scatter cannot write twice");
    if (!computes() && (flag(fields::stochastic) || flag(fields::saturate)))
        return impossible(fmt::format("{} rounds nothing", name()));
    if (!indirect() && flag(fields::skip))
        return impossible(fmt::format("{} has no indices", name()));
    if (parameter_ != 0 && !indirect() && !transposes() && !flag(fields::stochastic))
        return impossible(fmt::format("{} takes no parameter ({:#x})", name(), parameter_));
    return std::nullopt;
}

std::optional<dma_operation::refusal> dma_operation::check_types(const abilities& can) const {
    const auto a = fields::from.get(word_), b = fields::to.get(word_);
    const auto refuse = [&](const char* why) {
        return refusal{misuse::impossible_type, cause::m2s_operation,
                       fmt::format("{} from type {} to {}: {}", name(), a, b, why)};
    };
    if (std::max(a, b) >= numerics::element_kinds) return refuse("unknown element type");
    if (!computes() && !transposes() && (a != 0 || b != 0)) return refuse("it moves bytes");
    if (transposes() && (a != b || numerics::size_of(source_type()) == 1))
        return refuse("it takes elements of 2 or 4 bytes, as they are");
    if (!can.fp8_e4m3fn &&
        (source_type() == element::fp8_e4m3fn || result_type() == element::fp8_e4m3fn))
        return refuse("this generation has no FP8_E4M3FN");
    if (accumulates() &&
        (a != b || (source_type() != element::bf16 && source_type() != element::fp32)))
        return refuse("accumulation is BF16 or FP32");
    if (flag(fields::stochastic) && numerics::is_integer(result_type()))
        return refuse("integers are not rounded stochastically");
    return std::nullopt;
}

std::optional<dma_operation::refusal> dma_operation::add_scales(const dma_descriptor& d) {
    if (code() != fields::operation_scaled_add || !sources_.empty() || (d.words[0] & 0xffff) != 0 ||
        scales_.size() >= operand_count())
        return impossible(fmt::format("{}: a SCALES descriptor out of place", name()));
    scales_.push_back(std::bit_cast<float>(d.words[2]));
    scales_.push_back(std::bit_cast<float>(d.words[3]));
    return std::nullopt;
}

std::optional<dma_operation::refusal> dma_operation::check_sources() {
    source_bytes_ = sum_of(sources_);
    if (sources_.empty()) return wrong_length(fmt::format("{} without sources", name()));
    if (code() == fields::operation_scaled_add && scales_.size() < operand_count())
        return impossible(fmt::format("{} operands, {} scales", operand_count(), scales_.size()));
    if (auto refused = indirect() ? check_table() : check_operands()) return refused;
    if (code() == fields::operation_gather) {
        result_bytes_ = indices() * element_bytes();
        source_bytes_ = sources_.front().length + result_bytes_;
    } else if (code() == fields::operation_scatter) {
        result_bytes_ = static_cast<std::uint32_t>(source_bytes_ - sources_.front().length);
    } else {
        const auto operand = source_bytes_ / operand_count();
        const auto elements = operand / numerics::size_of(source_type());
        result_bytes_ = static_cast<std::uint32_t>(
            computes() ? elements * numerics::size_of(result_type()) : operand);
    }
    destination_left_ =
        code() == fields::operation_scatter ? result_bytes_ / indices() : bytes_written();
    return std::nullopt;
}

std::optional<dma_operation::refusal> dma_operation::check_operands() const {
    const auto operands = operand_count();
    const auto length = source_bytes_ / operands;
    const auto element_size = computes() || transposes() ? numerics::size_of(source_type()) : 1;
    if (length == 0 || length * operands != source_bytes_ || length % element_size != 0)
        return wrong_length(fmt::format("{} source bytes are not {} operands of whole elements",
                                        source_bytes_, operands));
    if (length > max_operand_bytes)
        return wrong_length(fmt::format("an operand of {} bytes", length));
    std::uint64_t offset = 0;
    for (const piece& p : sources_) {
        if (p.length == 0) return wrong_length("a source of zero bytes");
        if (offset / length != (offset + p.length - 1) / length)
            return wrong_length(
                fmt::format("a source of {} bytes reaches into the next operand", p.length));
        offset += p.length;
    }
    const auto rows = parameter::rows_.get(parameter_),
               columns = parameter::columns.get(parameter_);
    if (transposes() && rows * columns * element_size != length)
        return wrong_length(fmt::format("{} x {} elements in {} bytes", rows, columns, length));
    return std::nullopt;
}

/// Checks indices and table: in the sources for GATHER, in the destinations for SCATTER.
std::optional<dma_operation::refusal> dma_operation::check_table() const {
    const std::uint32_t index_bytes = sources_.front().length;
    if (index_bytes == 0 || index_bytes % 4 != 0)
        return wrong_length(fmt::format("{} bytes of indices", index_bytes));
    const std::uint64_t data = source_bytes_ - index_bytes;
    const bool gathers = code() == fields::operation_gather;
    if (data == 0 || (gathers && sources_.size() != 2))
        return wrong_length(fmt::format("{} without data", name()));
    const std::uint64_t all = gathers ? data * indices() : data;
    if (all > max_operand_bytes || all % indices() != 0)
        return wrong_length(fmt::format("{} indices, {} bytes of elements", indices(), all));
    return std::nullopt;
}

std::optional<dma_operation::refusal> dma_operation::add_destination(const piece& p) {
    const std::uint64_t done = bytes_written() - destination_left_;
    const bool over_the_half =
        copies() == 2 && done < result_bytes_ && done + p.length > result_bytes_;
    const bool in_parts = code() == fields::operation_scatter && p.length != destination_left_;
    if (p.length > destination_left_ || over_the_half || in_parts)
        return wrong_length(fmt::format("a destination of {} bytes where {} are left", p.length,
                                        over_the_half ? result_bytes_ - done : destination_left_));
    destinations_.push_back(p);
    destination_left_ -= p.length;
    return std::nullopt;
}

std::optional<dma_operation::refusal> dma_operation::check_overlap() const {
    const bool in_place =
        computes() && numerics::size_of(source_type()) == numerics::size_of(result_type());
    auto whole = [&](piece p, bool table) {
        if (table)
            p.length = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(std::uint64_t{p.length} * parameter_, ~std::uint32_t{0}));
        return p;
    };
    const auto refuse = [](const piece& a, const piece& b) {
        return refusal{misuse::operand_overlap, cause::m2s_operand,
                       fmt::format("{:#x} + {:#x} and {:#x} + {:#x}", a.address, a.length,
                                   b.address, b.length)};
    };
    for (std::size_t i = 0; i < destinations_.size(); ++i) {
        const piece written = whole(destinations_[i], code() == fields::operation_scatter);
        for (std::size_t k = 0; k < sources_.size(); ++k) {
            const piece read = whole(sources_[k], code() == fields::operation_gather && k == 1);
            const bool same = written.address == read.address && written.length == read.length;
            if (overlap(written, read) && !(in_place && same)) return refuse(read, written);
        }
        for (std::size_t k = 0; k < i; ++k)
            if (overlap(written, destinations_[k])) return refuse(destinations_[k], written);
    }
    return std::nullopt;
}

// ---- Execution

void dma_operation::list(const std::vector<piece>& pieces, std::uint32_t offset) {
    for (const piece& p : pieces) {
        accesses_.push_back({p.address, p.length, offset});
        offset += p.length;
    }
}

/// The buffer contains the destination's old bytes (if accumulating), the sources, and the result.
void dma_operation::begin(std::vector<std::uint8_t>& buffer) {
    operands_at_ = accumulates() ? result_bytes_ : 0;
    result_at_ = operands_at_ + static_cast<std::uint32_t>(source_bytes_);
    stage_ = indirect() ? stage::indices : stage::operands;
    accesses_.clear();
    if (accumulates()) list(destinations_, 0);
    if (code() == fields::operation_gather) {
        accesses_.push_back({sources_.front().address, sources_.front().length, 0});
        result_at_ = sources_.front().length;
    } else {
        list(sources_, operands_at_);
        if (code() == fields::operation_copy) result_at_ = 0;
    }
    const std::size_t needed =
        std::size_t{result_at_} + std::max<std::size_t>(result_bytes_, source_bytes_);
    if (buffer.size() < needed) buffer.resize(needed);
}

std::optional<dma_operation::refusal> dma_operation::next_stage(std::vector<std::uint8_t>& buffer) {
    accesses_.clear();
    if (stage_ == stage::indices) return look_up(buffer);
    if (computes() || transposes()) compute(buffer);
    list_results();
    return std::nullopt;
}

void dma_operation::list_results() {
    stage_ = stage::results;
    std::uint32_t offset = 0;
    for (const piece& p : destinations_) {
        accesses_.push_back({p.address, p.length, result_at_ + offset});
        offset = (offset + p.length) % result_bytes_;
    }
}

std::uint32_t dma_operation::element_bytes() const {
    return code() == fields::operation_gather ? sources_.back().length
                                              : destinations_.front().length;
}

std::uint32_t dma_operation::index(const std::vector<std::uint8_t>& buffer, std::uint32_t i) const {
    std::uint32_t value;
    std::memcpy(&value, buffer.data() + i * sizeof value, sizeof value);
    return value;
}

/// Lists the accesses of the elements that the indices select, one access each.
std::optional<dma_operation::refusal> dma_operation::look_up(std::vector<std::uint8_t>& buffer) {
    const bool gathers = code() == fields::operation_gather;
    const std::uint64_t table = gathers ? sources_.back().address : destinations_.front().address;
    const std::uint32_t size = element_bytes(), first = sources_.front().length;
    if (gathers) std::memset(buffer.data() + result_at_, 0, result_bytes_);
    for (std::uint32_t i = 0; i < indices(); ++i) {
        const std::uint32_t selected = index(buffer, i);
        if (selected < parameter_) {
            accesses_.push_back({table + std::uint64_t{selected} * size, size, first + i * size});
        } else if (!flag(fields::skip)) {
            accesses_.clear();
            return refusal{misuse::index_out_of_range, cause::m2s_index,
                           fmt::format("index {} is {} of a table of {}", i, selected, parameter_)};
        }
    }
    stage_ = gathers ? stage::operands : stage::results;
    return std::nullopt;
}

void dma_operation::compute(std::vector<std::uint8_t>& buffer) const {
    const std::uint8_t* const operands = buffer.data() + operands_at_;
    std::uint8_t* const result = buffer.data() + result_at_;
    if (transposes()) {
        const auto rows = static_cast<std::uint32_t>(parameter::rows_.get(parameter_));
        const auto columns = static_cast<std::uint32_t>(parameter::columns.get(parameter_));
        return numerics::size_of(source_type()) == 2
                   ? transpose<std::uint16_t>(operands, result, rows, columns)
                   : transpose<std::uint32_t>(operands, result, rows, columns);
    }
    std::vector<const std::uint8_t*> starts;
    if (accumulates()) starts.push_back(buffer.data());
    for (std::uint32_t k = 0; k < operand_count(); ++k)
        starts.push_back(operands + k * operand_bytes());
    reduce(starts, result);
}

bool dma_operation::in_whole_pieces() const {
    return computes() && sources_.size() == operand_count() && destinations_.size() == copies();
}

void dma_operation::reduce(std::span<const std::uint8_t* const> operands,
                           std::uint8_t* result) const {
    std::vector<float> scales;
    if (accumulates()) scales.push_back(1);
    scales.insert(scales.end(), scales_.begin(), scales_.end());
    numerics::reduce({static_cast<numerics::operation>(code() - fields::operation_cast),
                      source_type(),
                      result_type(),
                      {flag(fields::saturate), flag(fields::stochastic), parameter_},
                      scales},
                     operands, result, operand_bytes() / numerics::size_of(source_type()));
}

}  // namespace trn
