/* Settings files, whom their content is taken from, and the environment that names them. Independent of
 * MsQuic. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

enum { WM_MAX_LINKS = 40 };

void WmWarn(const char *Format, ...)
{
    char Line[WM_ERROR_SIZE + 256];
    va_list Arguments;
    va_start(Arguments, Format);
    vsnprintf(Line, sizeof(Line), Format, Arguments);
    va_end(Arguments);
    /* Names and lines of files reach the terminal this way, escape sequences in them do not. */
    for (char *At = Line; *At != 0; ++At) {
        if (((unsigned char)*At < ' ' && *At != '\n' && *At != '\t') || *At == 0x7f) {
            *At = '?';
        }
    }
    /* Several mistakes are a line each. */
    for (const char *At = Line; At != NULL;) {
        const char *End = strchr(At, '\n');
        fprintf(stderr, "windlass: %.*s\n", (int)(End != NULL ? (size_t)(End - At) : strlen(At)), At);
        At = End != NULL ? End + 1 : NULL;
    }
}

const char *WmEnvironment(const char *Name)
{
    const char *Value = secure_getenv(Name);
    const char *Ignored = getenv(Name);
    if (Value == NULL && Ignored != NULL && *Ignored != 0) {
        WmWarn("%s is ignored: this program has rights that its user lacks (set-uid, set-gid or capabilities of its "
               "file)",
               Name);
    }
    return Value;
}

/* Whether the owner and the permissions of `Path` leave it to root and this process' user (and a group of
 * theirs) to change it. */
static bool WmCheckOwner(const char *Path, const struct stat *Status, char *Reason, size_t Size)
{
    if (Status->st_uid != 0 && Status->st_uid != geteuid()) {
        snprintf(Reason, Size, "%s belongs to user %u; expected root or user %u", Path, (unsigned)Status->st_uid,
                 (unsigned)geteuid());
        return false;
    }
    /* In a directory with the sticky bit only a file's owner renames or removes it. */
    const bool Protected = S_ISLNK(Status->st_mode) || (S_ISDIR(Status->st_mode) && (Status->st_mode & S_ISVTX) != 0);
    if ((Status->st_mode & S_IWOTH) != 0 && !Protected) {
        snprintf(Reason, Size, "every user can write to %s; expected its owner or group alone (chmod o-w)", Path);
        return false;
    }
    return true;
}

bool WmTrust(const char *Path, char *Reason, size_t Size)
{
    char Full[2 * WM_MAX_PATH] = "";
    struct stat Status;
    size_t Length = 0;
    if (*Path != '/' && getcwd(Full, WM_MAX_PATH) == NULL) {
        snprintf(Reason, Size, "the working directory: %s", strerror(errno));
        return false;
    }
    Length = strlen(Full);
    if (Length + strlen(Path) + 2 > sizeof(Full)) {
        snprintf(Reason, Size, "%s", strerror(ENAMETOOLONG));
        return false;
    }
    snprintf(Full + Length, sizeof(Full) - Length, "%s%s", *Path == '/' ? "" : "/", Path);
    /* From the root on: each directory, each link, the file. */
    int Links = 0;
    for (size_t End = 1;;) {
        const char Rest = Full[End];
        Full[End] = 0;
        if (lstat(Full, &Status) != 0) {
            snprintf(Reason, Size, "%s", strerror(errno));
            return false;
        }
        if (!WmCheckOwner(Full, &Status, Reason, Size)) {
            return false;
        }
        if (S_ISLNK(Status.st_mode)) {
            /* The link's target takes its place. */
            char Target[WM_MAX_PATH], Whole[sizeof(Full)];
            const ssize_t Bytes = readlink(Full, Target, sizeof(Target) - 1);
            Full[End] = Rest;
            if (Bytes < 0 || ++Links > WM_MAX_LINKS) {
                snprintf(Reason, Size, "%s", strerror(Bytes < 0 ? errno : ELOOP));
                return false;
            }
            Target[Bytes] = 0;
            size_t Directory = End;
            while (Full[Directory - 1] != '/') {
                --Directory;
            }
            const int Written = snprintf(Whole, sizeof(Whole), "%.*s%s%s", *Target == '/' ? 0 : (int)Directory, Full,
                                         Target, Full + End);
            if (Written < 0 || (size_t)Written >= sizeof(Whole)) {
                snprintf(Reason, Size, "%s", strerror(ENAMETOOLONG));
                return false;
            }
            memcpy(Full, Whole, (size_t)Written + 1);
            End = 1;
            continue;
        }
        Full[End] = Rest;
        if (Full[End] == 0) {
            break;
        }
        End += strspn(Full + End, "/");
        End += strcspn(Full + End, "/");
    }
    if (!S_ISREG(Status.st_mode)) {
        snprintf(Reason, Size, "it is no regular file");
        return false;
    }
    return true;
}

bool WmFileOpen(WmFile *File, const char *Path)
{
    struct stat Status;
    memset(File, 0, sizeof(*File));
    if (!WmTrust(Path, File->Error, sizeof(File->Error))) {
        return false;
    }
    File->Stream = fopen(Path, "re");
    if (File->Stream == NULL || fstat(fileno(File->Stream), &Status) != 0) {
        snprintf(File->Error, sizeof(File->Error), "%s", strerror(errno));
    } else if (Status.st_size > WM_MAX_FILE) {
        snprintf(File->Error, sizeof(File->Error), "it has %lld bytes; expected at most %d", (long long)Status.st_size,
                 WM_MAX_FILE);
    } else {
        return true;
    }
    WmFileClose(File);
    return false;
}

void WmFileClose(WmFile *File)
{
    if (File->Stream != NULL) {
        fclose(File->Stream);
        File->Stream = NULL;
    }
    free(File->Line);
    File->Line = NULL;
}

static bool WmIsSettingsHeader(const char *Text)
{
    static const char Name[] = "msquic";
    Text += 1 + strspn(Text + 1, " \t");
    const size_t Length = sizeof(Name) - 1;
    return strncmp(Text, Name, Length) == 0 && Text[Length + strspn(Text + Length, " \t")] == ']';
}

bool WmFileNext(WmFile *File)
{
    ssize_t Length;
    while ((Length = getline(&File->Line, &File->Room, File->Stream)) >= 0) {
        ++File->Number;
        if (strlen(File->Line) != (size_t)Length) {
            snprintf(File->Error, sizeof(File->Error), "line %u contains NUL; expected a text without", File->Number);
            return false;
        }
        File->Line[strcspn(File->Line, "\r\n")] = 0;
        File->Text = File->Line + strspn(File->Line, " \t");
        if (*File->Text == '[') {
            File->InSection = true;
            File->InSettings = WmIsSettingsHeader(File->Text);
        } else if (*File->Text != 0 && *File->Text != '#') {
            return true;
        }
    }
    if (!feof(File->Stream)) {
        snprintf(File->Error, sizeof(File->Error), "%s", strerror(errno));
    }
    return false;
}
