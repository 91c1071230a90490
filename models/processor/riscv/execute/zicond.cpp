// SPDX-License-Identifier: Apache-2.0
// Integer conditional operations (Zicond 1.0).
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

u64 zero_if_zero(u64 a, u64 condition) {
    return condition == 0 ? 0 : a;
}
u64 zero_if_not_zero(u64 a, u64 condition) {
    return condition != 0 ? 0 : a;
}

constexpr row r(const char* name, u32 match, variants run) {
    return {name, match, 0xfe00707f, format::r, extension::zicond, flow::result, run};
}

constexpr row rows[] = {
    r("czero.eqz", 0x0e005033, rr<zero_if_zero>),
    r("czero.nez", 0x0e007033, rr<zero_if_not_zero>),
};

}  // namespace

std::span<const row> zicond_rows() {
    return rows;
}

}  // namespace trn::riscv
