/*
 * The settings reader of the MsQuic drop-in on any bytes at all, without MsQuic, under the address and
 * undefined behaviour sanitizers.
 *
 *   settings_c FILE SECONDS [INPUT…]
 *
 * Reads each input, then mutations of them and of its own seeds for so long. FILE holds the input that
 * is being read, and after a finding the one that led to it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <time.h>

/* The reader's own functions are its file's: the files are part of this one. */
#include "../../adapters/msquic/sys/c/files.c"
#include "../../adapters/msquic/sys/c/host.c"
#include "../../adapters/msquic/sys/c/storage.c"

enum { MAX_INPUT = 16384, MAX_SEEDS = 512 };

static const char *const Plain[] = {
    "controller = \"cubic\"\n",
    "plugin = \"/lib/p.so\"\ncontroller = \"reno\"\n[msquic]\nQUIC_SETTING_MAX_ACK_DELAY = 5\n"
    "QUIC_SETTING_SEND_PACING_DEFAULT = false # off\nQUIC_SETTING_INITIAL_RTT = 0xffffffffffffffff\n[app.a]\n",
    " [ msquic ] \nQUIC_SETTING_ECN_ENABLED=true\r\nQUIC_SETTING_ECN_ENABLED = 18446744073709551616\nx = 1\n",
    "plugin='x\n[msquic\n=\n]\n# plugin = 1\n",
};

static const char *const Tokens[] = {
    "[", "]", "msquic", "[msquic]\n", "\n", "\r\n", "=", " = ", "\"", "'", "#", "plugin", "plugin = \"", "\t",
    "true", "false", "0x", "18446744073709551615", "99999999999999999999", "-1", "\xff", "QUIC_SETTING_MAX_ACK_DELAY = ",
};

typedef struct Input {
    size_t Length;
    char Bytes[MAX_INPUT];
} Input;

static Input Seeds[MAX_SEEDS];
static size_t SeedCount;
static uint64_t Random = 0x9e3779b97f4a7c15u;

static size_t Below(size_t Bound)
{
    Random ^= Random << 13;
    Random ^= Random >> 7;
    Random ^= Random << 17;
    return (size_t)(Random % Bound);
}

static void Insert(Input *Into, size_t At, const char *Bytes, size_t Length)
{
    if (Into->Length + Length > MAX_INPUT) {
        return;
    }
    memmove(Into->Bytes + At + Length, Into->Bytes + At, Into->Length - At);
    memcpy(Into->Bytes + At, Bytes, Length);
    Into->Length += Length;
}

static void Mutate(Input *Changed)
{
    for (size_t Changes = 1 + Below(8); Changes > 0; --Changes) {
        const size_t At = Below(Changed->Length + 1);
        const size_t Length = Below(Changed->Length - At + 1);
        static char Copy[MAX_INPUT];
        switch (Below(6)) {
        case 0:
            memmove(Changed->Bytes + At, Changed->Bytes + At + Length, Changed->Length - At - Length);
            Changed->Length -= Length;
            break;
        case 1:
            if (At < Changed->Length) {
                Changed->Bytes[At] = (char)Below(256);
            }
            break;
        case 2:
            /* Lines longer than any buffer. */
            memcpy(Copy, Changed->Bytes + At, Length);
            for (size_t Times = Below(64); Length > 0 && Times > 0; --Times) {
                Insert(Changed, At, Copy, Length);
            }
            break;
        case 3:
            memset(Copy, 'a' + (int)Below(26), sizeof(Copy));
            Insert(Changed, At, Copy, 4000 + Below(200));
            break;
        default: {
            const char *Token = Tokens[Below(sizeof(Tokens) / sizeof(Tokens[0]))];
            Insert(Changed, At, Token, strlen(Token));
        }
        }
    }
}

static void Write(const char *Path, const Input *Text)
{
    FILE *File = fopen(Path, "wb");
    if (File == NULL || fwrite(Text->Bytes, 1, Text->Length, File) != Text->Length || fclose(File) != 0) {
        perror(Path);
        exit(2);
    }
}

static void Read(const char *Path, const Input *Text)
{
    /* A value as short as can be, so that a sanitizer sees who writes beyond it. */
    char Value[64];
    bool HasRules;
    Write(Path, Text);
    WmScanFile(Path, Value, sizeof(Value), &HasRules);
    free((void *)WmSettingsFile);
    WmSettingsFile = NULL;
    memset(WmSettings, 0, sizeof(WmSettings));
    WmSettingCount = 0;
    WmReadSettings();
    for (size_t i = 0; i < sizeof(WmSettingNames) / sizeof(WmSettingNames[0]); ++i) {
        for (uint32_t Size = 0; Size <= 9; ++Size) {
            uint8_t *Buffer = malloc(Size + (Size == 0));
            uint32_t Length = Size;
            CxPlatStorageReadValue(&WmStorage, WmSettingNames[i], Buffer, &Length);
            free(Buffer);
            if (Length > Size) {
                fputs("a value is longer than its buffer\n", stdout);
                abort();
            }
        }
    }
}

int main(int Count, char **Arguments)
{
    if (Count < 3) {
        fputs("usage: settings_c FILE SECONDS [INPUT...]\n", stdout);
        return 2;
    }
    const char *Path = Arguments[1];
    const time_t End = time(NULL) + strtol(Arguments[2], NULL, 10);
    /* Mistakes are reported there, and there are millions. */
    stderr = fopen("/dev/null", "w");
    setenv("MSQUIC_CONFIG", Path, 1);
    for (size_t i = 0; i < sizeof(Plain) / sizeof(Plain[0]); ++i, ++SeedCount) {
        Insert(&Seeds[SeedCount], 0, Plain[i], strlen(Plain[i]));
    }
    for (int i = 3; i < Count && SeedCount < MAX_SEEDS; ++i, ++SeedCount) {
        FILE *File = fopen(Arguments[i], "rb");
        if (File == NULL) {
            printf("cannot read %s\n", Arguments[i]);
            return 2;
        }
        Seeds[SeedCount].Length = fread(Seeds[SeedCount].Bytes, 1, MAX_INPUT, File);
        fclose(File);
    }
    for (size_t i = 0; i < SeedCount; ++i) {
        Read(Path, &Seeds[i]);
    }
    unsigned long long Inputs = SeedCount;
    while (time(NULL) < End) {
        static Input Changed;
        Changed = Seeds[Below(SeedCount)];
        Mutate(&Changed);
        Read(Path, &Changed);
        ++Inputs;
    }
    printf("%llu inputs\n", Inputs);
    remove(Path);
    return 0;
}
