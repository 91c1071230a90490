// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trn {

/// A waveform file of a run (doc/waveforms.md).
struct wave_options {
    std::filesystem::path file = {};        ///< .fst: FST; else a value change dump; empty: none
    std::vector<std::string> signals = {};  ///< as find_signals() takes them
    std::string begin = {}, end = {};       ///< moments; empty: the begin and the end of the run
};

}  // namespace trn
