// SPDX-License-Identifier: Apache-2.0
// Host cost of a small program on one core of a Gen2 UltraServer, and on all its 1,152 cores at
// once: matmuls, exp with sums, reciprocals and a scale, on four engines.
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <numeric>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/in_process/in_process_hosts.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/bench/rows.h"
#include "tests/support/engine_program.h"

namespace {

using namespace trn;
using isa::engine;

constexpr unsigned cores_of_chip = 8;

// BF16 operands in the first KiB of each partition, followed by the results.
const std::pair<engine, const char*> streams[] = {
    {engine::vector,
     "update S[1]+=1 memset dst=sbuf[0:128, 0] bf16 [512:1] imm=0.125\n"
     "wait S[3]>=1:subtract reciprocal dst=sbuf[0:128, 3076] fp32 [1:1] a=sbuf[0:128, 3072] fp32 "
     "[1:1]\n"
     "update S[4]+=1 tensor_scalar op0=mult dst=sbuf[0:128, 1024] fp32 [512:1] "
     "a=sbuf[0:128, 1024] fp32 [512:1] s0=sbuf[0, 3076] fp32\nhalt"},
    {engine::tensor,
     "wait S[1]>=1:subtract load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n"
     "multiply dst=psum[0:128, 0] fp32 [512:1] a=sbuf[0:128, 0] bf16 [512:1]\n"
     "update S[2]+=1 multiply accumulate dst=psum[0:128, 0] fp32 [512:1] "
     "a=sbuf[0:128, 0] bf16 [512:1]\nhalt"},
    {engine::scalar,
     "wait S[2]>=1:subtract activate op0=exp reduce=add cmd=reset_reduce dst=sbuf[0:128, 1024] "
     "fp32 [512:1] "
     "a=psum[0:128, 0] fp32 [512:1]\n"
     "update S[3]+=1 read_accumulator dst=sbuf[0:128, 3072] fp32 [1:1]\nhalt"},
    {engine::sync, "wait S[4]>=1:subtract nop\nhalt"}};

class rack {
public:
    rack() : platform_(kinds(), {.board = "trn3-gen2"}), hosts_(platform_.functions()) {
        for (std::size_t n = 0; n < hosts_.chips().size(); ++n) hosts_.attach(n);
        platform_.boot(sc_core::sc_time(10, sc_core::SC_SEC));
        run(all(), [](device& on) { on.check(trn_probe(on)); });
    }

    std::vector<std::size_t> all() const {
        std::vector<std::size_t> numbers(hosts_.chips().size());
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        return numbers;
    }

    /// Seconds of processor time of the programs on these chips.
    double run_programs(const std::vector<std::size_t>& chips, unsigned cores) {
        const std::clock_t begin = std::clock();
        run(chips, [cores](device& on) {
            for (unsigned core = 0; core < cores; ++core)
                for (const auto& [which, text] : streams)
                    test::host_engine(on, which, core).start(text);
            for (unsigned core = 0; core < cores; ++core) wait_for(on, core);
        });
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }

private:
    static void wait_for(device& on, unsigned core) {
        const test::host_engine last(on, engine::sync, core);
        if (!last.ends() || last.state() != test::host_engine::halted)
            throw std::runtime_error("a program did not halt");
        float result = 0;  // about 1 / 512, as all elements of a row are equal
        std::uint32_t bits = 0;
        on.check(trn_bar_read(
            on,
            test::host_engine::cores_at + core * neuron_core::aperture_size + 127 * 262'144 + 1024,
            &bits));
        std::memcpy(&result, &bits, sizeof result);
        if (!(std::abs(512 * result - 1) < 1e-4f))
            throw std::runtime_error("a program computed something else");
    }

    void run(const std::vector<std::size_t>& chips, const std::function<void(device&)>& does) {
        hosts_.start(chips, [&](std::size_t, device& on) { does(on); });
        run_loop::goal goal{"the bench", "its hosts"};
        goal.condition = [this] { return hosts_.idle(); };
        platform_.loop().run(std::move(goal));
        hosts_.rethrow();
    }

    platform platform_;
    in_process_hosts hosts_;
};

double resident_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int sc_main(int argc, char** argv) {
    try {
        misuse::set_rules(misuse::all_rules);
        log::replace_sink({});
        rack rack;
        const auto chips = rack.all();
        std::vector<double> alone;  // each on a chip that has not run a program before
        for (std::size_t n = 0; n < 15; ++n) alone.push_back(rack.run_programs({9 * n}, 1));
        const double one = test::median(alone), before = resident_mib();
        const double cores = static_cast<double>(chips.size()) * cores_of_chip;
        const double each = rack.run_programs(chips, cores_of_chip) / cores;
        const double again = rack.run_programs(chips, cores_of_chip) / cores;
        test::bench_row row{"a small program on all 1,152 cores of Gen2, per core", each * 1e3,
                            "ms", "within 1.5 x", each < 1.5 * one};
        row.peer = "one core alone";
        row.peer_value = one * 1e3;
        return test::report(
            {row,
             {"the same in memory that was used before", again * 1e3, "ms"},
             {"memory that it takes, per core", (resident_mib() - before) / cores, "MiB"}},
            argc, argv);
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "bench_programs: %s\n", wrong.what());
        return 1;
    }
}
