# SPDX-License-Identifier: Apache-2.0
# cmake -DGIT=... -DSOURCE=... -DVERSION=... -DOUTPUT=... -P build_id.cmake: writes a header with
# version and commit.
set(commit "")
if(GIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(WRITE ${OUTPUT} "#define TRNVP_VERSION \"${VERSION}\"\n#define TRNVP_COMMIT \"${commit}\"\n")
