/* Plugins, the controllers they define, their names and ids, the default; settings files. */
#ifndef WINDLASS_MSQUIC_HOST_H
#define WINDLASS_MSQUIC_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "windlass_msquic.h"

enum { WM_ERROR_SIZE = 1024, WM_MAX_PATH = 4096, WM_MAX_FILE = 1 << 20 };

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

/* Whether WINDLASS_LOG is 1: a line on standard error for each flow. */
bool WmLogs(void);

/* The plugin that receives trace events at the moment; NULL: none. */
const windlass_msquic_plugin *WmTracer(void);

/* Writes the line to standard error, after "windlass: " and without control characters. */
void WmWarn(const char *Format, ...) __attribute__((format(printf, 1, 2)));

/* The variable of the environment; NULL, with a warning, in a program that has rights its user lacks. */
const char *WmEnvironment(const char *Name);

/* Whether `Path` is a regular file that only root and the effective user of the process can change:
 * the file, each directory and each link on the way to it belongs to one of the two, and is not writable by
 * every user (directories with the sticky bit may be). false: `Reason` says what is wrong. */
bool WmTrust(const char *Path, char *Reason, size_t Size);

/* A settings file, read line by line; lines are split into sections but not parsed. */
typedef struct WmFile {
    FILE *Stream;
    unsigned Number;  /* of the line, from 1 */
    bool InSection;   /* below the first header */
    bool InSettings;  /* in the section [msquic] */
    const char *Text; /* the line from its first character that is no space */
    char *Line;       /* of any length */
    size_t Room;
    char Error[WM_ERROR_SIZE]; /* why the file could not be opened or read to its end; empty: it was */
} WmFile;

/* false: the file cannot be opened, or is not to be trusted; `Error` has the reason. */
bool WmFileOpen(WmFile *File, const char *Path);

/* Reads the next line that is neither blank nor a comment nor a header; false at the end, and after an
 * error. */
bool WmFileNext(WmFile *File);

void WmFileClose(WmFile *File);

#endif
