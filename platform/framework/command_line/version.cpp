// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/version.h"

#include "build_id.h"  // cmake/build_id.cmake writes it

namespace trn {

const char* project_version() {
    return TRNVP_VERSION;
}

const char* built_commit() {
    return TRNVP_COMMIT;
}

}  // namespace trn
