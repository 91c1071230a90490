// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/kallsyms.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace trn {

namespace {

using bytes = std::span<const std::uint8_t>;

constexpr std::size_t tokens = 256, names_per_marker = 256;
constexpr std::size_t max_token_table = 1 << 14;
constexpr std::size_t max_name = 1024;           // KSYM_NAME_LEN is 512
constexpr std::size_t max_compressed = 1 << 14;  // of a name: two bytes of length

std::size_t aligned(std::size_t offset) {
    return (offset + 7) & ~std::size_t{7};
}

/// Zero outside of the image.
template <typename Number>
Number number_at(bytes image, std::size_t offset) {
    Number value = 0;
    if (offset <= image.size() && image.size() - offset >= sizeof value)
        std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
}

/// Text that a byte of a compressed name stands for, by byte.
struct token_table {
    std::size_t first = 0;  // offset of the table
    std::size_t index = 0;  // offset of its index
    std::array<std::string_view, tokens> texts;

    bool read(bytes image, std::size_t offset) {
        first = offset;
        std::array<std::uint16_t, tokens> offsets{};
        for (std::size_t i = 0; i < tokens; ++i) {
            const auto rest = image.subspan(std::min(offset, image.size()));
            const auto end = std::ranges::find(rest, 0);
            if (end == rest.end() || offset - first > max_token_table) return false;
            const auto length = static_cast<std::size_t>(end - rest.begin());
            offsets[i] = static_cast<std::uint16_t>(offset - first);
            texts[i] = {reinterpret_cast<const char*>(rest.data()), length};
            offset += length + 1;
        }
        index = aligned(offset);
        if (index > image.size() || image.size() - index < sizeof offsets) return false;
        return std::memcmp(image.data() + index, offsets.data(), sizeof offsets) == 0;
    }
};

/// The tables in an image.
class table_reader {
public:
    explicit table_reader(bytes image) : image_(image) {}

    std::vector<kallsyms::symbol> read() {
        if (!find_tokens()) throw kernel_image_error("there is no table of symbols (kallsyms)");
        if (!find_markers() || !find_names())
            throw kernel_image_error(
                "its table of symbols (kallsyms) has not the layout of Linux 6.5 and later");
        return symbols();
    }

private:
    /// The digits are tokens that stand for themselves, since names have all of them.
    bool find_tokens() {
        static constexpr std::string_view digits("0\0001\0002\0003\0004\0005\0006\0007\0008\0009",
                                                 20);
        for (auto start = image_.begin();;) {
            const auto found = std::search(start, image_.end(), digits.begin(), digits.end());
            if (found == image_.end()) return false;
            if (const auto first = first_token(static_cast<std::size_t>(found - image_.begin()));
                first && tokens_.read(image_, *first))
                return true;
            start = found + 1;
        }
    }

    /// The start of a table whose token of '0' is at `offset`.
    std::optional<std::size_t> first_token(std::size_t offset) const {
        for (std::size_t token = '0', limit = max_token_table; token > 0; --token) {
            if (offset == 0 || image_[offset - 1] != 0) return std::nullopt;
            for (--offset; offset > 0 && image_[offset - 1] != 0; --offset)
                if (limit-- == 0) return std::nullopt;
        }
        return offset;
    }

    /// Markers end before the tokens: ascending numbers, of which the first is 0.
    bool find_markers() {
        constexpr std::size_t limit = kallsyms::max_symbols / names_per_marker;
        std::size_t offset = tokens_.first;
        if (offset % 8 != 0 || offset < 16) return false;
        offset -= 4;
        if (marker_at(offset) == 0) offset -= 4;  // alignment
        for (std::size_t count = 1; count <= limit; ++count, offset -= 4) {
            if (marker_at(offset) == 0) {
                markers_ = offset;
                marker_count_ = count;
                return true;
            }
            if (offset < 4 || marker_at(offset - 4) >= marker_at(offset)) return false;
        }
        return false;
    }
    std::uint32_t marker_at(std::size_t offset) const {
        return number_at<std::uint32_t>(image_, offset);
    }

    /// Names end before the markers. The number of names is before them; the last block of names
    /// has an unknown length.
    bool find_names() {
        const std::size_t known = marker_at(markers_ + 4 * (marker_count_ - 1));
        if (markers_ < known + 8) return false;
        const std::size_t last = (markers_ - known - 8) & ~std::size_t{7};
        const std::size_t first = last - std::min(last, names_per_marker * max_name);
        for (std::size_t offset = last; offset > first; offset -= 8) {
            const auto count = number_at<std::uint32_t>(image_, offset);
            if ((count + names_per_marker - 1) / names_per_marker != marker_count_ || count == 0)
                continue;
            if (end_of_names(offset + 8, count) != markers_) continue;
            names_ = offset + 8;
            count_ = count;
            return true;
        }
        return false;
    }

    /// The aligned end of `count` names; 0 when they do not agree with the markers.
    std::size_t end_of_names(std::size_t first, std::uint32_t count) const {
        std::size_t offset = first;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i % names_per_marker == 0 &&
                marker_at(markers_ + 4 * (i / names_per_marker)) != offset - first)
                return 0;
            offset += compressed_at(offset).second;
            if (offset > markers_) return 0;
        }
        return aligned(offset);
    }

    /// The bytes of a compressed name, and their number with the length before them.
    std::pair<bytes, std::size_t> compressed_at(std::size_t offset) const {
        std::size_t length = number_at<std::uint8_t>(image_, offset), header = 1;
        if ((length & 0x80) != 0) {
            length = (length & 0x7f) | number_at<std::uint8_t>(image_, offset + 1) * 128u;
            header = 2;
        }
        length = std::min(length, max_compressed);
        if (offset + header > image_.size() || image_.size() - offset - header < length)
            return {{}, max_compressed};
        return {image_.subspan(offset + header, length), header + length};
    }

    std::vector<kallsyms::symbol> symbols() const {
        const std::size_t offsets = aligned(tokens_.index + 2 * tokens);
        const std::size_t base = aligned(offsets + std::size_t{4} * count_);
        if (base > image_.size() || image_.size() - base < 8)
            throw kernel_image_error("its table of symbols (kallsyms) ends outside the file");
        const auto relative_base = number_at<std::uint64_t>(image_, base);
        std::vector<kallsyms::symbol> all;
        all.reserve(count_);
        std::size_t offset = names_, total = 0;
        for (std::uint32_t i = 0; i < count_; ++i) {
            const auto [name, size] = compressed_at(offset);
            offset += size;
            std::string text;
            for (const auto token : name) {
                text += tokens_.texts[token];
                if (text.size() > max_name) break;
            }
            total += text.size();
            if (total > image_.size())
                throw kernel_image_error("its symbols (kallsyms) are longer than the file");
            if (text.empty()) continue;
            all.push_back(
                {relative_base + number_at<std::uint32_t>(image_, offsets + std::size_t{4} * i),
                 text.front(), text.substr(1)});
        }
        std::ranges::stable_sort(all, {}, &kallsyms::symbol::address);
        return all;
    }

    const bytes image_;
    token_table tokens_;
    std::size_t markers_ = 0, marker_count_ = 0, names_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace

kallsyms::kallsyms(std::span<const std::uint8_t> image) : symbols_(table_reader(image).read()) {}

std::optional<std::uint64_t> kallsyms::find(std::string_view name) const {
    const auto found = std::ranges::find(symbols_, name, &symbol::name);
    return found == symbols_.end() ? std::nullopt : std::optional(found->address);
}

const kallsyms::symbol* kallsyms::at(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(symbols_, address, {}, &symbol::address);
    if (next == symbols_.begin()) return nullptr;
    const auto found =
        std::ranges::lower_bound(symbols_, std::prev(next)->address, {}, &symbol::address);
    const auto& last = symbols_.back();
    return address > last.address ? nullptr : &*found;
}

void kallsyms::move(std::uint64_t slide) {
    for (auto& each : symbols_) each.address += slide;
}

}  // namespace trn
