// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/collectives/reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "sw-stubs/host/values/compute_reference.h"
#include "sw-stubs/host/values/pattern.h"

namespace trn {

namespace {

/// The nearest BF16, ties to even. Fast, because most checks of collectives use BF16: an object, so
/// that no call goes through a pointer.
constexpr auto to_bf16 = [](float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
};
constexpr auto from_bf16 = [](std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
};

/// The nearest value of an integer type, saturated.
template <typename T>
T to_integer(float value) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    return static_cast<T>(std::clamp(rounded, low, high));
}

/// Calls `work` with conversions from elements to float and back.
template <typename Work>
void with_type(trn_element type, Work&& work) {
    const auto integer = [&]<typename T>(T) {
        work(
            T{}, [](T v) { return static_cast<float>(v); },
            [](float v) { return to_integer<T>(v); });
    };
    switch (type) {
    case TRN_FP32:
        return work(
            float{}, [](float v) { return v; }, [](float v) { return v; });
    case TRN_BF16:
        return work(std::uint16_t{}, from_bf16, to_bf16);
    case TRN_FP16:
        return work(
            std::uint16_t{},
            [](std::uint16_t v) { return static_cast<float>(reference::decode(TRN_FP16, v)); },
            [](float v) {
                return static_cast<std::uint16_t>(reference::encode(TRN_FP16, v, false));
            });
    case TRN_INT8:
        return integer(std::int8_t{});
    case TRN_UINT8:
        return integer(std::uint8_t{});
    case TRN_INT32:
        return integer(std::int32_t{});
    case TRN_UINT32:
        return integer(std::uint32_t{});
    default:
        return;  // not a type of collectives
    }
}

bool has_fraction(trn_element type) {
    return type == TRN_FP32 || type == TRN_BF16 || type == TRN_FP16;
}

/// Small input values: signed for signed types, with a fraction for floating-point types.
constexpr std::uint32_t value_count = 2001;
template <typename T>
float value_of(std::uint32_t number, bool fraction) {
    const auto small = static_cast<std::int32_t>(number) - 1000;
    if (fraction) return static_cast<float>(small) / 64.0f;
    if constexpr (sizeof(T) == 1)
        return static_cast<float>(std::numeric_limits<T>::min() < 0 ? small % 100
                                                                    : std::abs(small) % 200);
    return static_cast<float>(std::numeric_limits<T>::is_signed ? small : std::abs(small));
}

/// Bytes of each of `parts` parts; the last ones are smaller or empty.
std::uint64_t part_of(std::uint64_t bytes, std::uint64_t parts) {
    return (bytes + parts * TRN_COLL_PART - 1) / (parts * TRN_COLL_PART) * TRN_COLL_PART;
}

}  // namespace

collective_reference::collective_reference(const trn_coll_config& config) : config_(config) {
    if (config.algorithm == TRN_COLL_DOUBLING || config.algorithm == TRN_COLL_HALVING)
        trn_coll_get_grid(&config, &grid_);
}

/// Most of the time of a check is spent here: a random word gives four elements, and each value is
/// rounded once.
void collective_reference::input(std::uint32_t rank, std::uint64_t first,
                                 std::span<std::uint8_t> bytes) const {
    const auto key = (std::uint64_t{first_rank_} + rank + 1) * 0x9e3779b97f4a7c15;
    with_type(config_.type, [&](auto element, auto, auto round) {
        using T = decltype(element);
        static const auto values = [&] {  // of this type
            std::array<T, value_count> all;
            for (std::uint32_t n = 0; n < value_count; ++n)
                all[n] = round(value_of<T>(n, has_fraction(config_.type)));
            return all;
        }();
        const auto element_of = [](std::uint64_t word) {
            return values[(word & 0xffff) * value_count >> 16];
        };
        std::uint8_t* destination = bytes.data();
        const std::uint64_t last = first + bytes.size() / sizeof(T);
        for (std::uint64_t n = first; n < last;) {
            const auto word = mix(key + n / 4);
            if (n % 4 == 0 && last - n >= 4) {
                const T four[] = {element_of(word), element_of(word >> 16), element_of(word >> 32),
                                  element_of(word >> 48)};
                std::memcpy(destination, four, sizeof four);
                n += 4;
                destination += sizeof four;
            } else {
                const T value = element_of(word >> 16 * (n % 4));
                std::memcpy(destination, &value, sizeof value);
                n += 1;
                destination += sizeof value;
            }
        }
    });
}

std::uint32_t collective_reference::position_of(std::uint32_t rank) const {
    return static_cast<std::uint32_t>(std::find(config_.ring, config_.ring + config_.ranks, rank) -
                                      config_.ring);
}

/// Adds operands to `sum` in order and rounds once.
void collective_reference::add(std::span<std::uint8_t> sum,
                               const std::vector<std::vector<std::uint8_t>>& operands) const {
    with_type(config_.type, [&](auto element, auto widen, auto round) {
        using T = decltype(element);
        const auto element_at = [&](const auto& bytes, std::size_t offset) {
            T value;
            std::memcpy(&value, &bytes[offset], sizeof value);
            return widen(value);
        };
        for (std::size_t offset = 0; offset < sum.size(); offset += sizeof(T)) {
            float x = element_at(sum, offset);
            for (const auto& operand : operands) {
                const float y = element_at(operand, offset);
                x = config_.with == TRN_COLL_MIN   ? std::min(x, y)
                    : config_.with == TRN_COLL_MAX ? std::max(x, y)
                                                   : x + y;
            }
            const T result = round(x);
            std::memcpy(&sum[offset], &result, sizeof result);
        }
    });
}

std::vector<std::uint8_t> collective_reference::input_of(std::uint32_t rank, std::uint64_t first,
                                                         std::size_t size) const {
    std::vector<std::uint8_t> bytes(size);
    input(rank, first, bytes);
    return bytes;
}

/// A block starts at the rank after its owner and travels around the ring; each rank adds and
/// rounds.
void collective_reference::ring_sum(std::uint32_t owner, std::uint64_t first,
                                    std::span<std::uint8_t> bytes) const {
    const auto begin = position_of(owner);
    input(config_.ring[(begin + 1) % config_.ranks], first, bytes);
    for (std::uint32_t n = 2; n <= config_.ranks; ++n)
        add(bytes, {input_of(config_.ring[(begin + n) % config_.ranks], first, bytes.size())});
}

/// As ring_sum, over pairs: each pair adds both of its operands and rounds once.
void collective_reference::kanga_sum(std::uint32_t owner, std::uint64_t first,
                                     std::span<std::uint8_t> bytes) const {
    const auto pairs = config_.ranks / 2, begin = position_of(owner) / 2;
    assert(pairs > 0);  // KangaRing refuses an odd number of ranks
    const auto part = [&](std::uint32_t n, std::uint32_t half) {
        return input_of(config_.ring[2 * ((begin + n) % pairs) + half], first, bytes.size());
    };
    std::ranges::copy(part(1, 0), bytes.begin());
    add(bytes, {part(1, 1)});
    for (std::uint32_t n = 2; n <= pairs; ++n) add(bytes, {part(n, 0), part(n, 1)});
}

/// The ranks of a point: two if it has a twin.
std::vector<std::uint32_t> collective_reference::ranks_at(std::uint32_t point) const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < config_.ranks; ++rank)
        if (grid_.point[rank] == point) ranks.push_back(rank);
    return ranks;
}

/// Channels begin with different sides.
std::uint32_t collective_reference::side_of(std::uint32_t channel, std::uint32_t step) const {
    return (channel + step) % grid_.sides;
}

/// All points on the line through a point along a side, in order.
std::vector<std::uint32_t> collective_reference::along(std::uint32_t point,
                                                       std::uint32_t side) const {
    const auto stride = std::accumulate(&grid_.length[side + 1], &grid_.length[grid_.sides], 1u,
                                        std::multiplies<>());
    const auto length = grid_.length[side];
    std::vector<std::uint32_t> points;
    for (std::uint32_t n = 0; n < length; ++n)
        points.push_back(point / (stride * length) * (stride * length) + n * stride +
                         point % stride);
    return points;
}

/// Adds the operands along a side in order, then the sums along the next side, and so on; each sum
/// is rounded.
void collective_reference::doubling_sum(std::uint32_t point, std::uint32_t channel,
                                        std::uint32_t steps, std::uint64_t first,
                                        std::span<std::uint8_t> bytes) const {
    std::vector<std::vector<std::uint8_t>> operands;
    if (steps == 0) {
        for (const auto rank : ranks_at(point))
            operands.push_back(input_of(rank, first, bytes.size()));
    } else {
        for (const auto other : along(point, side_of(channel, steps - 1)))
            doubling_sum(other, channel, steps - 1, first, operands.emplace_back(bytes.size()));
    }
    std::ranges::copy(operands.front(), bytes.begin());
    operands.erase(operands.begin());
    add(bytes, operands);
}

/// The sum of a point after `steps` steps: its own operand, then for each step the sums of the
/// others along its side before that step, the nearest first; rounded once, at the end.
void collective_reference::halving_sum(std::uint32_t point, std::uint32_t channel,
                                       std::uint32_t steps, std::uint64_t first,
                                       std::span<std::uint8_t> bytes) const {
    std::vector<std::vector<std::uint8_t>> operands;
    for (const auto rank : ranks_at(point)) operands.push_back(input_of(rank, first, bytes.size()));
    for (std::uint32_t n = 0; n < steps; ++n) {
        auto line = along(point, side_of(channel, n));
        std::rotate(line.begin(), std::ranges::find(line, point), line.end());
        for (const auto other : std::span(line).subspan(1))
            halving_sum(other, channel, n, first, operands.emplace_back(bytes.size()));
    }
    std::ranges::copy(operands.front(), bytes.begin());
    operands.erase(operands.begin());
    add(bytes, operands);
}

/// Each channel has a part of every block (of the whole buffer when sums are doubled): multiples of
/// 64 bytes, the last part smaller.
void collective_reference::grid_sum(std::uint32_t owner, std::uint64_t first,
                                    std::span<std::uint8_t> bytes) const {
    const auto size = trn_coll_type_bytes(config_.type);
    const auto channels = std::max(1u, config_.channels);
    const bool doubling = config_.algorithm == TRN_COLL_DOUBLING;
    const auto whole = doubling ? config_.bytes : block_length() * size;
    const auto part = part_of(whole, channels);
    for (std::size_t done = 0; done < bytes.size();) {
        const auto offset = (first * size + done) % whole;
        const auto channel = static_cast<std::uint32_t>(offset / part);
        const auto piece = bytes.subspan(
            done, std::min<std::size_t>(bytes.size() - done,
                                        std::min(part - offset % part, whole - offset)));
        if (doubling)
            doubling_sum(0, channel, grid_.sides, first + done / size, piece);
        else
            halving_sum(grid_.point[owner], channel, grid_.sides, first + done / size, piece);
        done += piece.size();
    }
}

/// The sum of each domain by itself, then the sum of these in order, rounded once.
void collective_reference::sum_of_domains(std::uint32_t owner, std::uint64_t first,
                                          std::span<std::uint8_t> bytes) const {
    const auto ranks = std::max(1u, config_.ranks / config_.domains);
    std::vector<std::vector<std::uint8_t>> sums;
    for (std::uint32_t n = 0; n < config_.domains; ++n) {
        std::vector<std::uint32_t> rings;
        for (std::uint32_t position = 0; position < std::max(1u, config_.rings) * config_.ranks;
             ++position)
            if (config_.ring[position] / ranks == n)
                rings.push_back(config_.ring[position] % ranks);
        auto part = config_;
        part.domains = 1;
        part.ranks = ranks;
        part.ring = rings.data();
        collective_reference domain(part);
        domain.grid_ = grid_;
        domain.first_rank_ = n * ranks;
        sums.emplace_back(bytes.size());
        if (config_.op == TRN_COLL_ALL_REDUCE) {
            domain.sum_of_all(first, sums.back());
        } else {
            part.block = block_length() * trn_coll_type_bytes(config_.type);
            domain.first_owner_ = owner / ranks * ranks;
            domain.sum(owner % ranks, first, sums.back());
        }
    }
    std::ranges::copy(sums.front(), bytes.begin());
    sums.erase(sums.begin());
    add(bytes, sums);
}

/// Begin and length, in elements, of the block of an element that is reduced as a unit.
std::pair<std::uint64_t, std::uint64_t> collective_reference::summed_block(
    std::uint32_t owner, std::uint64_t element) const {
    if (config_.op == TRN_COLL_REDUCE_SCATTER_V)
        return {std::accumulate(config_.counts, config_.counts + first_owner_ + owner,
                                std::uint64_t{0}),
                config_.counts[first_owner_ + owner]};
    const auto block = block_length();
    return {element / block * block, block};
}

/// Elements of a block, of which the last ones are smaller or empty.
std::uint64_t collective_reference::block_length() const {
    const auto size = trn_coll_type_bytes(config_.type);
    if (config_.block != 0) return config_.block / size;
    return (config_.bytes / size + config_.ranks - 1) / config_.ranks;
}

/// The sum of each block of an all-reduce.
void collective_reference::sum_of_all(std::uint64_t first, std::span<std::uint8_t> bytes) const {
    const auto size = trn_coll_type_bytes(config_.type);
    if (config_.domains > 1) return sum_of_domains(0, first, bytes);
    const auto block = block_length();
    for (std::size_t done = 0; done < bytes.size();) {
        const auto element = first + done / size;
        const auto part = bytes.subspan(
            done, std::min<std::size_t>(bytes.size() - done, (block - element % block) * size));
        sum(static_cast<std::uint32_t>(element / block), element, part);
        done += part.size();
    }
}

/// Each ring reduces its part of the block, in the ring's order.
void collective_reference::sum_of_rings(std::uint32_t owner, std::uint64_t first,
                                        std::span<std::uint8_t> bytes) const {
    const auto [begin, length] = summed_block(owner, first);
    const auto size = trn_coll_type_bytes(config_.type);
    const auto each = part_of(length * size, config_.rings) / size;
    for (std::size_t done = 0; done < bytes.size();) {
        const auto element = first + done / size, ring = (element - begin) / each;
        const auto part = bytes.subspan(
            done, std::min<std::size_t>(bytes.size() - done,
                                        (begin + (ring + 1) * each - element) * size));
        auto config = config_;
        config.ring += ring * config_.ranks;
        config.rings = 1;
        collective_reference of_ring(config);
        of_ring.first_rank_ = first_rank_;
        of_ring.sum(owner, element, part);
        done += part.size();
    }
}

void collective_reference::sum(std::uint32_t owner, std::uint64_t first,
                               std::span<std::uint8_t> bytes) const {
    if (config_.domains > 1) return sum_of_domains(owner, first, bytes);
    if (config_.rings > 1) return sum_of_rings(owner, first, bytes);
    switch (config_.algorithm) {
    case TRN_COLL_DOUBLING:
    case TRN_COLL_HALVING:
        return grid_sum(owner, first, bytes);
    case TRN_COLL_KANGARING:
        return kanga_sum(owner, first, bytes);
    default:
        return ring_sum(owner, first, bytes);
    }
}

/// Elements of a block of a rank's receive buffer.
std::uint64_t collective_reference::block_of(std::uint32_t rank, std::uint32_t number) const {
    switch (config_.op) {
    case TRN_COLL_ALL_GATHER_V:
        return config_.counts[number];
    case TRN_COLL_ALL_TO_ALL_V:
        return config_.counts[std::size_t{number} * config_.ranks + rank];
    case TRN_COLL_ALL_GATHER:
        return block_length();
    case TRN_COLL_ALL_TO_ALL: {
        const auto all = config_.bytes / trn_coll_type_bytes(config_.type);
        const auto begin = std::min(all, rank * block_length());
        return std::min(all - begin, block_length());
    }
    default:  // one block
        return config_.bytes / trn_coll_type_bytes(config_.type);
    }
}

/// The rank that sends to a rank of a permute.
std::uint32_t collective_reference::source_of(std::uint32_t rank) const {
    if (config_.targets == nullptr)
        return config_.ring[(position_of(rank) + config_.ranks - 1) % config_.ranks];
    const auto* const end = config_.targets + config_.ranks;
    const auto* const found = std::find(config_.targets, end, rank);
    return found == end ? TRN_COLL_NO_RANK : static_cast<std::uint32_t>(found - config_.targets);
}

void collective_reference::output(std::uint32_t rank, std::uint64_t first,
                                  std::span<std::uint8_t> bytes) const {
    const auto size = trn_coll_type_bytes(config_.type);
    if (config_.op == TRN_COLL_REDUCE_SCATTER_V) {
        const auto before = std::accumulate(config_.counts, config_.counts + rank, first);
        return sum(rank, before, bytes);
    }
    // Split at the ends of blocks, and so that the operands of a sum stay in a processor's cache.
    constexpr std::size_t cached_bytes = 64 << 10;
    std::uint32_t owner = 0;
    std::uint64_t begin = 0;  // of the owner's block
    for (std::size_t done = 0; done < bytes.size();) {
        const auto element = first + done / size;
        while (element >= begin + block_of(rank, owner)) begin += block_of(rank, owner++);
        const auto inside = element - begin;
        const auto part = bytes.subspan(
            done, std::min<std::size_t>({bytes.size() - done,
                                         (block_of(rank, owner) - inside) * size, cached_bytes}));
        switch (config_.op) {
        case TRN_COLL_ALL_REDUCE:
            sum_of_all(element, part);
            break;
        case TRN_COLL_REDUCE_SCATTER:
            sum(rank, rank * block_length() + element, part);
            break;
        case TRN_COLL_ALL_GATHER:
        case TRN_COLL_ALL_GATHER_V:
            input(owner, inside, part);
            break;
        case TRN_COLL_ALL_TO_ALL:
            input(owner, rank * block_length() + inside, part);
            break;
        case TRN_COLL_ALL_TO_ALL_V: {
            const auto* row = config_.counts + std::size_t{owner} * config_.ranks;
            input(owner, std::accumulate(row, row + rank, inside), part);
            break;
        }
        case TRN_COLL_PERMUTE:
            if (source_of(rank) != TRN_COLL_NO_RANK) input(source_of(rank), element, part);
            break;
        case TRN_COLL_BROADCAST:
            input(config_.root, element, part);
            break;
        case TRN_COLL_BARRIER:
        case TRN_COLL_REDUCE_SCATTER_V:
            break;
        }
        done += part.size();
    }
}

}  // namespace trn
