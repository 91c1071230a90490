/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_STATUS_H
#define TRN_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Results of calls. */

/** Result of a call. trn_status_text names it, trn_last_error explains the latest failure. */
typedef enum trn_status {
    TRN_OK = 0,
    TRN_INVALID_ARGUMENT = 1, /**< refused before the device was touched */
    TRN_UNKNOWN_DEVICE = 2,   /**< vendor or device id of no supported Trainium chip */
    TRN_NOT_READY = 3,        /**< not probed or not reset, or its engine aborted earlier */
    TRN_TIMED_OUT = 4,        /**< no response within the time that the contract allows */
    TRN_ABORTED = 5,          /**< a DMA engine stopped with an error: see trn_last_failure */
    TRN_REFUSED = 6,          /**< the firmware refused the command or does not know it */
    TRN_PROTOCOL_ERROR = 7,   /**< a response that the contract does not allow */
    TRN_BUSY = 8,             /**< queue full: wait for a job, then retry */
    TRN_NOT_SUPPORTED = 9,    /**< not a feature of this chip or firmware version */
    TRN_NO_MEMORY = 10,       /**< host memory ran out */
    TRN_TRANSPORT_ERROR = 11, /**< the transport failed to make the access */
    TRN_DEVICE_GONE = 12      /**< the function, or the process that models it, ended */
} trn_status;

/** A few words for a status, never NULL. */
const char* trn_status_text(trn_status status);

typedef struct trn_device trn_device;

#ifdef __cplusplus
}
#endif

#endif
