// SPDX-License-Identifier: Apache-2.0
// A client sends arbitrary bytes to the control or debugger socket: the platform continues and
// serves the next client.
//
//     fuzz_sockets --socket control|gdb [--seconds N] [--seed S] [--only INPUT]
#include <cstdlib>
#include <string_view>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/framework/debug/gdb/packet.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/fuzz.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace {

using namespace trn;
using test::fuzz_random;

const std::string hello = R"({"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1}})"
                          "\n";

/// One call of each method, with valid parameter names.
test::mutator control_lines(control& methods) {
    std::vector<std::string> seeds, words{"[",
                                          "]",
                                          "{}",
                                          "null",
                                          "-1",
                                          "1e999",
                                          "\"\\ud800\"",
                                          "\n",
                                          "18446744073709551616",
                                          "\"0xffffffffffffffff\"",
                                          std::string(200, '['),
                                          R"("params":)",
                                          R"("id":)"};
    for (const auto& [name, method] : methods.methods().all()) {
        if (name == "quit") continue;
        for (const auto* params :
             {R"({})", R"({"space":"axi","address":0,"size":8})",
              R"({"module":"mgmt.uart","text":"x","what":"harts"})",
              R"({"for":"1 us","wall_limit":0.001,"topics":["uart","state"]})"})
            seeds.push_back(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})",
                                        name, params) +
                            "\n");
        words.emplace_back(name);
    }
    return {seeds, words};
}

test::mutator gdb_packets() {
    std::vector<std::string> seeds,
        words{"#00", "$", "}", "*",      "\x03",   "+",      "-",   "ffffffffffffffff",
              ",",   ";", ":", "p-1.-1", "vCont;", "qXfer:", "Z0,", "x"};
    for (const auto* body : {"?",
                             "g",
                             "m0,100",
                             "M0,4:00000000",
                             "P20=0000000000000000",
                             "Z0,80000000,4",
                             "z0,80000000,4",
                             "Z2,80000000,8",
                             "Hgp1.1",
                             "vCont;s:p1.1",
                             "vCont?",
                             "qfThreadInfo",
                             "qXfer:features:read:target.xml:0,fff",
                             "qRcmd,7374617475733d5b5b",
                             "QStartNoAckMode",
                             "vAttach;1",
                             "T1",
                             "D;1",
                             "s",
                             "c",
                             "X0,4:}\x04xx"})
        seeds.push_back(gdb::frame("qSupported:multiprocess+") + gdb::frame(body) +
                        gdb::frame("?"));
    return {seeds, words};
}

void serve(run_loop& loop) {
    for (int i = 0; i < 50 && loop.io().poll() != 0; ++i) {
    }
    run_loop::goal moment{"fuzz", "a moment"};
    moment.until = sc_core::sc_time_stamp() + sc_core::sc_time(5, sc_core::SC_US);
    moment.ends_on_pause = true;
    loop.run(moment);
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    const bool is_gdb = argc > 2 && std::string_view(argv[2]) == "gdb";
    log::replace_sink({});
    platform board(kinds(), {.board = "tests/integration/firmware/management_board.yaml"});
    const test::scratch_folder folder;
    endpoints sockets(board);
    sockets.open_folder(folder / "");
    sockets.open_gdb(folder / "gdb.sock");
    auto& loop = board.loop();
    loop.elaborate();
    const auto inputs = is_gdb ? gdb_packets() : control_lines(board.methods());
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        const auto text = inputs.make(random);
        if (text.find("quit") != text.npos || (is_gdb && text.find('k') != text.npos)) return;
        {
            test::raw_peer peer(folder / (is_gdb ? "gdb.sock" : "control.sock"));
            if (!is_gdb && random.below(8) != 0) peer.send_bytes(hello.data(), hello.size());
            peer.send_bytes(text.data(), text.size());
            serve(loop);
        }
        serve(loop);
        loop.resume();
        test::raw_peer next(folder / "control.sock");
        next.send_bytes(hello.data(), hello.size());
        serve(loop);
        char answer[256] = {};
        if (recv(next.fd(), answer, sizeof answer - 1, MSG_DONTWAIT) <= 0) std::abort();
        if (std::string_view(answer).find("\"result\"") == std::string_view::npos) std::abort();
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
