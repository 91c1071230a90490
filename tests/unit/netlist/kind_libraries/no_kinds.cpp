// SPDX-License-Identifier: Apache-2.0
// A library without TRNVP_KINDS.
extern "C" int function_of_a_library();
int function_of_a_library() {
    return 1;
}
