# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DVERSION=... -DOUTPUT=... -P abi.cmake: writes a header with a digest of all
# headers that libraries with kinds may include.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/platform/framework/*.h ${SOURCE}/models/*.h)
list(SORT headers)
set(all "")
foreach(header ${headers})
    file(SHA256 ${SOURCE}/${header} digest)
    string(APPEND all "${header} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
file(WRITE ${OUTPUT} "#pragma once\n#define TRNVP_ABI \"trnvp-${VERSION}-${digest}\"\n")
