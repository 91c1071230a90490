// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "sw-stubs/driver/include/trn_driver.h"
#include "sw-stubs/host/text/names.h"

/// Element types.
template <>
struct trn::names_of<trn_element> {
    static constexpr std::array list{
        named<trn_element>{"fp32", TRN_FP32},
        named<trn_element>{"tf32", TRN_TF32},
        named<trn_element>{"bf16", TRN_BF16},
        named<trn_element>{"fp16", TRN_FP16},
        named<trn_element>{"fp8_e3m4", TRN_FP8_E3M4},
        named<trn_element>{"fp8_e4m3", TRN_FP8_E4M3},
        named<trn_element>{"fp8_e4m3fn", TRN_FP8_E4M3FN},
        named<trn_element>{"fp8_e5m2", TRN_FP8_E5M2},
        named<trn_element>{"int8", TRN_INT8},
        named<trn_element>{"uint8", TRN_UINT8},
        named<trn_element>{"int16", TRN_INT16},
        named<trn_element>{"uint16", TRN_UINT16},
        named<trn_element>{"int32", TRN_INT32},
        named<trn_element>{"uint32", TRN_UINT32},
    };
};
