// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnctl/profile.h"

#include <memory>

#include "platform/app/trnctl/commands/commands.h"

namespace trn {

void add_profiles(cli::command& app, invocation& line) {
    auto* profiles =
        add_command_group(app, "profile", "where the time of programs of NeuronCores goes");
    profiles->examples(
        {{"trnctl --connect sockets profile start", "records what runs from now on"},
         {"trnctl --connect sockets profile stop --out profile.html", "writes a page of it"}});
    add_command(*profiles, line, "start", "record events from now on",
                [&line](session& s) { start_profile(line.running(s)); })
        ->examples({{"trnctl --connect sockets profile start", "then run programs, and stop"},
                    {"trnctl --connect sockets --chip chip0 profile start", "of one chip"}});
    const auto options = std::make_shared<profile_options>();
    auto* stop = add_command(
        *profiles, line, "stop", "stop, and write the profile of what ran",
        [options, &line](session& s) { write_profile(line.running(s), line.target, *options); });
    stop->add_option("--out", options->out,
                     "a folder, or a file that ends in .html, .json or .perfetto-trace")
        ->required()
        ->allow_extra_args(false);
    stop->examples(
        {{"trnctl --connect sockets profile stop --out profile.html", "of the last execution"},
         {"trnctl --connect sockets profile stop --out profile --execution 1",
          "of the first, into a folder"}});
    stop->add_option("--execution", options->execution, "of several, from 1 (the last)");
}

}  // namespace trn
