// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/random.h"

#include "platform/framework/config/mix_in.h"

namespace trn {
namespace {

std::uint64_t run_seed = 0;  // global, since SystemC has one simulation per process

}  // namespace

std::uint64_t mix_bits(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void set_seed(std::uint64_t seed) {
    run_seed = seed;
}
std::uint64_t seed() {
    return run_seed;
}

std::uint64_t seed_for(std::string_view name) {
    return mix_bits(mix_in(first_mix, name) ^ mix_bits(run_seed + 0x9e3779b97f4a7c15u));
}

}  // namespace trn
