/* The lines of a settings file. */
#ifndef WINDLASS_MSQUIC_FILE_H
#define WINDLASS_MSQUIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

enum { WM_MAX_LINE = 4096 };

typedef struct WmFile {
    FILE *Stream;
    unsigned Number;       /* of the line, from 1 */
    bool InSection;        /* below the first header */
    bool IsKeys;           /* in the section [msquic] */
    const char *Text;      /* the line from its first character that is no space */
    char Line[WM_MAX_LINE];
} WmFile;

/* Opens the file at Path; errno tells why not. */
bool WmFileOpen(WmFile *File, const char *Path);

/* Goes to the next line that is neither blank nor a comment nor a header; false at the end. */
bool WmFileNext(WmFile *File);

void WmFileClose(WmFile *File);

#endif
