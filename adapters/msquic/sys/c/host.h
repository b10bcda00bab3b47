/* Plugins, the controllers they define, their names and ids, the default; settings files. */
#ifndef WINDLASS_MSQUIC_HOST_H
#define WINDLASS_MSQUIC_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "windlass_msquic.h"

enum { WM_ERROR_SIZE = 1024, WM_MAX_LINE = 4096 };

/* A definition of a plugin. Entries are never freed. */
typedef struct WmEntry {
    const windlass_msquic_plugin *Plugin;
    void *Definition;
    const char *Text; /* the controller as the user types it, or the path of the settings file */
    uint16_t Id;
    uint32_t Refused; /* connections the plugin refused; atomic */
} WmEntry;

/* The entry with an id of QUIC_SETTINGS.CongestionControlAlgorithm; NULL: none. */
WmEntry *WmById(uint16_t Id);

/* The entry for connections that select no controller; NULL: MsQuic's own default. */
WmEntry *WmDefault(void);

/* The plugin that receives trace events at the moment; NULL: none. */
const windlass_msquic_plugin *WmTracer(void);

/* Writes the line to standard error, after "windlass: ". */
void WmWarn(const char *Format, ...) __attribute__((format(printf, 1, 2)));

/* A settings file, read line by line; lines are split into sections but not parsed. */
typedef struct WmFile {
    FILE *Stream;
    unsigned Number;  /* of the line, from 1 */
    bool InSection;   /* below the first header */
    bool InSettings;  /* in the section [msquic] */
    const char *Text; /* the line from its first character that is no space */
    char Line[WM_MAX_LINE];
} WmFile;

/* false: the file cannot be opened; errno has the reason. */
bool WmFileOpen(WmFile *File, const char *Path);

/* Reads the next line that is neither blank nor a comment nor a header; false at the end. */
bool WmFileNext(WmFile *File);

void WmFileClose(WmFile *File);

#endif
