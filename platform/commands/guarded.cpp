// SPDX-License-Identifier: Apache-2.0
#include "platform/commands/guarded.h"

#include <fmt/format.h>

#include <cstdio>

#include "platform/attach/listen/listener.h"
#include "platform/config/diagnostics.h"
#include "platform/loader/elf.h"
#include "platform/recording/log/event.h"

namespace trn {

namespace {

int said(const std::exception& mistake) {
    fmt::print(stderr, "trnvp: {}\n", mistake.what());
    return 2;
}

}  // namespace

int guarded(const std::function<int()>& command) {
    try {
        return command();
    } catch (const config_error& mistakes) {  // has its own places
        fmt::print(stderr, "{}\n", mistakes.what());
        return 2;
    } catch (const user_error& mistake) {
        return said(mistake);
    } catch (const listen_error& mistake) {
        return said(mistake);
    } catch (const recording::recording_error& mistake) {
        return said(mistake);
    } catch (const elf_error& mistake) {
        return said(mistake);
    }
}

}  // namespace trn
