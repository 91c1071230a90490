/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_DRIVER_ABI_H
#define TRN_DRIVER_ABI_H

/* A program that is compiled with the headers of one version and linked with the libraries of
 * another does not link: this symbol is undefined. Versions that differ in the third number are
 * compatible. */

#ifdef __cplusplus
extern "C" {
#endif

#define TRN_DRIVER_VERSION "0.2"
#define TRN_DRIVER_ABI trn_driver_abi_0_2

extern const char TRN_DRIVER_ABI[]; /**< TRN_DRIVER_VERSION of the library */

#ifdef __GNUC__
__attribute__((used)) static const char* const trn_driver_abi_of_headers = TRN_DRIVER_ABI;
#endif

#ifdef __cplusplus
}
#endif

#endif
