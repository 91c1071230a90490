// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "platform/framework/config/document.h"
#include "sw-stubs/driver/include/trn_driver.h"

/// Element types as commands and scenarios name them.
template <>
struct trn::config::choices<trn_element> {
    static constexpr std::array list{
        choice<trn_element>{"fp32", TRN_FP32},
        choice<trn_element>{"tf32", TRN_TF32},
        choice<trn_element>{"bf16", TRN_BF16},
        choice<trn_element>{"fp16", TRN_FP16},
        choice<trn_element>{"fp8_e3m4", TRN_FP8_E3M4},
        choice<trn_element>{"fp8_e4m3", TRN_FP8_E4M3},
        choice<trn_element>{"fp8_e4m3fn", TRN_FP8_E4M3FN},
        choice<trn_element>{"fp8_e5m2", TRN_FP8_E5M2},
        choice<trn_element>{"int8", TRN_INT8},
        choice<trn_element>{"uint8", TRN_UINT8},
        choice<trn_element>{"int16", TRN_INT16},
        choice<trn_element>{"uint16", TRN_UINT16},
        choice<trn_element>{"int32", TRN_INT32},
        choice<trn_element>{"uint32", TRN_UINT32},
    };
};
