// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/log/stored_frame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>

namespace trn::recording {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t max_block = 128 << 10;
constexpr std::uint8_t descriptor = 0xa4;  // size of 4 bytes, single segment, checksum

/// XXH64 with seed 0; its low half is the checksum of a frame.
class xxh64 {
public:
    static std::uint64_t digest(std::span<const std::uint8_t> bytes) {
        std::uint64_t hash = prime5;
        const std::uint64_t size = bytes.size();
        if (size >= stripe) {
            std::uint64_t a = prime1 + prime2, b = prime2, c = 0, d = 0 - prime1;
            for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) {
                a = round(a, word(bytes.data()));
                b = round(b, word(bytes.data() + 8));
                c = round(c, word(bytes.data() + 16));
                d = round(d, word(bytes.data() + 24));
            }
            hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
            for (const auto lane : {a, b, c, d}) hash = (hash ^ round(0, lane)) * prime1 + prime4;
        }
        hash += size;
        for (; bytes.size() >= 8; bytes = bytes.subspan(8))
            hash = std::rotl(hash ^ round(0, word(bytes.data())), 27) * prime1 + prime4;
        if (bytes.size() >= 4) {
            std::uint32_t half = 0;
            std::memcpy(&half, bytes.data(), sizeof half);
            hash = std::rotl(hash ^ half * prime1, 23) * prime2 + prime3;
            bytes = bytes.subspan(4);
        }
        for (const auto byte : bytes) hash = std::rotl(hash ^ byte * prime5, 11) * prime1;
        hash = (hash ^ hash >> 33) * prime2;
        hash = (hash ^ hash >> 29) * prime3;
        return hash ^ hash >> 32;
    }

private:
    static constexpr std::size_t stripe = 32;
    static constexpr std::uint64_t prime1 = 0x9e37'79b1'85eb'ca87, prime2 = 0xc2b2'ae3d'27d4'eb4f,
                                   prime3 = 0x1656'67b1'9e37'79f9, prime4 = 0x85eb'ca77'c2b2'ae63,
                                   prime5 = 0x27d4'eb2f'1656'67c5;

    static std::uint64_t word(const std::uint8_t* bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes, sizeof value);
        return value;
    }
    static std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
        return std::rotl(lane + word * prime2, 31) * prime1;
    }
};

template <std::size_t size>
void put(std::ostream& out, std::uint64_t value) {
    std::array<char, size> bytes;
    std::memcpy(bytes.data(), &value, size);
    out.write(bytes.data(), size);
}

}  // namespace

std::size_t write_stored_frame(std::ostream& out, std::span<const std::uint8_t> bytes) {
    constexpr std::uint32_t magic = 0xfd2f'b528;
    put<4>(out, magic);
    put<1>(out, descriptor);
    put<4>(out, bytes.size());
    std::size_t size = 4 + 1 + 4;
    const auto checksum = xxh64::digest(bytes);
    do {
        const auto block = bytes.first(std::min(bytes.size(), max_block));
        bytes = bytes.subspan(block.size());
        put<3>(out, block.size() << 3 | (bytes.empty() ? 1 : 0));
        out.write(reinterpret_cast<const char*>(block.data()),
                  static_cast<std::streamsize>(block.size()));
        size += 3 + block.size();
    } while (!bytes.empty());
    put<4>(out, checksum);
    return size + 4;
}

}  // namespace trn::recording
