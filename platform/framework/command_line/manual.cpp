// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <CLI/CLI.hpp>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "platform/framework/command_line/completion.h"
#include "platform/framework/command_line/version.h"

namespace trn::cli {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Examples of the command itself; CLI11 copies those of the command around it.
std::string footer_of(const CLI::App& app) {
    const auto* around = app.get_parent();
    return around != nullptr && around->get_footer() == app.get_footer() ? "" : app.get_footer();
}

/// Whether the command is in this program: one that is in another program has its name only.
bool is_here(const CLI::App& app) {
    return app.get_options().size() > 1 || !footer_of(app).empty() || !commands_of(app).empty();
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

/// Text as troff source: no requests, and '-' as typed.
std::string troff(std::string_view text) {
    std::string out;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '`')
            out += "\\`";
        else
            out += c;
        line_begins = c == '\n';
    }
    return out;
}

/// "--name", "-n, --name", or the name of a positional.
std::string names_of(const CLI::Option& option) {
    if (option.get_positional()) return "\\fB" + troff(option.get_name(true)) + "\\fR";
    std::string names;
    const auto add = [&names](const std::string& name) {
        names += (names.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
    };
    for (const auto& name : option.get_snames()) add("-" + name);
    for (const auto& name : option.get_lnames()) add("--" + name);
    return names;
}

std::string option_text(const CLI::Option& option) {
    const bool flag = option.get_items_expected_max() == 0;
    std::string text = ".TP\n" + names_of(option);
    if (!flag) text += " \\fI" + troff(option.get_type_name()) + "\\fR";
    text += "\n" + troff(option.get_description());
    std::vector<std::string> notes;
    if (option.get_required()) notes.push_back("Required.");
    if (!option.get_default_str().empty())
        notes.push_back(fmt::format("Default: {}.", option.get_default_str()));
    if (!flag && option.get_items_expected_max() > 1) notes.push_back("May be repeated.");
    if (!option.get_envname().empty())
        notes.push_back(fmt::format("Environment: {}.", option.get_envname()));
    for (const auto& note : notes) text += "\n.br\n" + troff(note);
    return text + "\n";
}

/// A section for each group, positionals first.
std::string options_text(const CLI::App& app, std::string_view request) {
    std::vector<std::string> groups;
    std::string arguments;
    for (const auto* option : app.get_options()) {
        if (option->get_positional())
            arguments += option_text(*option);
        else if (std::ranges::find(groups, option->get_group()) == groups.end())
            groups.push_back(option->get_group());
    }
    std::string text;
    if (!arguments.empty()) text += fmt::format("{} ARGUMENTS\n{}", request, arguments);
    for (const auto& group : groups) {
        text += fmt::format("{} {}\n", request, troff(upper(group)));
        for (const auto* option : app.get_options())
            if (!option->get_positional() && option->get_group() == group)
                text += option_text(*option);
    }
    return text;
}

std::string synopsis(const CLI::App& app, const std::string& words) {
    std::string text = "\\fB" + troff(words) + "\\fR [options]";
    for (const auto* option : app.get_options()) {
        if (!option->get_positional()) continue;
        std::string name = option->get_name(true);
        if (option->get_items_expected_max() > 1) name += "...";
        if (!option->get_required()) name = "[" + name + "]";
        text += " \\fI" + troff(name) + "\\fR";
    }
    if (!commands_of(app).empty()) text += " \\fIcommand\\fR";
    return text + "\n";
}

std::string examples_text(const CLI::App& app, std::string_view request) {
    auto text = footer_of(app);
    constexpr std::string_view title = "Examples:\n";
    if (text.empty()) return {};
    if (text.starts_with(title)) text.erase(0, title.size());
    return fmt::format("{} EXAMPLES\n.nf\n{}\n.fi\n", request, troff(text));
}

/// The commands of a command are sections of its page.
std::string inner_commands(const CLI::App& app, const std::string& words) {
    std::string text;
    for (const auto* command : commands_of(app)) {
        const auto all = words + " " + command->get_name();
        text += fmt::format(".SH {}\n{}\n.PP\n{}", troff(upper(command->get_name())),
                            troff(command->get_description()), synopsis(*command, all));
        text += options_text(*command, ".SS") + examples_text(*command, ".SS");
        text += inner_commands(*command, all);
    }
    return text;
}

std::string heading(const std::string& page, const std::string& about) {
    return fmt::format(".TH {} 1 \"\" \"trnvp {}\" \"trnvp\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                       troff(upper(page)), project_version(), troff(page), troff(about));
}

std::string program_page(const CLI::App& app) {
    const auto name = app.get_name();
    auto text = heading(name, app.get_description()) + synopsis(app, name);
    text += options_text(app, ".SH");
    if (!commands_of(app).empty()) text += ".SH COMMANDS\nEach has a page of its own.\n";
    for (const auto* command : commands_of(app))
        text += fmt::format(".TP\n\\fB{}\\-{}\\fR(1)\n{}\n", troff(name),
                            troff(command->get_name()), troff(command->get_description()));
    return text + examples_text(app, ".SH");
}

std::string command_page(const CLI::App& app, const CLI::App& command) {
    const auto words = app.get_name() + " " + command.get_name();
    auto text = heading(app.get_name() + "-" + command.get_name(), command.get_description());
    text += synopsis(command, words) + options_text(command, ".SH");
    text += examples_text(command, ".SH") + inner_commands(command, words);
    if (command.get_fallthrough())
        text += fmt::format(".SH NOTES\nOptions of \\fB{}\\fR(1) may follow too.\n",
                            troff(app.get_name()));
    return text + fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", troff(app.get_name()));
}

class writer {
public:
    explicit writer(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void write(const std::string& name, const std::string& text) {
        const auto file = folder_ / name;
        std::error_code unused;
        std::filesystem::create_directories(file.parent_path(), unused);
        std::ofstream out(file, std::ios::binary);
        out << text;
        out.close();
        if (!out && error_.empty()) error_ = file.string() + " cannot be written";
    }
    const std::string& error() const { return error_; }

private:
    const std::filesystem::path folder_;
    std::string error_ = {};
};

}  // namespace

std::string write_manuals(const CLI::App& app, const std::filesystem::path& folder) {
    writer out(folder);
    const auto name = app.get_name();
    out.write("man1/" + name + ".1", program_page(app));
    for (const auto* command : commands_of(app))
        if (is_here(*command))
            out.write(fmt::format("man1/{}-{}.1", name, command->get_name()),
                      command_page(app, *command));
    out.write("bash/" + name, completion_script("bash", name));
    out.write("zsh/_" + name, completion_script("zsh", name));
    out.write("fish/" + name + ".fish", completion_script("fish", name));
    return out.error();
}

}  // namespace trn::cli
