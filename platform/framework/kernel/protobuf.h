// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trn {

/// Encodes a message in the wire format of Protocol Buffers, field by field:
/// https://protobuf.dev/programming-guides/encoding. Reusing an object allocates no memory.
class protobuf {
public:
    void number(unsigned field, std::uint64_t value) {
        tag(field, 0);
        varint(value);
    }
    void fixed64(unsigned field, std::uint64_t value) {
        tag(field, 1);
        for (unsigned shift = 0; shift < 64; shift += 8)
            bytes_ += static_cast<char>(value >> shift & 0xff);
    }
    /// A field of text, or an embedded message.
    void bytes(unsigned field, std::string_view value) {
        tag(field, 2);
        varint(value.size());
        bytes_ += value;
    }
    std::string_view view() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    void tag(unsigned field, unsigned type) { varint(field << 3 | type); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

}  // namespace trn
