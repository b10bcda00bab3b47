/* Which controller a connection gets: plugins, names, ids, the default. */
#ifndef WINDLASS_MSQUIC_HOST_H
#define WINDLASS_MSQUIC_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "windlass_msquic.h"

enum { WM_ERROR_SIZE = 1024 };

/* What a connection's controller is made of. Entries live for ever. */
typedef struct WmEntry {
    const windlass_msquic_plugin *Plugin;
    void *Definition;
    const char *Text; /* what the user typed, or the file */
    uint16_t Id;
    uint32_t Refused; /* connections that could not have it; atomic */
} WmEntry;

/* The entry of an id, or NULL. */
WmEntry *WmById(uint16_t Id);

/* The default, or NULL. */
WmEntry *WmDefault(void);

/* The plugin that wants to be told of packets now, or NULL. */
const windlass_msquic_plugin *WmTracer(void);

/* Writes a line to standard error. */
void WmSay(const char *Format, ...) __attribute__((format(printf, 1, 2)));

#endif
