// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Release and build id, e.g. "0.1.0+5f3a9c21". The build id is a digest of the sources, so equal
/// sources give equal images.
extern const char firmware_version[];
/// The build id as a number.
extern const unsigned firmware_build;
