/* As much of MsQuic's headers as storage.c needs; ci/fuzz makes names.h of the settings it names. */
#include <stdbool.h>
#include <stdint.h>

#include "names.h"

typedef unsigned QUIC_STATUS;
enum {
    QUIC_STATUS_SUCCESS,
    QUIC_STATUS_NOT_SUPPORTED,
    QUIC_STATUS_NOT_FOUND,
    QUIC_STATUS_BUFFER_TOO_SMALL,
    QUIC_STATUS_INVALID_PARAMETER
};
typedef struct CXPLAT_STORAGE CXPLAT_STORAGE;
typedef void (*CXPLAT_STORAGE_CHANGE_CALLBACK_HANDLER)(void *);
typedef int CXPLAT_STORAGE_OPEN_FLAGS;
#define UNREFERENCED_PARAMETER(Parameter) (void)(Parameter)
#define CXPLAT_MIN(A, B) ((A) < (B) ? (A) : (B))
