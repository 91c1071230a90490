// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>

namespace trn {

/// Thrown by a model whose board cannot work, e.g. because of what is bound to the model: an error
/// of the user, which platform reports at the module's place (E54). From a process the kernel
/// passes on an sc_report only.
class model_refusal : public std::runtime_error {
public:
    model_refusal(const sc_core::sc_object& module, const std::string& why)
        : std::runtime_error(why), module_(module.name()) {}

    const std::string& module() const { return module_; }

    static constexpr char report_type[] = "/trn/board/refused";
    /// To be called in a process, as an SC_ERROR: by default it ends sc_start() with an sc_report.
    void report() const { SC_REPORT_ERROR(report_type, (module_ + ": " + what()).c_str()); }
    /// nullopt: the report is of another error.
    static std::optional<model_refusal> from(const sc_core::sc_report& report) {
        const std::string_view text = report.get_msg();
        const auto colon = text.find(": ");
        if (std::string_view(report_type) != report.get_msg_type() || colon == text.npos)
            return std::nullopt;
        return model_refusal(std::string(text.substr(0, colon)),
                             std::string(text.substr(colon + 2)));
    }

private:
    model_refusal(std::string module, const std::string& why)
        : std::runtime_error(why), module_(std::move(module)) {}

    std::string module_;
};

}  // namespace trn
