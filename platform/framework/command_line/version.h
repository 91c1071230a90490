// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn {

/// Version of the project: "0.2.0".
const char* project_version();
/// The commit that was built: "c85505ea89aa"; "" for a source tree without git.
const char* built_commit();

}  // namespace trn
