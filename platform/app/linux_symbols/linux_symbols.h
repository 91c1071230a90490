// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/app/linux_symbols/linux_host.h"
#include "platform/app/linux_symbols/module_files.h"
#include "platform/framework/attach/control/control.h"
#include "platform/framework/debug/gdb/libraries.h"
#include "platform/framework/process/temporary_folder.h"

namespace trn {

/// Symbols of every Linux inside a board. Files are read when they are first needed.
class linux_symbols {
public:
    /// The kernel of the harts whose names begin with "SERVER.".
    struct server {
        std::string name;
        std::filesystem::path kernel;
    };

    /// Call it after elaboration.
    explicit linux_symbols(const std::vector<server>& servers);

    bool empty() const { return servers_.empty(); }
    /// Files of modules, besides those of the cache.
    module_files& files() { return files_; }

    /// The Linux that runs on this hart; null: none, or no symbols.
    const linux_host* find(std::string_view hart);
    std::vector<const linux_host*> all();

    /// "function (file:line)" of an address on this hart; "": unknown.
    std::string describe(std::string_view hart, std::uint64_t pc);

    /// For GDB: modules are its libraries.
    gdb::library_source libraries();
    void add_methods(control& methods);

private:
    struct known {
        server place;
        std::shared_ptr<const kernel_image> kernel;
        std::unique_ptr<const linux_host> host;
        bool is_read = false;
        std::string failure = {};  ///< why there are no symbols
    };

    const linux_host* host_of(known& entry);
    std::shared_ptr<const kernel_image> kernel_of(const std::filesystem::path& file);
    rpc::json answer(const rpc::parameters& asked);
    std::filesystem::path file_for_gdb(const placed_object& object);
    std::string gdb_list(const debug_hart& hart);

    std::list<known> servers_;
    module_files files_;
    std::optional<temporary_folder> copies_folder_;
    using build = std::pair<std::filesystem::path, std::vector<std::uint8_t>>;  // file, build id
    std::map<build, std::filesystem::path> copies_;                             // for GDB
};

}  // namespace trn
