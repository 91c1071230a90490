// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "platform/app/library/failure.h"
#include "platform/app/library/machine.h"
#include "platform/framework/command_line/version.h"
#include "platform/framework/config/json.h"
#include "platform/framework/config/program_folder.h"
#include "platform/framework/log.h"
#include "sw-stubs/library/include/trnvp.h"

namespace trn::library {

namespace {

using rpc::json;

/// The machine of this process, and what belongs to its interface.
struct state {
    std::unique_ptr<machine> present;
    std::string result;  ///< of trnvp_call()
    bool tried = false, had_one = false;
    trnvp_on_line on_line = nullptr;
    void* line_context = nullptr;
};

/// Never destroyed: the process may end while the machine exists.
state& the() {
    static auto* const all = new state;
    return *all;
}

template <class T>
T& given(T* pointer, const char* name) {
    if (pointer == nullptr) wrong_argument(fmt::format("{} is a null pointer", name));
    return *pointer;
}

std::string text(const char* given_text, const char* name) {
    constexpr std::size_t max_text = 1 << 20;
    const auto length = strnlen(&given(given_text, name), max_text);
    if (length == max_text)
        wrong_argument(fmt::format("{} has more than {} bytes", name, max_text - 1));
    return {given_text, length};
}

/// `bytes` of an access, as a span of Byte.
template <class Byte, class Void>
std::span<Byte> bytes_at(Void* bytes, std::uint64_t size) {
    given(static_cast<Byte*>(bytes), "bytes");
    if (size > TRNVP_MAX_BYTES)
        wrong_argument(
            fmt::format("size: {} is more than TRNVP_MAX_BYTES, {}", size, TRNVP_MAX_BYTES));
    return {static_cast<Byte*>(bytes), static_cast<std::size_t>(size)};
}

trnvp_machine* handle_of(machine* made) {
    return reinterpret_cast<trnvp_machine*>(made);
}

machine& open(const trnvp_machine* handle) {
    given(handle, "machine");
    auto* const present = the().present.get();
    if (present == nullptr || handle_of(present) != handle)
        wrong_argument("this machine is closed, or was never made");
    if (!present->is_of_this_thread())
        throw failure(TRNVP_UNAVAILABLE, "a machine belongs to the thread that made it");
    return *present;
}

function& open(const trnvp_function* handle) {
    given(handle, "function");
    auto* const present = the().present.get();
    auto* const asked =
        const_cast<function*>(reinterpret_cast<const function*>(handle));  // compared only
    if (present == nullptr || !present->has(asked))
        wrong_argument("this function is of a machine that is closed, or was never found");
    open(handle_of(present));
    return *asked;
}

/// The log of the process goes to the caller's function, while there is one.
void take_log() {
    static const bool taken = [] {
        const auto usual = std::make_shared<log::sink>();
        *usual = log::replace_sink([usual](const log::record& logged) {
            const auto& [callback, context] = std::pair(the().on_line, the().line_context);
            if (callback == nullptr) return (*usual)(logged);
            const std::string severity(log::severity_name(logged.severity));
            const auto line = log::to_line(logged);
            const auto call = [&] { callback(context, severity.c_str(), line.c_str()); };
            if (the().present) return the().present->time().calls()("the log", call);
            call();
        });
        return true;
    }();
    static_cast<void>(taken);
}

using fork_event = boost::asio::execution_context::fork_event;

template <fork_event event>
void notify_fork() {
    try {
        if (the().present) the().present->io().notify_fork(event);
    } catch (const std::exception&) {  // out of descriptors: nothing is served here
    }
}

/// Copies of the process by any kind of fork() have descriptors of their own.
void follow_forks() {
    static const int followed =
        pthread_atfork(&notify_fork<fork_event::fork_prepare>,
                       &notify_fork<fork_event::fork_parent>, &notify_fork<fork_event::fork_child>);
    if (followed != 0) throw std::bad_alloc();
}

/// Where boards and firmware are looked for. Makes the symbols for libraries with kinds visible, if
/// dlopen() has loaded this one without RTLD_GLOBAL.
void find_this_library() {
    Dl_info own{};
    if (dladdr(reinterpret_cast<const void*>(&trnvp_create), &own) == 0) return;
    std::error_code unknown;
    const auto file = std::filesystem::canonical(own.dli_fname, unknown);
    if (unknown) return;
    set_program_folder(file.parent_path());
    dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

void check_first() {
    constexpr auto once =
        "SystemC elaborates once in a process, so start another one (or fork() before the first)";
    if (the().present)
        throw failure(TRNVP_UNAVAILABLE,
                      fmt::format("this process has a machine already; {}", once));
    if (the().had_one)
        throw failure(TRNVP_UNAVAILABLE,
                      fmt::format("this process had a machine, which was destroyed; {}", once));
    const bool has_modules = sc_core::sc_get_status() != sc_core::SC_ELABORATION ||
                             !sc_core::sc_get_top_level_objects().empty();
    if (has_modules && the().tried)
        throw failure(
            TRNVP_UNAVAILABLE,
            fmt::format("modules of a machine that was refused are in this process; {}", once));
    if (has_modules)
        throw failure(TRNVP_UNAVAILABLE,
                      "this process has other modules of SystemC: a board among them is a "
                      "trn::board_module (doc/embedding.md), or start another process");
}

void create(const char* board, std::size_t count, const char* const* options,
            trnvp_machine** made) {
    given(made, "machine") = nullptr;
    constexpr std::size_t max_options = 4096;
    const auto name = text(board, "board");
    if (count > max_options)
        wrong_argument(fmt::format("count: {} is more than {}", count, max_options));
    std::vector<std::string> words;
    for (std::size_t i = 0; i < count; ++i)
        words.push_back(text((&given(options, "options"))[i], "a word of options"));
    check_first();
    find_this_library();
    take_log();
    follow_forks();
    const machine_options chosen(name, std::move(words));
    the().tried = true;
    the().present = std::make_unique<machine>(chosen);
    the().had_one = true;
    *made = handle_of(the().present.get());
}

json parsed(const char* parameters) {
    if (parameters == nullptr) return json::object();
    auto read = config::parse_json(text(parameters, "parameters"));
    if (!read.is_object()) wrong_argument("parameters: not a JSON object");
    return read;
}

void set_result(const json& value, const char** result) {
    if (result == nullptr) return;
    the().result = rpc::to_line(value);
    *result = the().result.c_str();
}

/// A wait that ended otherwise is no success of the caller.
void check_end_of_wait(const json& result) {
    if (!result.is_object() || !result.contains("reason") || !result.contains("text")) return;
    const auto reason = result["reason"].get<std::string>();
    const auto ended = [&](trnvp_status status) {
        throw failure(status, result["text"].get<std::string>());
    };
    if (reason == "wall_limit") ended(TRNVP_WALL_LIMIT);
    if (reason == "stalled") ended(TRNVP_STALLED);
    if (reason == "paused") ended(TRNVP_PAUSED);
    if (reason == "quit") ended(TRNVP_ENDED);
}

void call(trnvp_machine* handle, const char* method, const char* parameters, const char** result) {
    auto& made = open(handle);
    const auto name = text(method, "method");
    json answer;
    try {
        answer = made.call(name, parsed(parameters));
    } catch (const rpc::error& why) {
        set_result({{"code", static_cast<int>(why.number)}, {"message", why.what()}}, result);
        throw;
    }
    set_result(answer, result);
    if (name == "run" || name == "wait") check_end_of_wait(answer);
}

template <class Byte, class Void>
void move_bytes(trnvp_machine* handle, const char* space, std::uint64_t address, Void* bytes,
                std::uint64_t size,
                std::size_t (address_space::*access)(std::uint64_t, std::span<Byte>)) {
    auto& memory = open(handle).space(text(space, "space"));
    const auto all = bytes_at<Byte>(bytes, size);
    if (size != 0 && size - 1 > UINT64_MAX - address)
        wrong_argument(fmt::format("{} bytes at {:#x} wrap around", size, address));
    const auto done = (memory.*access)(address, all);
    if (done != size)
        throw failure(TRNVP_NO_RESPONSE,
                      fmt::format("nothing in '{}' responds at {:#x}", space, address + done));
}

}  // namespace

}  // namespace trn::library

using namespace trn::library;

/// libsystemc.so has a main() that calls it; a program with its own is no user of this library.
extern "C" __attribute__((weak)) int sc_main(int, char**) {
    return 1;
}

const char* trnvp_version() {
    static const std::string version(trn::project_version());
    return version.c_str();
}

uint32_t trnvp_abi() {
    return TRNVP_ABI;
}

const char* trnvp_last_error() {
    return last_error();
}

trnvp_status trnvp_create(const char* board, size_t count, const char* const* options,
                          trnvp_machine** machine) {
    return guarded([&] { create(board, count, options, machine); });
}

trnvp_status trnvp_destroy(trnvp_machine* machine) {
    return guarded([&] {
        auto& made = open(machine);
        if (made.time().calls().inside())
            throw failure(TRNVP_UNAVAILABLE, "a machine cannot be destroyed inside a callback");
        const auto gone = std::move(the().present);  // its handles are closed from now on
        gone->finish();
    });
}

uint64_t trnvp_time_ps(const trnvp_machine* machine) {
    std::uint64_t now = 0;
    guarded([&] {
        open(machine);
        now = sc_core::sc_time_stamp().value();
    });
    return now;
}

trnvp_status trnvp_run_until(trnvp_machine* machine, uint64_t time_ps) {
    return guarded([&] { open(machine).time().run_until(time_ps); });
}

trnvp_status trnvp_run_until_true(trnvp_machine* machine, trnvp_condition condition, void* context,
                                  uint64_t time_ps, double wall_seconds) {
    return guarded([&] {
        auto& made = open(machine);
        if (condition == nullptr) wrong_argument("condition is a null pointer");
        made.time().run_until_true([&] { return condition(context) != 0; }, time_ps, wall_seconds);
    });
}

trnvp_status trnvp_call(trnvp_machine* machine, const char* method, const char* parameters,
                        const char** result) {
    return guarded([&] { call(machine, method, parameters, result); });
}

trnvp_status trnvp_read_register(trnvp_machine* machine, const char* name, uint64_t* value) {
    return guarded([&] {
        auto& made = open(machine);
        auto& read = given(value, "value");
        read = made.call("peek", {{"register", text(name, "name")}})["value"].get<std::uint64_t>();
    });
}

trnvp_status trnvp_write_register(trnvp_machine* machine, const char* name, uint64_t value) {
    return guarded([&] {
        open(machine).call("poke", {{"register", text(name, "name")}, {"value", value}});
    });
}

trnvp_status trnvp_peek(trnvp_machine* machine, const char* space, uint64_t address, void* bytes,
                        uint64_t size) {
    return guarded([&] {
        move_bytes<std::byte>(machine, space, address, bytes, size, &trn::address_space::peek);
    });
}

trnvp_status trnvp_poke(trnvp_machine* machine, const char* space, uint64_t address,
                        const void* bytes, uint64_t size) {
    return guarded([&] {
        move_bytes<const std::byte>(machine, space, address, bytes, size,
                                    &trn::address_space::poke);
    });
}

trnvp_status trnvp_deposit(trnvp_machine* machine, const char* space, uint64_t address,
                           const void* bytes, uint64_t size) {
    return guarded([&] {
        move_bytes<const std::byte>(machine, space, address, bytes, size,
                                    &trn::address_space::deposit);
    });
}

trnvp_status trnvp_map(trnvp_machine* machine, const char* space, uint64_t address, uint64_t size,
                       int writable, void** bytes) {
    return guarded([&] {
        auto& made = open(machine);
        auto& pointer = given(bytes, "bytes");
        pointer = made.pointer(text(space, "space"), address, size, writable != 0);
    });
}

trnvp_status trnvp_on_console(trnvp_machine* machine, trnvp_on_text callback, void* context) {
    return guarded([&] {
        auto& made = open(machine);
        if (callback == nullptr) return made.on_console({});
        made.on_console([=](std::string_view module, std::string_view printed) {
            const std::string console(module);
            callback(context, console.c_str(), printed.data(), printed.size());
        });
    });
}

trnvp_status trnvp_on_log(trnvp_on_line callback, void* context) {
    return guarded([&] {
        if (the().present) open(handle_of(the().present.get()));
        take_log();
        the().on_line = callback;
        the().line_context = context;
    });
}

trnvp_status trnvp_find_function(trnvp_machine* machine, const char* name,
                                 trnvp_function** function) {
    return guarded([&] {
        auto& found = open(machine).find_function(text(name, "name"));
        given(function, "function") = reinterpret_cast<trnvp_function*>(&found);
    });
}

uint64_t trnvp_bar_size(const trnvp_function* function, uint32_t bar) {
    std::uint64_t size = 0;
    guarded([&] { size = open(function).bar_size(bar); });
    return size;
}

trnvp_status trnvp_bar_address(const trnvp_function* function, uint32_t bar, uint64_t* address) {
    return guarded([&] { given(address, "address") = open(function).bar_address(bar); });
}

trnvp_status trnvp_bar_read(trnvp_function* function, uint32_t bar, uint64_t offset, void* bytes,
                            uint64_t size) {
    return guarded(
        [&] { open(function).bar_read(bar, offset, bytes_at<std::uint8_t>(bytes, size)); });
}

trnvp_status trnvp_bar_write(trnvp_function* function, uint32_t bar, uint64_t offset,
                             const void* bytes, uint64_t size) {
    return guarded(
        [&] { open(function).bar_write(bar, offset, bytes_at<const std::uint8_t>(bytes, size)); });
}

trnvp_status trnvp_config_read(trnvp_function* function, uint32_t offset, uint32_t width,
                               uint32_t* value) {
    return guarded([&] {
        auto& target = open(function);
        auto& read = given(value, "value");
        read = target.config_read(offset, width);
    });
}

trnvp_status trnvp_config_write(trnvp_function* function, uint32_t offset, uint32_t width,
                                uint32_t value) {
    return guarded([&] { open(function).config_write(offset, width, value); });
}

trnvp_status trnvp_host_alloc(trnvp_function* function, uint64_t size, void** bytes,
                              uint64_t* iova) {
    return guarded([&] {
        auto& host = open(function);
        given(bytes, "bytes");
        given(iova, "iova");
        const auto made = host.allocate(size);
        *bytes = made.bytes;
        *iova = made.iova;
    });
}

trnvp_status trnvp_host_free(trnvp_function* function, uint64_t iova, uint64_t size) {
    return guarded([&] { open(function).free(iova, size); });
}

trnvp_status trnvp_map_host(trnvp_function* function, uint64_t iova, void* bytes, uint64_t size) {
    return guarded([&] {
        auto& host = open(function);
        host.map(iova, &given(static_cast<std::uint8_t*>(bytes), "bytes"), size);
    });
}

trnvp_status trnvp_unmap_host(trnvp_function* function, uint64_t iova, uint64_t size) {
    return guarded([&] { open(function).unmap(iova, size); });
}

uint32_t trnvp_interrupt_vectors(const trnvp_function* function) {
    std::uint32_t count = 0;
    guarded([&] { count = open(function).vectors(); });
    return count;
}

trnvp_status trnvp_on_interrupt(trnvp_function* function, uint32_t vector,
                                trnvp_on_message callback, void* context) {
    return guarded([&] {
        auto& source = open(function);
        if (callback == nullptr) return source.on_interrupt(vector, {});
        source.on_interrupt(vector, [=] { callback(context, vector); });
    });
}

trnvp_status trnvp_function_reset(trnvp_function* function) {
    return guarded([&] { open(function).reset(); });
}

trnvp_status trnvp_check_fork(trnvp_machine* machine) {
    return guarded([&] {
        auto& made = open(machine);
        if (made.time().calls().inside())
            throw failure(TRNVP_UNAVAILABLE, "a copy cannot be made inside a callback");
        made.check_fork();
    });
}

trnvp_status trnvp_fork(trnvp_machine* machine, int64_t* pid) {
    if (const auto status = trnvp_check_fork(machine); status != TRNVP_OK) return status;
    return guarded([&] {
        auto& child = given(pid, "pid");
        const auto made = fork();
        if (made < 0) throw failure(TRNVP_FAILED, fmt::format("fork: {}", std::strerror(errno)));
        child = made;
    });
}
