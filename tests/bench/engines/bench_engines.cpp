// SPDX-License-Identifier: Apache-2.0
// Throughput of the data paths of a NeuronCore's engines: matmuls compared with OpenBLAS if
// installed (Debian's libopenblas, loaded at run time), lanes compared with memcpy of the same
// number of bytes.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "models/neuron_core/engines/scalar_engine.h"
#include "models/neuron_core/engines/tensor_engine.h"
#include "models/neuron_core/engines/vector_engine.h"
#include "models/neuron_isa/numerics/activation.h"
#include "tests/bench/rows.h"

namespace {

using namespace trn;
using isa::instruction;
using isa::opcode;
using isa::tile_operand;
using numerics::alu;
using numerics::element;
using test::bench_row;

class memory final : public isa::core_memory {
public:
    static constexpr std::uint32_t sbuf_pitch = 65536, psum_pitch = 16384;
    std::uint8_t* bytes(isa::space s) override {
        return (s == isa::space::psum ? psum_ : sbuf_).data();
    }
    std::uint32_t partition_bytes(isa::space s) const override {
        return s == isa::space::psum ? psum_pitch : sbuf_pitch;
    }
    bool has_errors() const override { return false; }
    bool check_read(isa::location, std::uint32_t) override { return true; }
    void written(isa::location, std::uint32_t) override {}

private:
    std::vector<std::uint8_t> sbuf_ = std::vector<std::uint8_t>(128 * sbuf_pitch),
                              psum_ = std::vector<std::uint8_t>(128 * psum_pitch);
};

tile_operand tile_of(element type, std::uint32_t offset, unsigned n,
                     isa::space where = isa::space::sbuf) {
    tile_operand t;
    t.place = {where, 0, offset};
    t.type = type;
    t.partitions = 128;
    t.dimensions = 1;
    t.pattern[0] = {1, static_cast<std::uint16_t>(n)};
    return t;
}

instruction make(opcode o, std::uint8_t op0 = 0) {
    instruction i;
    i.opcode = o;
    i.op0 = op0;
    return i;
}

/// The shortest of several runs, to exclude time taken by other processes of the host.
double best(const std::vector<double>& runs) {
    return *std::ranges::min_element(runs);
}

class bench {
public:
    std::vector<bench_row> rows;

    bench() {
        std::mt19937 random(1);
        for (unsigned p = 0; p < 128; ++p)
            for (std::uint32_t at = 0; at < memory::sbuf_pitch; at += 4) {
                // FP32 values near 1 whose halves and bytes are normal numbers of the other formats
                // too.
                const std::uint32_t bits = 0x3f003f00 | (random() & 0x806f806f);
                std::memcpy(memory_.bytes(isa::space::sbuf) + p * memory::sbuf_pitch + at, &bits,
                            4);
            }
    }

    /// Alternates with the peer, so that the load of the machine affects both.
    template <class Body, class Peer>
    void compare(const std::string& name, double work, const std::string& unit, Body body,
                 const std::string& peer_name, Peer peer, double goal) {
        std::vector<double> ours, theirs;
        for (int round = 0; round < 15; ++round) {
            ours.push_back(test::nanoseconds_once(1, body));
            theirs.push_back(test::nanoseconds_once(1, peer));
        }
        bench_row row{name, work / best(ours), unit};
        row.peer = peer_name;
        row.peer_value = work / best(theirs);
        char text[64];
        std::snprintf(text, sizeof text, "at least %.1f of %s", goal, peer_name.c_str());
        row.goal = text;
        row.met = row.value >= goal * *row.peer_value;
        rows.push_back(row);
    }

    void matmuls() {
        using sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*,
                               int, float, float*, int);
        void* library = dlopen("libopenblas.so.0", RTLD_NOW);
        const auto blas =
            library != nullptr ? reinterpret_cast<sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
        if (blas == nullptr) {
            std::fprintf(stderr, "bench_engines: libopenblas.so.0 is not installed\n");
            return;
        }
        constexpr int m = 128, k = 128, n = 512;
        std::vector<float> a(k * m, 1.25f), b(k * n, 0.75f), c(m * n);
        const auto peer = [&] {
            blas(101, 112, 111, m, n, k, 1.0f, a.data(), m, b.data(), n, 0.0f, c.data(), n);
        };
        struct {
            const char* name;
            element type;
            std::uint16_t mode;
            double macs, goal;
        } const cases[] = {
            {"matmul 128x128x512 BF16", element::bf16, 0, 1, 0.5},
            {"matmul 128x128x512 FP8", element::fp8_e4m3fn, 0, 1, 0.5},
            {"matmul 128x128x512 FP32", element::fp32, 0, 1, 0.2},
            {"matmul 128x128x512 MXFP8", element::fp8_e4m3fn_x4, isa::mode::mx, 4, 0.2}};
        for (const auto& each : cases) {
            instruction load = make(opcode::load_stationary), multiply = make(opcode::multiply);
            load.mode = multiply.mode = each.mode;
            load.a = tile_of(each.type, 0, m);
            multiply.a = tile_of(each.type, 4096, n);
            multiply.dst = tile_of(element::fp32, 0, n, isa::space::psum);
            if (each.mode != 0) {
                for (unsigned p = 0; p < 128; ++p)  // scales near 1
                    for (const std::uint32_t at : {16384u, 32768u})
                        std::memset(memory_.bytes(isa::space::sbuf) + p * memory::sbuf_pitch + at,
                                    static_cast<int>(125 + p % 5), n);
                load.b = tile_of(element::e8m0, 16384, m);
                multiply.b = tile_of(element::e8m0, 32768, n);
            }
            const auto run = [&] {
                tensor_.execute(load, {});
                tensor_.execute(multiply, {});
            };
            run();
            // The peer does a quarter of MX's multiplications, so rates are compared.
            const double work = 1.0 * m * n * k;
            std::vector<double> ours, theirs;
            for (int round = 0; round < 25; ++round) {
                ours.push_back(test::nanoseconds_once(1, run));
                theirs.push_back(test::nanoseconds_once(1, peer));
            }
            bench_row row{each.name, work * each.macs / best(ours), "GMAC/s"};
            row.peer = "OpenBLAS sgemm";
            row.peer_value = work / best(theirs);
            row.goal = each.goal == 0.5 ? "at least 0.5 of OpenBLAS" : "at least 0.2 of OpenBLAS";
            row.met = row.value >= each.goal * *row.peer_value;
            rows.push_back(row);
        }
    }

    void lanes() {
        constexpr unsigned n = 4096;
        constexpr double elements = 128.0 * n;
        instruction copy = make(opcode::copy), add = make(opcode::tensor_tensor, 1),
                    scale = make(opcode::tensor_scalar, 3), bias = make(opcode::activate);
        for (instruction* i : {&copy, &add, &scale, &bias}) {
            i->a = tile_of(element::bf16, 0, n);
            i->dst = tile_of(element::bf16, 32768, n);
        }
        add.b = tile_of(element::bf16, 16384, n);
        scale.s0 = {isa::scalar_kind::fp32, {}, 0, 0x3fc00000, {}};
        bias.s0 = bias.s1 = scale.s0;
        const auto against = [&](const char* name, isa::data_path& engine, const instruction& i,
                                 unsigned operands) {
            std::vector<std::uint8_t> from(128 * n * operands), to(from.size());
            compare(
                name, elements * 2 * operands, "GB/s", [&] { engine.execute(i, {}); }, "memcpy",
                [&] { std::memcpy(to.data(), from.data(), from.size()); }, 0.3);
        };
        // memcpy of half the bytes reads and writes the same total.
        against("Vector copy 128x4096 BF16", vector_, copy, 2);
        against("Vector tensor_tensor add 128x4096 BF16", vector_, add, 3);
        against("Vector tensor_scalar mult 128x4096 BF16", vector_, scale, 2);
        against("Scalar activate copy with scale and bias 128x4096 BF16", scalar_, bias, 2);
    }

    void functions() {
        for (const auto& [name, f] : {std::pair{"exp", numerics::activation::exp},
                                      {"tanh", numerics::activation::tanh},
                                      {"gelu", numerics::activation::gelu}}) {
            instruction i = make(opcode::activate, static_cast<std::uint8_t>(f));
            i.a = tile_of(element::bf16, 0, 4096);
            i.dst = tile_of(element::bf16, 32768, 4096);
            std::vector<double> runs;
            for (int round = 0; round < 15; ++round)
                runs.push_back(test::nanoseconds_once(128 * 4096, [&] { scalar_.execute(i, {}); }));
            const double each = best(runs);
            bench_row row{std::string("Scalar activate ") + name + " 128x4096 BF16", 1000 / each,
                          "M elements/s"};
            row.goal = "at least 100";
            row.met = row.value >= 100;
            rows.push_back(row);
        }
    }

private:
    memory memory_;
    tensor_engine tensor_{memory_, isa::generation::v4};
    vector_engine vector_{memory_, isa::generation::v4};
    scalar_engine scalar_{memory_, isa::generation::v4};
};

}  // namespace

int main(int argc, char** argv) {
    bench all;
    all.matmuls();
    all.lanes();
    all.functions();
    return test::report(all.rows, argc, argv);
}
