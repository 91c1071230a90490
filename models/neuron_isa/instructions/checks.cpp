// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/instructions/checks.h"

namespace trn::isa {

bool instruction_checks::type_fits(element t, types allowed) const {
    if (!exists(t, core_.generation)) return false;
    const bool gpsimd_e3m4 = on(engine::gpsimd) && t == element::fp8_e3m4;
    switch (allowed) {
    case types::computed:
        return is_computed(t) && !gpsimd_e3m4;
    case types::moved:
        if (is(opcode::memset)) return is_x4(t) || (is_computed(t) && !gpsimd_e3m4);
        return !gpsimd_e3m4;
    case types::matmul:
        if (i_.has_mode(mode::mx)) return is_x4(t);
        if (i_.has_mode(mode::double_row)) return is_fp8(t) && t != element::fp8_e3m4;
        if (i_.has_mode(mode::sparse))
            return t == element::bf16 || t == element::fp16 || t == element::tf32 ||
                   (core_.generation == generation::v3 && is_fp8(t));
        return t <= element::fp8_e5m2;
    case types::psum:
        if (i_.has_mode(mode::transpose))  // result has the stationary's type, FP8 as UINT16
            return t <= element::fp16 || t == element::uint16;
        return t == element::fp32 || (t == element::bf16 && core_.generation == generation::v4);
    case types::predicate:
        return t == element::uint8 || t == element::uint16 || t == element::uint32;
    case types::predicate_16:
        return t >= element::int8 && t <= element::uint16;
    case types::index:
        return t == element::uint16 || t == element::uint32;
    case types::word:
        return t == element::uint32;
    case types::index_32:
        return is_32_bit_integer(t);
    case types::integer:
        return t >= element::int8 && t <= element::uint32;
    case types::words_32:
        return t <= element::tf32 || is_32_bit_integer(t);
    case types::mx_source:
        return t == element::fp16 || t == element::bf16;
    case types::packed:
        return t == element::fp8_e4m3fn_x4 || t == element::fp8_e5m2_x4;
    case types::scale:
        return t == element::e8m0 || t == element::uint8;
    case types::tags:
        return t == element::uint16;
    case types::two_bytes:
        return size_of(t) == 2;
    case types::segment:
        return t == element::fp32 || t == element::int32;
    case types::bf16:
        return t == element::bf16;
    case types::int32:
        return t == element::int32;
    case types::scale_or_tags:
        return i_.has_mode(mode::sparse) ? t == element::uint16
                                         : t == element::e8m0 || t == element::uint8;
    }
    return false;
}

}  // namespace trn::isa
