// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/console_log.h"

#include <algorithm>

#include "platform/framework/kernel/byte_channel.h"

namespace trn {

console_log::console_log() {
    for_each_module<console>([this](const auto& object, console& device) {
        if (dynamic_cast<const byte_channel*>(&object) != nullptr) return;
        const std::string name = object.name();
        auto& output = outputs_[name];
        output.device = &device;
        device.on_output(
            [this, name, &output](std::string_view text) { take(name, output, text); });
    });
}

void console_log::take(const std::string& module, output& output, std::string_view text) {
    output.printed += text.size();
    output.tail += text;
    // Truncates at twice the limit, so that 64 KiB are not moved for each character.
    if (output.tail.size() > 2 * kept) output.tail.erase(0, output.tail.size() - kept);
    for (const auto& listener : listeners_) listener(module, text);
}

const console_log::output* console_log::find(std::string_view module) const {
    const auto found = outputs_.find(module);
    return found == outputs_.end() ? nullptr : &found->second;
}

std::size_t console_log::type(std::string_view module, std::string_view text) {
    const auto taken = find(module)->device->type(text);
    if (listener_) listener_(module, text, taken);
    return taken;
}

std::function<bool()> console_log::printed(std::string_view module, std::string text,
                                           std::uint64_t since) const {
    const auto* output = find(module);
    if (!output) return [] { return false; };
    return [output, text = std::move(text), first = since]() mutable {
        if (output->printed < first + text.size()) return false;
        const auto begins = output->printed - output->tail.size();  // stream position of tail[0]
        const auto offset = first > begins ? static_cast<std::size_t>(first - begins) : 0;
        if (output->tail.find(text, offset) != std::string::npos) return true;
        first =
            std::max(first, output->printed - text.size() + 1);  // earlier text has been searched
        return false;
    };
}

}  // namespace trn
