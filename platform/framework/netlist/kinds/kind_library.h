// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "platform/framework/netlist/kinds/kind.h"
#include "trnvp_abi.h"

#define TRNVP_TEXT_OF(number) #number
#define TRNVP_TEXT(number) TRNVP_TEXT_OF(number)

namespace trn {

/// A shared library with kinds of its own exports one of these as `trnvp_kinds`; TRNVP_KINDS
/// defines it. Page: doc/own-block.md.
struct kind_library {
    /// Of the headers, SystemC and the compiler. A library and a program agree in it, or the
    /// program refuses the library.
    static constexpr const char* this_abi = TRNVP_ABI
        " systemc-" SC_VERSION " c++" TRNVP_TEXT(__cplusplus) " abi" TRNVP_TEXT(__GXX_ABI_VERSION);

    const char* abi;
    kind_list (*kinds)();
};

/// Kinds of the libraries that this process has loaded, in that order.
std::vector<const kind*> loaded_kinds();

/// Loads a library; boards can then name its kinds. It stays loaded until the process ends; a
/// library that is already loaded is not loaded again. Returns why it is refused: it cannot be
/// loaded, has no kinds or another ABI, throws, or has a kind with a name of `known` or of another
/// library.
std::optional<std::string> load_kinds(const std::filesystem::path& library, const kind_list& known);

/// The kind of that name, of `known` or of a library; nullptr if there is none.
const kind* find_kind(const kind_list& known, std::string_view name);
/// Of `known` and of the libraries.
std::vector<std::string> kind_names(const kind_list& known);

}  // namespace trn

/// In one source of a library: TRNVP_KINDS(my_kind(), my_other_kind())
#define TRNVP_KINDS(...)                                                               \
    extern "C" {                                                                       \
    extern __attribute__((visibility("default"))) const trn::kind_library trnvp_kinds; \
    const trn::kind_library trnvp_kinds{trn::kind_library::this_abi,                   \
                                        [] { return trn::kind_list{__VA_ARGS__}; }};   \
    }
