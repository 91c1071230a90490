// SPDX-License-Identifier: Apache-2.0
// `trnvp replay` of edited recordings: ends with a sentence and one of its statuses, in bounded
// processor time, and leaves all files alone.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "platform/app/recording/log/log.h"
#include "platform/app/recording/log/manifest.h"
#include "tests/support/disk_client.h"
#include "tests/support/fuzz.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace {

namespace fs = std::filesystem;
using namespace trn;
using namespace trn::recording;
using test::fuzz_random;

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

using files = std::map<std::string, std::string>;  // content by path, relative to a folder

files content_of(const fs::path& folder) {
    files all;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            all[entry.path().lexically_relative(folder)] = test::file_text(entry.path());
    return all;
}

// --- The recordings to edit

/// A disk: configuration, BARs, DMA in both directions, interrupts.
void use_disk(const test::scratch_folder& scratch) {
    test::disk_client disk(scratch / "sockets/disk.sock");
    disk.write_block(0, "RECORDED");
    disk.flush();
    if (disk.read_block(0) != "RECORDED") fail("the disk lost its block");
}

/// A management processor: control calls and text for its console.
void use_management(const test::scratch_folder& scratch) {
    test::raw_peer client(scratch / "sockets/control.sock");
    const auto call = [&](const std::string& method, const std::string& parameters) {
        const auto line = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" +
                          parameters + "}\n";
        client.send_bytes(line.data(), line.size());
        std::string answer;
        for (char c = 0; c != '\n'; answer += c)
            if (recv(client.fd(), &c, 1, 0) != 1) fail(method + ": no answer");
        if (answer.find("\"error\"") != answer.npos) fail(answer);
    };
    call("hello", R"({"protocol":1})");
    call("wait", R"({"condition":"ready"})");
    call("poke", R"({"space":"hbm0.in","address":4096,"value":7,"width":8})");
    call("type", R"({"module":"mgmt.uart","text":"help\r"})");
    call("bus_write", R"({"space":"mgmt.uart.in","address":0,"value":65})");
    call("misuse", "{}");
    call("wait", R"({"for":"100 us"})");
}

files record(const std::string& board, const fs::path& board_folder,
             const std::function<void(const test::scratch_folder&)>& use) {
    const test::scratch_folder scratch;
    const auto file = (board_folder / board).string();
    test::background platform({TRNVP, "run", file, "--listen", scratch / "sockets", "--record",
                               scratch / "recording", "--time-policy", "lockstep"},
                              scratch / "log");
    if (!test::eventually([&] { return fs::exists(scratch / "sockets/control.sock"); }))
        fail(test::file_text(scratch / "log"));
    use(scratch);
    if (platform.end() != 0) fail(test::file_text(scratch / "log"));
    return content_of(scratch / "recording");
}

// --- Edits

std::vector<event> events_of(const std::string& log) {
    log_reader reader(std::make_unique<std::istringstream>(log), {});
    std::vector<event> all;
    while (auto e = reader.next()) all.push_back(std::move(*e));
    return all;
}

std::uint64_t number(fuzz_random& random, std::uint64_t now) {
    switch (random.below(6)) {
    case 0:
        return random.next();
    case 1:
        return std::uint64_t{1} << random.below(64);
    case 2:
        return ~std::uint64_t{0} - random.below(4096);
    case 3:
        return now + random.below(16) - 8;
    case 4:
        return now ^ std::uint64_t{1} << random.below(64);
    default:
        return random.below(1 << 20);
    }
}

void change(event& e, const test::mutator& bytes, fuzz_random& random) {
    static constexpr auto kinds = [] {
        std::array<kind, 22> all{};
        for (unsigned n = 0; n < 17; ++n) all[n] = static_cast<kind>(n + 1);
        for (unsigned n = 0; n < 5; ++n) all[17 + n] = static_cast<kind>(n + 32);
        return all;
    }();
    switch (random.below(9)) {
    case 0:
        e.type = kinds[random.below(kinds.size())];
        break;
    case 1:
        e.flag = !e.flag;
        break;
    case 2:
        e.function = static_cast<std::uint32_t>(number(random, e.function));
        break;
    case 3:
        e.index = static_cast<std::uint32_t>(number(random, e.index));
        break;
    case 4:
        e.time = number(random, e.time);
        break;
    case 5:
        e.deltas = number(random, e.deltas);
        break;
    case 6:
        e.address = number(random, e.address);
        break;
    case 7:
        e.size = number(random, e.size);
        break;
    default:
        const auto text = bytes.make(random);
        e.bytes.assign(text.begin(), text.end());
        if (random.below(2) == 0) e.size = e.bytes.size();
    }
}

std::string edited_log(std::vector<event> all, const test::mutator& bytes, fuzz_random& random) {
    for (auto n = 1 + random.below(4); n > 0 && !all.empty(); --n) {
        const auto at = all.begin() + static_cast<std::ptrdiff_t>(random.below(all.size()));
        switch (random.below(6)) {
        case 0:
            all.erase(at);
            break;
        case 1:
            all.insert(at, event(*at));
            break;
        case 2:
            std::swap(*at, all[random.below(all.size())]);
            break;
        case 3:
            all.erase(at, all.end());
            break;
        default:
            change(*at, bytes, random);
        }
    }
    // Times of exchanged events grow again, so that more than the order is tested.
    for (std::size_t i = 1; random.below(4) != 0 && i < all.size(); ++i) {
        all[i].time = std::max(all[i].time, all[i - 1].time);
        all[i].deltas = std::max(all[i].deltas, all[i - 1].deltas);
    }
    const test::scratch_folder folder;
    log_writer writer(folder);
    for (const auto& e : all) writer.write(e);
    writer.finish();
    return test::file_text(folder / events_file);
}

/// Replaces a value anywhere in the manifest.
std::string edited_manifest(const std::string& text, const std::vector<std::string>& words,
                            fuzz_random& random) {
    auto whole = nlohmann::json::parse(text, nullptr, false);
    for (auto n = 1 + random.below(3); n > 0; --n) {
        auto* at = &whole;
        while (at->is_structured() && !at->empty() && (at == &whole || random.below(4) != 0))
            at = &*std::next(at->begin(), static_cast<std::ptrdiff_t>(random.below(at->size())));
        switch (random.below(4)) {
        case 0:
            *at = words[random.below(words.size())];
            break;
        case 1:
            *at = number(random, 0);
            break;
        case 2:
            *at = nlohmann::json::array({words[random.below(words.size())]});
            break;
        default:
            *at = nlohmann::json::object(
                {{words[random.below(words.size())], words[random.below(words.size())]}});
        }
    }
    return whole.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct subject {
    files recording;
    std::vector<event> events;
};

/// Changes one file of a recording.
void edit(files& all, const subject& of, const std::vector<std::string>& words,
          fuzz_random& random) {
    if (const auto what = random.below(8); what < 4) {
        std::vector<std::string> seeds;
        for (const auto& e : of.events) seeds.emplace_back(e.text());
        all[events_file] = edited_log(of.events, test::mutator(seeds, words), random);
    } else if (what < 6) {
        all[manifest_file] = edited_manifest(all[manifest_file], words, random);
    } else {
        auto& [name, text] =
            *std::next(all.begin(), static_cast<std::ptrdiff_t>(random.below(all.size())));
        if (text.size() <= 64 << 10) {
            text = test::mutator({text}, words).make(random);
        } else if (random.below(2) == 0) {
            text.resize(random.below(text.size()));
        } else {
            text[random.below(text.size())] ^= static_cast<char>(1 << random.below(8));
        }
        if (random.below(16) == 0) all.erase(name);
    }
}

// --- The replay

struct ended {
    int status;
    std::string output;
};

/// Runs a replay whose temporary files and current folder are those of `scratch`.
ended replay(const test::scratch_folder& scratch, const fs::path& recording,
             const std::vector<std::string>& options) {
    std::vector<std::string> words{TRNVP, "replay", recording, "--max-time", "100 ms"};
    words.insert(words.end(), options.begin(), options.end());
    const auto log = scratch / "output";
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(300);  // a replay that waits
        setenv("TMPDIR", (scratch / "tmp").c_str(), 1);
        const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        if (chdir((scratch / "tmp").c_str()) != 0) _exit(125);
        std::vector<char*> all;
        for (auto& word : words) all.push_back(word.data());
        all.push_back(nullptr);
        execv(all.front(), all.data());
        _exit(125);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return {status, test::file_text(log)};
}

}  // namespace

int main(int argc, char** argv) {
    const test::scratch_folder scratch;
    fs::create_directory(scratch / "tmp");
    fs::create_directory(scratch / "user");
    const auto image = scratch / "user/disk.img", secret = scratch / "user/other.img";
    test::write_text(image, "");
    fs::resize_file(image, 1 << 20);
    test::write_text(secret, std::string(4096, 's'));
    test::write_text(scratch / "user/disk.yaml",
                     "board: one-disk\n"
                     "description: a server with one disk\n"
                     "modules:\n"
                     "  host: {type: root_complex, ports: 1, link_generation: 4, processor: xeon, "
                     "cores: 1, memory: 1 GiB}\n"
                     "  disk: {type: disks/instance_store, capacity: 1 MiB, image: '" +
                         image +
                         "', link_width: 8}\n"
                         "bind:\n"
                         "  - host.port[0] <-> disk.link\n");
    std::vector<subject> subjects;
    for (auto recorded :
         {record("disk.yaml", scratch / "user", use_disk),
          record("management_board.yaml", "tests/integration/firmware", use_management)}) {
        auto events = events_of(recorded.at(events_file));
        subjects.push_back({std::move(recorded), std::move(events)});
    }
    const std::vector<std::string> words{secret,
                                         image,
                                         scratch / "user/new.img",
                                         "../../user/other.img",
                                         "../tmp",
                                         "/dev/zero",
                                         "/proc/self/mem",
                                         "/",
                                         ".",
                                         "",
                                         "capacity=1 TiB",
                                         "image=" + secret,
                                         "fail",
                                         "check",
                                         "functional",
                                         "18446744073709551615",
                                         "-1",
                                         "1e999",
                                         "16 EiB",
                                         "[",
                                         "{}",
                                         "null",
                                         "\x1b[2J",
                                         std::string(3, '\0'),
                                         std::string(9, '\xff'),
                                         std::string(300, '['),
                                         R"({"method":"quit","params":{},"answer":{}})",
                                         R"({"method":"run","params":{},"answer":{}})",
                                         R"({"method":"pause","params":{},"answer":{}})",
                                         R"({"method":"step","params":{},"answer":{}})"};
    const auto user_files = content_of(scratch / "user");
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        const auto& of = subjects[random.below(subjects.size())];
        auto all = of.recording;
        for (auto n = 1 + random.below(2); n > 0 && !all.empty(); --n) edit(all, of, words, random);
        const fs::path folder = scratch / "recording";
        fs::remove_all(folder);
        for (const auto& [name, text] : all) {
            fs::create_directories((folder / name).parent_path());
            test::write_text(folder / name, text);
        }
        const auto how = replay(
            scratch, folder,
            random.below(4) == 0 ? std::vector<std::string>{"--json"} : std::vector<std::string>());
        const auto say = [&](const std::string& why) {
            fail(why + ", status " + std::to_string(how.status) + ": " + how.output);
        };
        if (!WIFEXITED(how.status) || WEXITSTATUS(how.status) > 2) say("it crashed");
        if (how.output.empty()) say("it says nothing");
        if (how.output.find('\x1b') != how.output.npos) say("it prints a terminal code");
        if (!fs::is_empty(scratch / "tmp")) say("it left a file");
        if (content_of(scratch / "user") != user_files) say("it changed a file of the user");
        if (content_of(folder) != all) say("it changed the recording");
    });
}
