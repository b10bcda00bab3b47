/* The lines of a settings file, told apart by section. Values are for others to read. */
#include "file.h"

#include <string.h>

bool WmFileOpen(WmFile *File, const char *Path)
{
    memset(File, 0, sizeof(*File));
    File->Stream = fopen(Path, "re");
    return File->Stream != NULL;
}

void WmFileClose(WmFile *File)
{
    fclose(File->Stream);
}

static bool WmIsKeysHeader(const char *Text)
{
    static const char Name[] = "msquic";
    Text += 1 + strspn(Text + 1, " \t");
    const size_t Length = sizeof(Name) - 1;
    return strncmp(Text, Name, Length) == 0 && Text[Length + strspn(Text + Length, " \t")] == ']';
}

bool WmFileNext(WmFile *File)
{
    while (fgets(File->Line, sizeof(File->Line), File->Stream) != NULL) {
        ++File->Number;
        File->Line[strcspn(File->Line, "\r\n")] = 0;
        File->Text = File->Line + strspn(File->Line, " \t");
        if (*File->Text == '[') {
            File->InSection = true;
            File->IsKeys = WmIsKeysHeader(File->Text);
        } else if (*File->Text != 0 && *File->Text != '#') {
            return true;
        }
    }
    return false;
}
