// SPDX-License-Identifier: Apache-2.0
// Arbitrary ELF files: read_elf() returns a program whose segments are within the file and the
// address space, or throws elf_error.
#include <cstdlib>

#include "platform/framework/loader/elf.h"
#include "tests/support/fuzz.h"
#include "tests/unit/loader/elf_image.h"

namespace {

using namespace trn;
using bytes = std::vector<std::uint8_t>;

std::string as_text(const bytes& image) {
    return {image.begin(), image.end()};
}

/// The ELF file of this program, patched to RISC-V: it has sections, symbols, many segments.
std::string host_program() {
    std::string text = test::file_text("/proc/self/exe").substr(0, 48 << 10);
    text[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_RISCV);
    return text;
}

/// Replaces some numbers in header fields by boundary values.
void change_numbers(std::string& text, test::fuzz_random& random) {
    const std::uint64_t numbers[] = {0,           1,          ~0ull,      1ull << 63,
                                     text.size(), 0x7fffffff, 0xffffffff, random.next()};
    for (auto n = random.below(4); n > 0 && text.size() > 8; --n) {
        const std::uint64_t value = numbers[random.below(std::size(numbers))];
        const std::size_t width = std::size_t{1} << random.below(4);
        const std::size_t near = std::min<std::size_t>(text.size() - 8, 512);
        std::memcpy(text.data() + random.below(near), &value, width);
    }
}

void check(const elf_program& program, std::size_t file_size) {
    for (const auto& segment : program.segments) {
        const bool wraps = segment.address + (segment.size - 1) < segment.address;
        if (segment.bytes.size() > segment.size || segment.bytes.size() > file_size || wraps)
            std::abort();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const test::mutator mutator(
        {as_text(test::elf_image()), as_text(test::elf_image({})), host_program()},
        {std::string("\x7f"
                     "ELF"),
         std::string(8, '\xff'), std::string(8, 0)});
    return test::fuzz(argc, argv, [&](test::fuzz_random& random) {
        std::string text = mutator.make(random);
        change_numbers(text, random);
        const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());  // copied at once
        const bytes image(begin, begin + text.size());
        try {
            check(read_elf(image, "fuzz"), image.size());
        } catch (const elf_error&) {
        }
    });
}
