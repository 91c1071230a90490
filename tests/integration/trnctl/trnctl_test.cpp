// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/framework/unique_fd.h"
#include "tests/support/bar0.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string trnctl = TRNCTL;

std::vector<json> lines_of(const std::string& output) {
    std::vector<json> all;
    std::istringstream in(output);
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    return all;
}

TEST(TrnctlCommandLine, UsageErrorsExitWithStatus2AndASuggestion) {
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const auto how = run(trnctl + " " + arguments);
        EXPECT_EQ(how.status, 2) << arguments << ": " << how.output;
        EXPECT_THAT(how.output, HasSubstr(text)) << arguments;
    };
    expect("", "subcommand is required");
    expect("copi host hbm0 1MiB", "did you mean 'copy'");
    expect("info", "--connect DIR");
    expect("--board a --connect b info", "exclude each other");
    expect("--board no-such-board info", "no-such-board");
    expect("--board trn3-chip copy host hbm0 64", "needs a unit");
    expect("--board trn3-chip copy host disk 64B", "is not a place");
    expect("--board trn3-chip memset hbm0 1MiB 256", "256");
    expect("--board trn3-chip sem raed 0 --core 0", "raed");
    expect("--board trn3-chip sem set 1 4294967297 --core 0", "not 4294967297");
    expect("--board trn3-chip sem inc 1 -1 --core 0", "0 to 2147483647");
    expect("--board trn3-chip sem read 4294967297 --core 0", "is more than 4294967295");
    expect("--board trn3-chip reset --cores 0x100000001", "is more than 4294967295");
    expect("--board trn3-chip sem set 1 --core 0", "set needs a value");
    expect("--board trn3-chip sem read 1 5 --core 0", "read takes no value");
    expect("--board trn3-chip event set 1 4294967296 --core 0", "0 to 4294967295");
    expect("--board trn3-chip event get 1 5 --core 0", "get takes no value");
    expect("--board trn3-chip bench --pattern incast", "--matrix");
    expect("--board trn3-chip bench --matrix --descriptor 65KiB", "64 KiB");
    expect("--board trn3-chip bench --matrix", "chips with links");
    expect("--board trn3-chip bench --matrix --pattern local --engines 129", "have 128");
    expect("--board trn3-chip bench --matrix --pattern incast", "no chips for the pattern");
    expect("--board trn3-sled coll --op all-to-all --algo ring",
           "all-to-all has no algorithm ring; it has mesh");
    expect("--board trn3-sled coll --op all-reduce --ranks=-18446744073709551615,0",
           "numbers of chips, such as 0-3,7");
    expect("--board trn3-sled coll --op all-gather-v --counts 1,2", "4 counts, not 2");
    expect("--board trn3-sled coll --op all-gather --counts 1,2,3,4", "no counts");
    expect("--board trn3-sled coll --op all-gather-v --counts 1,2,3,4,", "an empty value");
    expect("--board trn3-sled coll --op all-gather-v --counts 1,,2,3,4", "an empty value");
    expect("--board trn3-sled coll --op all-gather-v --counts 1,2,3,-4", "--counts: ");
    expect("--board trn3-sled coll --op permute --pairs 0-1,0-2", "rank 0 sends twice");
    expect("--board trn3-sled coll --op permute --pairs 0-1,2-1", "rank 1 receives twice");
    expect("--board trn3-sled coll --op permute --pairs 0-4", "there are ranks 0 to 3");
    expect("--board trn3-sled coll --op permute --pairs 0-1,", "'' is not a pair of ranks");
    expect("--board trn3-sled coll --op all-gather --pairs 0-1", "only a permute takes pairs");
    expect("--board trn3-sled coll --op all-gather-v --counts 1,2,3,4 --bytes 4KiB", "--bytes");
    expect("--board trn3-sled coll --op all-reduce --ranks 2", "--ranks: a collective needs two");
    expect("--board trn3-sled coll --op barrier --in-place", "a barrier has no buffers");
    expect("--board trn3-sled coll --op all-gather --root 2", "all-gather has no root");
    expect("--board trn3-sled coll --op all-to-all --operator max", "all-to-all does not reduce");
    expect("--board trn3-sled coll --op all-gather --in sbuf", "is not a place");
    expect("--board trn3-sled coll --op all-gather --in sbuf0@4KiB", "--in: sbuf0@0x1000");
    expect("--board trn3-sled coll --op all-gather --out host", "in hbmN or sbufN");
    expect("--board trn3-sled coll --op all-reduce --table no-such-file", "no-such-file");
}

TEST(TrnctlCommandLine, CollectiveBuffersAreInTheNamedMemories) {
    const auto coll = [](const std::string& arguments) {
        return run(trnctl + " --board trn3-sled --timing functional --json coll --op all-gather " +
                   arguments + " --check");
    };
    const auto how = coll("--bytes 64KiB --in sbuf0 --out sbuf3 --scratch hbm1");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto result = lines_of(how.output).back();
    EXPECT_EQ(result["in"], "sbuf0");
    EXPECT_EQ(result["out"], "sbuf3");
    EXPECT_EQ(result["scratch"], "hbm1");
    EXPECT_EQ(result["wrong"], 0);
    const auto refused = coll("--bytes 32MiB --out sbuf3");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.output, HasSubstr("does not fit into sbuf3 of 32 MiB"));
}

TEST(TrnctlCommandLine, MissingPlatformIsAFailureNotAUsageError) {
    const auto how = run(trnctl + " --connect /no/such/folder info");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("cannot connect"));
    EXPECT_THAT(how.output, HasSubstr("trnvp run"));
}

TEST(TrnctlCommandLine, ConnectWaitsForAPlatformThatIsStarting) {
    const scratch_folder folder;
    const auto late = "sleep 0.3; exec " TRNVP " run trn3-chip --listen " + (folder / "late");
    background platform{{"sh", "-c", late}, folder / "log"};
    const auto how = run(trnctl + " --connect " + (folder / "late") + " list");
    EXPECT_EQ(how.status, 0) << how.output;
}

trn::unique_fd listen_at(const std::string& path) {
    trn::unique_fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    return listener;
}

/// A program that is no platform, but answers on a control socket: `results` by method.
class other_program {
public:
    other_program(const std::string& path, json results)
        : listener_(listen_at(path)), results_(std::move(results)) {
        thread_ = std::thread([this] { serve(); });
    }
    ~other_program() {
        shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
    }

private:
    void serve() const {
        const trn::unique_fd client(accept(listener_.get(), nullptr, nullptr));
        std::string input;
        char bytes[4096];
        for (ssize_t count; (count = recv(client.get(), bytes, sizeof bytes, 0)) > 0;) {
            input.append(bytes, static_cast<std::size_t>(count));
            for (std::size_t end; (end = input.find('\n')) != input.npos;) {
                const auto request = json::parse(input.substr(0, end));
                input.erase(0, end + 1);
                const auto reply =
                    json{{"jsonrpc", "2.0"},
                         {"id", request["id"]},
                         {"result",
                          results_.value(request["method"].get<std::string>(), json::object())}}
                        .dump() +
                    "\n";
                send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
            }
        }
    }

    const trn::unique_fd listener_;
    const json results_;
    std::thread thread_;
};

TEST(TrnctlCommandLine, AnswersOfAnotherProgramAreAFailure) {
    const std::vector<std::pair<std::string, json>> cases{
        {"misuse", {{"misuse", json::object()}}},
        {"registers m n", {{"registers", json::array({{{"offset", 1}}})}}},
        {"registers m", {{"registers", json::array({5})}}},
        {"list", {{"list", json::array({5})}}},
        {"topology", {{"list", json::array({"chip0.management.misc_ram.in"})}}},
        {"snapshots", {{"snapshots", json::array({"x"})}}}};
    for (const auto& [words, results] : cases) {
        const trn::test::scratch_folder folder;
        const other_program server(folder / "control.sock", results);
        const auto how = run(trnctl + " --connect " + folder.text() + " " + words);
        EXPECT_EQ(how.status, 1) << words << "\n" << how.output;
        EXPECT_THAT(how.output, HasSubstr("trnctl: ")) << words;
    }
}

TEST(TrnctlCommandLine, CompletionWaitsBrieflyForASocketThatDoesNotAnswer) {
    const scratch_folder folder;
    const auto silent = listen_at(folder / "control.sock");
    const auto begin = std::chrono::steady_clock::now();
    const auto how = run(trnctl + " --complete 'trnctl --connect " + folder.text() + " inject '");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(how.status, 0);
    EXPECT_EQ(how.output, "");
}

TEST(TrnctlCommandLine, ArgumentsThatAreNotUtf8AreRefused) {
    const scratch_folder folder;
    const other_program server(folder / "control.sock", json::object());
    const auto how =
        run(trnctl + " --connect " + folder.text() + " restore \"$(printf 'a\\377')\"");
    EXPECT_EQ(how.status, 2);
    EXPECT_EQ(how.output, "trnctl: restore: an argument is not UTF-8\n");
}

TEST(TrnctlBoard, BootsABoardInProcessAndCopies) {
    const auto how =
        run(trnctl + " --board trn3-chip --json copy host hbm2@16MiB 1000001B --verify");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto result = lines_of(how.output).at(0);
    EXPECT_EQ(result["bytes"], 1000001);
    EXPECT_EQ(result["verified"], true);
    EXPECT_GT(result["simulated_s"].get<double>(), 0);
}

TEST(TrnctlBoard, PrintsTheChipsIdentity) {
    const auto how = run(trnctl + " --board trn3-chip --json info");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto result = lines_of(how.output).at(0);
    EXPECT_EQ(result["name"], "Trainium3");
    EXPECT_EQ(result["api_version"], 7);
    EXPECT_NE(result["serial"], 0);
}

TEST(TrnctlBoard, SingleChipReportsNoLinks) {
    const std::string two = trnctl + " --board trn3-chip --set devices=2 ";
    const auto text = run(two + "topology");
    EXPECT_EQ(text.status, 0) << text.output;
    EXPECT_THAT(text.output, HasSubstr("2 chips, 0 ports up, 0 faults"));
    const auto one = run(two + "--json --chip chip1 topology");
    ASSERT_EQ(one.status, 0) << one.output;
    EXPECT_EQ(lines_of(one.output).size(), 1u);
    EXPECT_EQ(lines_of(one.output)[0]["chip"], "chip1");
    EXPECT_EQ(lines_of(one.output)[0]["topology"], "none");
    EXPECT_EQ(lines_of(one.output)[0]["routing_id"], 8);
    const auto missing = run(two + "--chip chip7 topology");
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.output, HasSubstr("there is no 'chip7'"));
    EXPECT_THAT(run(two + "info").output, HasSubstr("choose a --chip"));
}

TEST(TrnctlBoard, SameCopyHasTheSameTraceAndFunctionalTimingDiffers) {
    const scratch_folder folder;
    const auto trace = [&](const std::string& name, const std::string& options) {
        const auto file = folder / name;
        const auto how = run(trnctl + " --board trn3-chip --trace " + file + options +
                             " copy host hbm1@16MiB 1MiB");
        EXPECT_EQ(how.status, 0) << how.output;
        std::ifstream in(file);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    const auto first = trace("first", " --seed 7");
    EXPECT_THAT(first, HasSubstr(" completed queue="));
    EXPECT_EQ(first, trace("second", " --seed 7"));
    EXPECT_NE(first, trace("functional", " --seed 7 --timing functional"));
}

TEST(TrnctlBoard, AbortedCopyIsAFailureWithItsCause) {
    const auto how = run(trnctl + " --board trn3-chip copy host axi@0x900000000 4KiB");
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("engine 128"));
    EXPECT_THAT(how.output, HasSubstr("address error"));
}

TEST(TrnctlBoard, CoreEnginesShareACopy) {
    const auto rate = [](const std::string& engines) {
        const auto how = run(trnctl + " --board trn3-chip --json bench --matrix --pattern local " +
                             "--bytes 16MiB --engines " + engines);
        EXPECT_EQ(how.status, 0) << how.output;
        const auto result = lines_of(how.output).at(0);
        EXPECT_EQ(result["bytes"], 16 << 20);
        return result["gb_per_s"].get<double>();
    };
    const double one = rate("1"), eight = rate("8");
    EXPECT_NEAR(one, 38.0, 0.4);  // 64 KiB at 38.4 GB/s plus the overhead of a descriptor
    EXPECT_GT(eight, 7 * one);
    EXPECT_LE(eight, 8 * 38.4);
}

TEST(TrnctlBoard, LocationOutsideTheChipIsAUsageError) {
    const auto how = run(trnctl + " --board trn3-chip copy host hbm4 4KiB");
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("hbm0 to hbm3"));
}

TEST(TrnctlBoard, OffsetsNearTheEndOfTheAddressSpaceAreUsageErrors) {
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const auto how = run(trnctl + " --board trn3-chip " + arguments);
        EXPECT_EQ(how.status, 2) << arguments << ": " << how.output;
        EXPECT_THAT(how.output, HasSubstr(text)) << arguments;
    };
    expect("copy host@0xffffffffffff0000 hbm0 65KiB", "pass the end of the address space");
    expect("copy hbm0 host@0xfffffffffffffff0 64B", "pass the end of the address space");
    expect("copy hbm0@0xfffffffffffffff0 host 64B", "0x40 bytes at hbm0@0xfffffffffffffff0");
    expect("memset axi@0xfffffffffffffff0 64B 1", "pass the end of the address space");
    expect("peek bar0@0xfffffffffffffffc 64", "64 bytes at 0xfffffffffffffffc pass the end");
    expect("peek bar0@0xfffffffffffffff0 16", "0xfffffffffffffff0 is not a register");
    expect("peek sbuf0@0xfffffffffffffff0 64", "do not fit");
}

/// A platform in another process, with sockets.
struct TrnctlConnect : testing::Test {
    scratch_folder folder;
    background platform{{TRNVP, "run", "trn3-chip", "--listen", folder.text()}, folder / "log"};

    ended ctl(const std::string& command) {
        return run(trnctl + " --connect " + folder.text() + " " + command);
    }
    void SetUp() override {
        ASSERT_TRUE(eventually([&] {
            return !platform.running() || std::filesystem::exists(folder / "control.sock");
        }));
        ASSERT_TRUE(platform.running()) << run("cat " + folder.text() + "/log").output;
    }
};

/// Folder of the program texts.
const std::string programs = SCENARIOS "/programs/";

TEST(TrnctlProgram, RunsATextAndComparesItsTensors) {
    const auto on_board = [](const std::string& arguments) {
        return run(trnctl + " --board trn3-chip program run " + programs + arguments);
    };
    auto how = on_board("add.trn --in x=1.5 --check y=3 --counters");
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("vector of core 0 ended with code 7"));
    EXPECT_THAT(how.output, HasSubstr("1 tensor as expected"));
    // 128 partitions x 512 FP32: two operands read, one result written.
    EXPECT_THAT(how.output, testing::ContainsRegex("vector +2 +[0-9]+ +[0-9]+ +524288 +262144"));
    how = on_board("add.trn --in x=1.5 --check y=4");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output,
                HasSubstr("trnctl: tensor y: 65536 of 65536 elements differ; the first, "
                          "[0, 0], is 3 (0x40400000) instead of 4 (0x40800000)"));
    how = on_board("add.trn --in x=1.5 --check y=4 --rtol 0.25 --by-dma --poll");
    EXPECT_EQ(how.status, 0) << how.output;
    how = on_board("bad_operand.trn");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("bad_operand.trn:4): BAD_OPERAND in dst"));
    how = on_board("wait.trn --core 2 --limit 50000");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("after 50 us the scalar engine of core 2 is waiting"));
}

TEST(TrnctlProgram, MisuseOfAProgramNamesItsSourceLine) {
    const auto how = run(trnctl + " --board trn3-chip program run " + programs + "misuse.trn");
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("(vector engine at pc 2 (" + programs +
                                      "misuse.trn:5): tensor_scalar_reduce"));
}

TEST(TrnctlProgram, ReportHasTheErrorItsEngineAndBrokenRules) {
    const scratch_folder folder;
    const auto report_of = [&](const std::string& arguments, int status) {
        const auto file = folder / "report.json";
        const auto how = run(trnctl + " --board trn3-chip program run " + programs + arguments +
                             " --report " + file);
        EXPECT_EQ(how.status, status) << how.output;
        std::ifstream text(file);
        auto report = json::parse(text);
        for (const auto& broken : report.at("misuse"))
            EXPECT_THAT(how.output, HasSubstr(broken.at("line").get<std::string>() + "\n"));
        if (status != 0) {
            EXPECT_THAT(how.output,
                        HasSubstr("trnctl: " + report.at("error").get<std::string>() + "\n"));
        }
        return report;
    };
    EXPECT_EQ(report_of("add.trn", 0), json({{"misuse", json::array()}}));
    const auto broken = report_of("misuse.trn", 0).at("misuse");
    ASSERT_FALSE(broken.empty());
    EXPECT_THAT(broken[0].at("rule").get<std::string>(), testing::StartsWith("TRN-NC-"));
    const auto failure = report_of("bad_operand.trn", 1).at("failure");
    EXPECT_EQ(failure.at("error"), "BAD_OPERAND");
    EXPECT_EQ(failure.at("file"), programs + "bad_operand.trn");
    EXPECT_EQ(failure.at("line"), 4);
    EXPECT_EQ(failure.at("core"), 0);
    EXPECT_FALSE(report_of("wait.trn --limit 50000", 1).contains("failure"));
    const auto refused = run(trnctl + " --board trn3-chip program run " + programs +
                             "add.trn --report /no/such/folder/x");
    EXPECT_EQ(refused.status, 2) << refused.output;
}

TEST(TrnctlProgram, WrongWordsAreUsageErrors) {
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const auto how =
            run(trnctl + " --board trn3-chip program run " + programs + "add.trn " + arguments);
        EXPECT_EQ(how.status, 2) << arguments << ": " << how.output;
        EXPECT_THAT(how.output, HasSubstr(text)) << arguments;
    };
    expect("--in x", "--in x: expected TENSOR=VALUE");
    expect("--in z=1", "no tensor 'z'; it has x, y");
    expect("--check 'y=random(1)'", "expected random(LOW, HIGH)");
    expect("--check 'y=random(0, 1, 1.5)'", "SEED must be a whole number");
    expect("--check 'y=random(0, inf)'", "must be finite");
    expect("--check y=no-such-file", "no-such-file cannot be read: there is no such file, and it");
    expect("--check 'y=matmull(x, x)'",
           "'matmull(x, x)' is not random(LOW, HIGH), nor a reference");
    expect("--check 'y=matmul(x)'", "matmul takes 2 operands");
    expect("--check 'y=matmul(x, x)'", "the contracted dimensions do not fit: 512 and 128");
    expect("--core 8", "no core 8");
    const auto missing = run(trnctl + " --board trn3-chip program run no-such.trn");
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.output, HasSubstr("no-such.trn"));
    const auto dump = run(trnctl + " --board trn3-chip program dump");
    EXPECT_EQ(dump.status, 2);
    EXPECT_THAT(dump.output, HasSubstr("--connect"));
}

TEST(TrnctlProgram, OutputsAreFilesThatInputsCanBe) {
    const scratch_folder folder;
    for (const char* file : {"y.npy", "y.bin"}) {
        const std::string add =
            trnctl + " --board trn3-chip program run " + programs + "add.trn --in x=";
        EXPECT_EQ(run(add + "index --out y=" + (folder / file)).status, 0);
        const auto again = run(add + (folder / file) + " --check 'y=add(x, x)'");
        EXPECT_EQ(again.status, 0) << again.output;
        const auto other = run(add + "index --check y=" + (folder / file));
        EXPECT_EQ(other.status, 0) << other.output;
    }
    EXPECT_EQ(std::filesystem::file_size(folder / "y.bin"), 128u * 512 * 4);
}

/// Eight chips behind switches, with two cables swapped.
TEST(TrnctlTopology, PrintsTheDiscoveredTopologyAndItsFaultsOverTheSocket) {
    const scratch_folder folder;
    const auto board = folder / "swapped.yaml";
    run("sed 's/across0.b <-> chip4/across0.b <-> chip6/; s/across2.b <-> chip6/across2.b <-> "
        "chip4/' tests/integration/topology/switched.yaml > " +
        board);
    background platform({TRNVP, "run", board, "--listen", folder / "sockets"}, folder / "log");
    const auto control = folder / "sockets/control.sock";
    ASSERT_TRUE(
        eventually([&] { return !platform.running() || std::filesystem::exists(control); }));
    const auto ctl = trnctl + " --connect " + (folder / "sockets") + " ";

    const auto text = run(ctl + "topology").output;
    EXPECT_THAT(text, HasSubstr("switched: 2 chips per server, 2 servers per rack, 2 racks\n"));
    EXPECT_THAT(text, HasSubstr("0/0/1          1+2+4  0: Gen6 x32 sled 0/0, 1: Gen6 x40 rack 0, "
                                "2: Gen6 x16 1/0/1\n"));
    EXPECT_THAT(text, HasSubstr("2: Gen6 x16 1/1/0 (!)\n"));
    EXPECT_THAT(text, HasSubstr("8 chips, 24 ports up, 4 faults\n"));
    EXPECT_THAT(text, HasSubstr("\nchip4: port 2 leads to rack 0 server 1 chip 0, expected rack 0 "
                                "server 0 chip 0\n"));

    const auto chips = lines_of(run(ctl + "--json topology").output);
    ASSERT_EQ(chips.size(), 8u);
    EXPECT_EQ(chips[4]["chip"], "chip4");
    EXPECT_EQ(chips[4]["place"], json({{"rack", 1}, {"server", 0}, {"chip", 0}}));
    EXPECT_EQ(chips[4]["reachable"], json({{"server", 1}, {"rack", 2}, {"other", 4}}));
    const auto& link = chips[4]["links"][2];
    EXPECT_EQ(link["fault"], "wrong partner");
    EXPECT_EQ(link["partner"]["serial"], "54524e3300000003");
    EXPECT_EQ(link["expected"]["server"], 0);
    EXPECT_EQ(chips[5]["links"][2]["fault"], "ok");
}

TEST(TrnctlBoard, PrintsStartAndEndTimesOfCollectiveSteps) {
    const auto command = [](const std::string& options) {
        return run(trnctl + " " + options +
                   " --board trn3-sled coll --op all-gather --algo ring --bytes 64KiB --steps=2");
    };
    auto how = command("");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("# steps, in us since the first rank began\n"));
    EXPECT_THAT(how.output, HasSubstr("     0.000 "));
    EXPECT_THAT(how.output, HasSubstr("        2 more\n"));
    EXPECT_THAT(how.output, HasSubstr("    rest "));
    EXPECT_THAT(how.output, HasSubstr("# 2 ranks more, none with a longer step\n"));
    how = command("--json");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto lines = lines_of(how.output);
    ASSERT_EQ(lines.size(), 5u);
    for (int rank = 0; rank < 4; ++rank) {
        const auto& row = lines[static_cast<std::size_t>(rank) + 1];
        EXPECT_EQ(row["rank"], rank);
        ASSERT_EQ(row["step_ends_us"].size(), 3u);
        EXPECT_LT(row["begin_us"], row["step_ends_us"][0]);
        EXPECT_LE(row["step_ends_us"][2], row["end_us"]);
    }
    EXPECT_EQ(run(trnctl + " --board trn3-sled coll --op barrier --steps=0").status, 2);
    EXPECT_EQ(run(trnctl + " --board trn3-sled coll --op barrier --steps=many").status, 2);
}

/// A board in another process with chips and cards.
class TrnctlCollective : public testing::Test {
protected:
    void start(const std::string& board) {
        platform_.emplace(std::vector<std::string>{TRNVP, "run", board, "--listen", folder_.text()},
                          folder_ / "log");
        ASSERT_TRUE(eventually([&] {
            return !platform_->running() || std::filesystem::exists(folder_ / "control.sock");
        }));
    }
    ended coll(const std::string& arguments) {
        return run(trnctl + " --connect " + folder_.text() + " --json coll --check " + arguments);
    }
    void expect_right(const std::string& arguments, int ranks, int domains) {
        const auto how = coll(arguments);
        ASSERT_EQ(how.status, 0) << arguments << ": " << how.output;
        const auto result = lines_of(how.output).at(0);
        EXPECT_EQ(result["ranks"], ranks) << arguments;
        EXPECT_EQ(result["domains"], domains) << arguments;
        EXPECT_EQ(result["wrong"], 0) << arguments;
    }

    scratch_folder folder_;
    std::optional<background> platform_;
};

TEST_F(TrnctlCollective, RunsThroughTheSocketsOfTheChips) {
    start("trn3-sled");
    for (const std::string op : {"barrier", "all-to-all", "all-reduce"})
        expect_right("--bytes 256KiB --op " + op, 4, 1);
    auto how = coll("--op barrier --ranks 0-4");
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("the board has chips 0 to 3"));
    how = run(trnctl + " --connect " + folder_.text() + " --chip net0 info");
    EXPECT_EQ(how.status, 2) << "a card: " << how.output;
    EXPECT_THAT(how.output, HasSubstr("known: chip0, chip1, chip2, chip3)"));
    how = run(trnctl + " --connect " + (folder_ / "control.sock") + " coll --op barrier");
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("--connect the folder"));
}

TEST_F(TrnctlCollective, CrossesDomainsThroughTheSocketsOfTheCards) {
    start("tests/integration/collectives/three_sleds.yaml");
    expect_right("--bytes 64KiB --ranks 0-1,4-5 --op all-reduce", 4, 2);
    expect_right("--bytes 64KiB --ranks 0-1,4-5,8-9 --op all-gather", 6, 3);
    const auto how = coll("--op barrier --ranks 0-2,4");
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("as many ranks as the others"));
}

TEST_F(TrnctlConnect, CopiesThroughAllEndpointsAndKeepsMemory) {
    auto how = ctl("copy host hbm0@16MiB 4MiB --verify --seed 5");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("verified"));
    how = ctl("copy hbm0@16MiB hbm3@1000001 4MiB --verify");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto first = ctl("peek hbm0@16MiB 16"), second = ctl("peek hbm3@1000001 16");
    EXPECT_EQ(first.output.substr(first.output.find(' ')),
              second.output.substr(second.output.find(' ')));
    how = ctl("memset hbm1@16MiB 1MiB 0xab");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(ctl("peek hbm1@17825791 1").output, HasSubstr(" ab"));
}

TEST_F(TrnctlConnect, ReachesRegistersSemaphoresAndPower) {
    using enum misc_ram_regs::reg;
    const auto word = [](misc_ram_regs::reg r) {
        return fmt::format("bar0@{:#x}", bar0::offset(r));
    };
    EXPECT_THAT(ctl("peek " + word(api_version) + " 4").output, HasSubstr("0x00000007"));
    EXPECT_EQ(ctl("poke " + word(runtime) + " 0x1234").status, 0);
    EXPECT_THAT(ctl("peek " + word(runtime) + " 4").output, HasSubstr("0x00001234"));
    EXPECT_THAT(ctl("sem set 3 -7 --core 5").output, HasSubstr("semaphore 3 = -7"));
    EXPECT_THAT(ctl("sem inc 3 9 --core 5").output, HasSubstr("semaphore 3 = 2"));
    EXPECT_THAT(ctl("event set 9 1 --top-sp 15").output, HasSubstr("event 9 = 1"));
    EXPECT_THAT(ctl("power").output, HasSubstr("die 1"));
    EXPECT_THAT(ctl("info").output, HasSubstr("Trainium3"));
    EXPECT_THAT(ctl("reset --cores 0x20").output, HasSubstr("reset"));
    EXPECT_THAT(ctl("sem read 3 --core 5").output, HasSubstr("semaphore 3 = 0"));
    EXPECT_EQ(ctl("list").status, 0);
}

TEST_F(TrnctlConnect, PrintsRegistersOfEveryModuleByName) {
    EXPECT_THAT(ctl("registers").output, HasSubstr("chip0.management.watchdog"));
    ended how;
    std::map<std::string, json> rows;
    const auto is_trained = [&] {  // the chip boots meanwhile
        how = ctl("--json registers chip0.hbm2");
        if (how.status != 0) return true;
        for (const auto& row : lines_of(how.output)) rows[row["name"]] = row;
        return rows["STATUS"]["fields"]["TRAINED"] == 1;
    };
    ASSERT_TRUE(eventually(is_trained)) << how.output;
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_EQ(rows["STATUS"]["block"], "hbm");
    EXPECT_EQ(rows["STATUS"]["fields"]["TRAINED"], 1);
    EXPECT_EQ(rows["SIZE_MIB"]["value"], 36864);
    EXPECT_EQ(rows["SIZE_MIB"]["known_by"], "invented");
    EXPECT_GT(rows["STATUS"]["used_by"]["firmware"]["reads"], 0);
    // Two blocks of one module, an array element; names are case-insensitive.
    EXPECT_THAT(ctl("registers chip0.nc0").output, HasSubstr("pe_counters."));
    ctl("sem set 3 -7 --core 5");
    how = ctl("registers chip0.nc5 semaphore_read --index 3");
    EXPECT_THAT(how.output, HasSubstr(", element 3 of 256\n"));
    EXPECT_THAT(how.output, HasSubstr("0xfffffff9"));
    EXPECT_THAT(ctl("registers chip0.nc5 SEMAFORE_READ").output, HasSubstr("SEMAPHORE_READ"));
    EXPECT_THAT(ctl("registers chip0.nc55").output, HasSubstr("chip0.nc5"));
    EXPECT_EQ(ctl("registers chip0.nc5 semaphore_read --index 256").status, 2);
}

TEST_F(TrnctlConnect, RunsAProgramOverTheSocketAndDumpsItsCore) {
    const auto how = ctl("program run " + programs + "add.trn --core 1 --in x=2 --check y=4");
    EXPECT_EQ(how.status, 0) << how.output;
    const auto dump = ctl("program dump --core 1");
    EXPECT_EQ(dump.status, 0) << dump.output;
    EXPECT_THAT(dump.output, HasSubstr("sync    halted   pc 3, 4 of 4 words retired"));
    EXPECT_THAT(dump.output, HasSubstr("vector  halted   pc 2, 2 of 3 words retired"));
    EXPECT_THAT(dump.output, HasSubstr("tensor  idle"));
    EXPECT_THAT(dump.output, HasSubstr("S[24] = 16"));
    const auto counters = ctl("--json program counters --core 1");
    const auto lines = lines_of(counters.output);
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[3]["engine"], "vector");
    EXPECT_EQ(lines[3]["bytes_written"], 262144);
}

TEST_F(TrnctlConnect, ListsFaultsWithTheirArgumentsAndInjectsThem) {
    const auto text = ctl("list faults").output;
    EXPECT_THAT(text, HasSubstr("chip*.hbm*  (hbm, 4 modules)\n"
                                "  hbm_corrected: the next read of the byte is corrected\n"
                                "      offset      size, below 36 GiB; required: of a byte in the "
                                "stack\n"));
    EXPECT_THAT(text, HasSubstr("      side        number, 0 to 1; default 0: sources (0) or "
                                "destinations (1)\n"));
    const auto groups = lines_of(ctl("--json list faults").output);
    const auto hbm = std::ranges::find(groups, "hbm", [](const json& one) { return one["type"]; });
    ASSERT_NE(hbm, groups.end());
    EXPECT_EQ((*hbm)["modules"].size(), 4u);
    EXPECT_EQ((*hbm)["faults"][0]["arguments"][0]["max"], (std::uint64_t{36} << 30) - 1);

    auto how = ctl("inject 'chip0.hbm*' hbm_corrected offset=16MiB");
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_EQ(how.output,
              "chip0.hbm0: hbm_corrected\nchip0.hbm1: hbm_corrected\n"
              "chip0.hbm2: hbm_corrected\nchip0.hbm3: hbm_corrected\n");
    EXPECT_THAT(ctl("inject chip0.hbm0 hbm_corrected offset=36GiB").output,
                HasSubstr("'offset': 36GiB is out of range: below 36 GiB"));
    EXPECT_THAT(ctl("inject chip0.hbm0 hbm_corrected ofset=1").output,
                HasSubstr("did you mean 'offset'"));
    EXPECT_EQ(ctl("inject chip0.hbm0 hbm_corrected offset").status, 2);
    EXPECT_EQ(ctl("inject chip0.hbm0 hbm_corrected offset=1 offset=2").status, 2);
}

TEST_F(TrnctlConnect, WritesNamedRegistersAndSpaces) {
    EXPECT_EQ(ctl("poke chip0.udma0.M2S_PREFETCH_CFG_3.BURST 3").status, 0);
    EXPECT_EQ(ctl("peek chip0.udma0.M2S_PREFETCH_CFG_3").output,
              "chip0.udma0.M2S_PREFETCH_CFG_3 = 0x4131\n");
    EXPECT_EQ(ctl("deposit chip0.management.resets.RESET_COUNT 9").status, 0);
    EXPECT_THAT(ctl("peek chip0.management.resets.RESET_COUNT").output, HasSubstr("= 0x9"));
    EXPECT_THAT(ctl("poke chip0.management.resets.RESET_COUNT 8").output, HasSubstr("use deposit"));
    std::ofstream(folder / "words.bin", std::ios::binary) << "abcdefgh";
    EXPECT_EQ(ctl("poke chip0.hbm0.in@0x2000000 --file " + (folder / "words.bin")).status, 0);
    EXPECT_EQ(ctl("poke hbm0@33554440 --data 0102ff").status, 0);
    EXPECT_THAT(ctl("peek chip0.hbm0.in@0x2000000 11").output,
                HasSubstr("61 62 63 64 65 66 67 68 01 02 ff"));
    for (const auto* wrong :
         {"poke hbm0@0", "poke hbm0@0 --data 012", "poke hbm0@0 1 --data 01",
          "poke hbm0@0 --file no-such-file", "deposit hbm0@0 1", "poke bar0@0 --data 0102",
          "poke chip0.udma0.M2S_PREFETCH_CFG_3 --data 01020304"})
        EXPECT_EQ(ctl(wrong).status, 2) << wrong;
}

TEST_F(TrnctlConnect, PausesContinuesAndSteps) {
    EXPECT_THAT(ctl("pause").output, HasSubstr("paused at "));
    const auto time = ctl("status").output;
    EXPECT_THAT(time, HasSubstr("trnctl paused"));
    EXPECT_EQ(ctl("status").output, time);
    EXPECT_THAT(ctl("step").output, HasSubstr("paused at "));
    EXPECT_THAT(ctl("continue").output, HasSubstr("running at "));
}

TEST_F(TrnctlConnect, NamesASocketThatIsNotTheControlSocket) {
    const auto how = run(trnctl + " --connect " + (folder / "chip0.sock") + " status");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("chip0.sock is not the control socket of a platform: "));
    EXPECT_THAT(how.output, HasSubstr("DIR/control.sock"));
}

TEST_F(TrnctlConnect, LoadsAFirmwareIntoACoreAndPrintsItsLog) {
    EXPECT_THAT(ctl("cc load 3 cc_example.elf").output, HasSubstr("cores 0x8 run an image of "));
    EXPECT_THAT(ctl("cc log 3").output, HasSubstr("hello from core 3\n"));
    EXPECT_EQ(ctl("poke chip0.top_sp3.cc_core.DOORBELL 5").status, 0);
    EXPECT_TRUE(eventually([&] {
        return ctl("cc log 3").output.find("rung with 5, argument 0\n") != std::string::npos;
    }));
    EXPECT_THAT(ctl("cc log 99").output, HasSubstr("core: Value 99 not in range 0 to 15"));
    EXPECT_EQ(ctl("cc load 3 no-such-file.elf").status, 1);
}

TEST_F(TrnctlConnect, CompletesWords) {
    const auto completed = [this](const std::string& line) {
        return run(trnctl + " --complete 'trnctl " + line + "' | cut -f 1").output;
    };
    EXPECT_EQ(completed("inj"), "inject\n");
    EXPECT_EQ(completed("inject --connec"), "--connect\n");
    const auto inject = "--connect " + folder.text() + " inject ";
    EXPECT_THAT(completed(inject + "chip0.hb"),
                HasSubstr("chip0.hbm0\nchip0.hbm1\nchip0.hbm2\nchip0.hbm3\n"));
    EXPECT_EQ(completed(inject + "chip0.hbm0 hbm_c"), "hbm_corrected\n");
    EXPECT_EQ(completed(inject + "chip0.udma0 descriptor_damaged "),
              "bit=\nengine=\nqueue=\nside=\n");
    EXPECT_EQ(completed("--connect no-such-folder inject "), "");
    EXPECT_EQ(completed("completion "), "bash\nfish\nzsh\n");
    EXPECT_EQ(completed("--timing f"), "functional\n");
    EXPECT_THAT(completed("--board trn3-c"), HasSubstr("trn3-chip\n"));
    EXPECT_EQ(run(trnctl + " --complete 'trnctl snapshots'").output,
              "snapshots\tkept states and their simulated times\n");
    const auto in_bash = [](const std::string& typed) {
        return run("PATH=" + std::filesystem::path(TRNCTL).parent_path().string() +
                   ":$PATH bash -c 'set -u; source <(trnctl completion bash); COMP_LINE=\"" +
                   typed + "\"; COMP_POINT=15; _trnctl; echo ${COMPREPLY[@]-none}'")
            .output;
    };
    EXPECT_EQ(in_bash("trnctl snapshot"), "snapshot snapshots\n");
    EXPECT_EQ(in_bash("trnctl unknown "), "none\n");
}

TEST_F(TrnctlConnect, CopiesFilesToTheChipAndBack) {
    const auto sent = folder.text() + "/sent", received = folder.text() + "/received";
    std::ofstream(sent) << "some bytes";
    EXPECT_EQ(ctl("copy host hbm0@16MiB 10B --in " + sent + " --verify").status, 0);
    EXPECT_EQ(ctl("copy hbm0@16MiB host 10B --out " + received).status, 0);
    std::ostringstream text;
    text << std::ifstream(received).rdbuf();
    EXPECT_EQ(text.str(), "some bytes");
    for (const auto& [words, message] : std::vector<std::pair<std::string, std::string>>{
             {"copy host hbm0@16MiB 11B --in " + sent, "has 10 bytes, and the copy 11"},
             {"copy hbm0 hbm1 10B --in " + sent, "--in is for a copy from the host"},
             {"copy host hbm1 10B --out " + received, "--out is for a copy to the host"},
             {"copy host hbm1 10B --in no-such-file", "no-such-file: "},
             {"copy hbm1 host 10B --out /no/folder/file", "/no/folder/file cannot be written"}}) {
        const auto how = ctl(words);
        EXPECT_EQ(how.status, 2) << words;
        EXPECT_THAT(how.output, HasSubstr(message));
    }
}

TEST_F(TrnctlConnect, PrintsBrokenRules) {
    EXPECT_EQ(ctl("misuse").output, "0 in all\n");
    ctl("poke bar0@0x3c000000 1");
    ctl("poke bar0@0x3c000000 1");
    auto how = ctl("--json misuse");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto lines = lines_of(how.output);
    ASSERT_EQ(lines.size(), 1u) << how.output;
    EXPECT_EQ(lines[0]["name"], "host-write-to-nothing");
    EXPECT_EQ(lines[0]["count"], 2);
    EXPECT_EQ(ctl("misuse --policy fial").status, 2);
    EXPECT_EQ(ctl("misuse --policy fail --clear").status, 0);
    EXPECT_EQ(ctl("misuse").output, "0 in all\n");
    EXPECT_EQ(platform.end(), 0);
}

TEST_F(TrnctlConnect, RuleThatFailsTheRunIsInItsSummaryAndStatus) {
    EXPECT_EQ(ctl("misuse --policy fail:TRN-PCI-002").status, 0);
    ctl("poke bar0@0x3c000000 1");
    EXPECT_EQ(platform.end(), 1);
    const auto log = run("cat " + (folder / "log")).output;
    EXPECT_THAT(log, HasSubstr("TRN-PCI-002 host-write-to-nothing"));
    EXPECT_THAT(log, HasSubstr("a misuse rule failed the run"));
}

TEST(TrnctlBoard, DemoAndBenchUseTheStacksOfEachChip) {
    for (const std::string board : {"trn1-chip", "inf2-chip"})
        for (const std::string words : {" demo --size 1MiB", " bench --largest 1KiB"}) {
            const auto how = run(trnctl + " --board " + board + words);
            EXPECT_EQ(how.status, 0) << board << words << "\n" << how.output;
        }
}

TEST_F(TrnctlConnect, RunsTheDemo) {
    const auto how = ctl("demo --size 8MiB");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("stage 1/6"));
    EXPECT_THAT(how.output, HasSubstr("came back as sent"));
}

TEST_F(TrnctlConnect, MonitorsWhileADriverIsAttached) {
    background driver({TRNCTL, "--connect", folder.text(), "bench", "--largest", "1GiB"},
                      folder / "bench");
    ASSERT_TRUE(eventually(
        [&] { return !driver.running() || std::filesystem::file_size(folder / "bench") > 0; }));
    const auto how = ctl("--json monitor --for 1");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto lines = lines_of(how.output);
    ASSERT_FALSE(lines.empty());
    EXPECT_GT(lines.back()["descriptors"].get<int>(), 0);
    EXPECT_GT(lines.back()["power"][0].get<int>(), 0);
}

TEST_F(TrnctlConnect, SurvivesAClientThatDiesInACopy) {
    background client({TRNCTL, "--connect", folder.text(), "bench", "--largest", "1GiB"},
                      folder / "bench");
    ASSERT_TRUE(eventually(
        [&] { return !client.running() || std::filesystem::file_size(folder / "bench") > 0; }));
    client.kill_now();
    client.end();
    const auto how = ctl("copy host hbm0@16MiB 1MiB --verify");
    EXPECT_EQ(how.status, 0) << how.output;
}

TEST(TrnctlBoard, UsesTheNamedChip) {
    const std::string four = trnctl + " --board trn3-chip --set devices=4 --json ";
    auto how = run(four + "--chip chip2 info");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_EQ(lines_of(how.output).back()["routing_id"], 9);
    EXPECT_EQ(lines_of(how.output).back()["device_index"], 2);
    EXPECT_EQ(lines_of(how.output).back()["serial"], 0x5452'4e33'0000'0003);
    how = run(four + "info");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("known: chip0, chip1, chip2, chip3)"));
}

TEST_F(TrnctlConnect, ListsTheChips) {
    const auto how = ctl("--chip chip77 info");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("known: chip0)"));
}

TEST_F(TrnctlConnect, ReportsThatThePlatformHasExited) {
    EXPECT_EQ(platform.end(), 0);
    EXPECT_EQ(ctl("info").status, 1);
}

}  // namespace
}  // namespace trn::test
