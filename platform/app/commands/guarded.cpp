// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/guarded.h"

#include <fmt/format.h>

#include <boost/system/system_error.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <systemc>

#include "platform/app/recording/log/event.h"
#include "platform/app/report_file.h"
#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

int report_error(std::string_view sentence, int status = 2) {
    print_to(stderr, "trnvp: {}\n", printable_lines(sentence));
    return status;
}

std::string uncaught(std::string_view exception) {
    return fmt::format("error at {}: uncaught exception: {}", sc_core::sc_time_stamp().to_string(),
                       exception);
}

}  // namespace

int guarded(const std::function<int()>& command) {
    try {
        const int status = command();
        finish_standard_output();
        return status;
    } catch (const config_error& mistakes) {  // its text has places of its own
        print_to(stderr, "{}\n", mistakes.what());
        return 2;
    } catch (const user_error& mistake) {
        return report_error(mistake.what());
    } catch (const listen_error& mistake) {
        return report_error(mistake.what());
    } catch (const recording::write_error& lost) {
        return report_error(lost.what(), 1);
    } catch (const recording::recording_error& mistake) {
        return report_error(mistake.what());
    } catch (const elf_error& mistake) {
        return report_error(mistake.what());
    } catch (const file_error& mistake) {
        return report_error(mistake.what());
    } catch (const output_error& lost) {
        return report_error(lost.what(), 1);
    } catch (const boost::system::system_error& refused) {  // not derived from std::system_error
        const std::string_view text = refused.what();
        return report_error(text.substr(0, text.find(" [")),
                            1);                   // omit the line number of Boost's source
    } catch (const std::system_error& refused) {  // out of processes, descriptors or memory
        return report_error(refused.what(), 1);
    } catch (const sc_core::sc_report& ended) {  // of the kernel, or of a model
        return report_error(log::sentence(ended), 1);
    } catch (const std::bad_alloc&) {
        return report_error(out_of_memory, 1);
    } catch (const std::exception& failed) {  // of a block that a client accesses between steps
        return report_error(uncaught(failed.what()), 1);
    } catch (...) {
        return report_error(uncaught("an object of an unknown type"), 1);
    }
}

}  // namespace trn
