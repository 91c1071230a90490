// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/dwarf_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace trn {

dwarf_file::dwarf_file(const std::filesystem::path& file)
    : descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      dwarf_(descriptor_ < 0 ? nullptr : dwarf_begin(descriptor_, DWARF_C_READ)) {}

dwarf_file::~dwarf_file() {
    if (dwarf_ != nullptr) dwarf_end(dwarf_);
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace trn
