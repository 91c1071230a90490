# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DVERSION=... -DOUTPUT=... -P abi.cmake: writes the header with the ABI stamp, a
# digest of all headers, also generated ones, that libraries with kinds and programs with boards may
# include.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/platform/framework/*.h ${SOURCE}/platform/embedding/*.h
    ${SOURCE}/models/*.h ${SOURCE}/models/*.regs.yaml)
list(SORT headers)
set(all "")
foreach(header ${headers})
    file(SHA256 ${SOURCE}/${header} digest)
    string(APPEND all "${header} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
string(MAKE_C_IDENTIFIER "trnvp_abi_${VERSION}_${digest}" symbol)
file(WRITE ${OUTPUT} "#pragma once\n#define TRNVP_ABI \"trnvp-${VERSION}-${digest}\"\n#define TRNVP_ABI_SYMBOL ${symbol}\n")
