// SPDX-License-Identifier: Apache-2.0
// Arbitrary program sets, as files and as texts. The reader accepts a file or refuses it with a
// message; for any chip it accepts all files that it accepts for one. A text has errors, or is
// assembled to a set whose disassembly yields the same set again.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/program_set/program_set.h"
#include "platform/framework/config/diagnostics.h"
#include "tests/support/fuzz.h"

namespace {

using namespace trn;
using test::fuzz_random;

const std::vector<std::string> texts = {
    R"(.generation v4
.set N 512
.tensor x fp32 [128, {N}] in
.tensor y fp32 [128, {N}] out align=4096
.transfer load_x x -> sbuf[0:128, 0] queue=2 S[4]
.transfer store_y sbuf[0:128, 4096] -> y queue=2 S[24]
.engine sync
    dma_start load_x
    wait S[8]>=1 dma_start store_y
    wait S[24]>=16 nop
    halt code=1
.engine vector
again:
    wait S[4]>=16 update S[8]+=1 tensor_tensor op0=add dst=sbuf[0:128, 4096] fp32 [{N}:1] a=sbuf[0:128, 0] fp32 [{N}:1] b=sbuf[0:128, 0] fp32 [{N}:1]
    loop rd=R1 step=1 imm=2 target=again
    halt code=7
)",
    R"(.cores 2
.tensor w bf16 [4, 128, 64] in core=1
.tensor s int32 [16] scratch
.repeat i 4
.transfer w{i} w[{i}, 0:128, 0:64] -> sbuf[0:128, {i * 128}] queue={i % 2} engines=0xff core1.S[{i}]
.end
.transfer swap w[0:4, 0:64, 0:32] -> psum[32:96, 16, 64] rows=1 queue=3
.transfer spread s -> sbuf[0:128, 0] broadcast queue=4
.core 1
.transfer over core0.sbuf[0:32, 0] -> sbuf[32:64, 8] bytes=100 S[3]
.engine sync
.if 1 == 2
    nop
.else
    write @core0.S[5].4=1 @control.vector+8.4=R3
.end
    dma_start over
    reg_load rd=R1 type=int32 address=@s+4
    dge_copy engines=3 queue=3 semaphore=9 piece=64 source=@w + R3*64 [8:1024] destination=@sbuf+0x100 [8:64]
    write @cc[1]+0x20000.4=2 @program.sync.8=1
    halt
)"};

[[noreturn]] void wrong(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::abort();
}

set_fault read_as_loader(const std::vector<std::uint8_t>& file, unsigned generation) {
    const set_limits limits = {generation, 262'144, 16'384, 2};
    program_set set;
    char why[256] = "";
    const set_fault fault = trn_set_read(file.data(), file.size(), &limits, &set, why, sizeof why);
    if (fault != SET_OK && why[0] == 0) wrong("refused without a sentence");
    if (fault == SET_OK)
        for (std::uint32_t n = 0; n < set.stream_count; ++n) trn_set_line(&set, &set.streams[n], 0);
    trn_set_free(&set);
    return fault;
}

void try_file(const std::vector<std::uint8_t>& file) {
    const set_fault fault = read_as_loader(file, 4);
    try {
        isa::disassemble(isa::read_program_set(file));
    } catch (const isa::program_set_error& why) {
        if (fault != SET_OK) return;
        std::fprintf(stderr, "%s\n", why.what());
        wrong("the loader takes what the assembler refuses");
    }
}

void try_text(const std::string& text) {
    std::vector<std::uint8_t> first;
    try {
        isa::program_set set = isa::assemble_set(text, "text");
        if (set.streams.empty() || !set.streams.front().engine) return;
        set.files.clear();
        first = isa::write_program_set(set);
    } catch (const config_error&) {
        return;
    }
    const auto back = isa::read_program_set(first);
    try {
        auto again = isa::assemble_set(isa::disassemble(back), "again");
        again.files.clear();
        if (isa::write_program_set(again) == first) return;
        std::fprintf(stderr, "%s\n--- becomes\n%s", text.c_str(), isa::disassemble(back).c_str());
        wrong("the text of a set is another set");
    } catch (const config_error& error) {
        wrong(error.what());
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    for (const std::string& text : texts) {
        const auto file = isa::write_program_set(isa::assemble_set(text, "text"));
        if (read_as_loader(file, 4) != SET_OK) wrong("the loader refuses a sound set");
        files.emplace_back(file.begin(), file.end());
    }
    const test::mutator of_files(files, {std::string("\0\0\0\0", 4), "\xff\xff\xff\xff", "\x01"});
    const test::mutator of_texts(
        texts, {"{i}", "{N * 2}", ".repeat k 3\n", ".end\n", "0x7fffffffffffffff", "-1", "S[255]",
                "core7.", "@x", "rows=2", " queue=12", "dma_start load_x\n", "[0:1]"});
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        if (random.below(2) == 0) {
            const std::string file = of_files.make(random);
            try_file({file.begin(), file.end()});
        } else {
            try_text(of_texts.make(random));
        }
    });
}
