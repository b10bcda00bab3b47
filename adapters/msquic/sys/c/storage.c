/*
 * MsQuic's settings storage on POSIX, where MsQuic 2.5 has none: the section [msquic] of the settings
 * file in MSQUIC_CONFIG, whose keys are those of MsQuic's registry on Windows. It is read once, when
 * the library is first opened. Applications have no storage of their own: MsQuic reads such settings
 * into configurations, but connections take over only the settings that code made.
 *
 * The functions of MsQuic's own file are compiled with the prefix `Native`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "precomp.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* All settings that MsQuic reads as numbers, except MinimumMtu and MaximumMtu, which it overwrites
 * with its limits as soon as a connection has a configuration. */
static const char *const WmSettingNames[] = {
    QUIC_SETTING_MAX_PARTITION_COUNT,
    QUIC_SETTING_RETRY_MEMORY_FRACTION,
    QUIC_SETTING_LOAD_BALANCING_MODE,
    QUIC_SETTING_FIXED_SERVER_ID,
    QUIC_SETTING_MAX_WORKER_QUEUE_DELAY,
    QUIC_SETTING_MAX_STATELESS_OPERATIONS,
    QUIC_SETTING_MAX_BINDING_STATELESS_OPERATIONS,
    QUIC_SETTING_STATELESS_OPERATION_EXPIRATION,
    QUIC_SETTING_MAX_OPERATIONS_PER_DRAIN,
    QUIC_SETTING_SEND_BUFFERING_DEFAULT,
    QUIC_SETTING_SEND_PACING_DEFAULT,
    QUIC_SETTING_MIGRATION_ENABLED,
    QUIC_SETTING_DATAGRAM_RECEIVE_ENABLED,
    QUIC_SETTING_GREASE_QUIC_BIT_ENABLED,
    QUIC_SETTING_ECN_ENABLED,
    QUIC_SETTING_HYSTART_ENABLED,
    QUIC_SETTING_ENCRYPTION_OFFLOAD_ALLOWED,
    QUIC_SETTING_RELIABLE_RESET_ENABLED,
    QUIC_SETTING_XDP_ENABLED,
    QUIC_SETTING_QTIP_ENABLED,
#ifdef QUIC_SETTING_RIO_ENABLED
    QUIC_SETTING_RIO_ENABLED,
#endif
    QUIC_SETTING_ONE_WAY_DELAY_ENABLED,
    QUIC_SETTING_NET_STATS_EVENT_ENABLED,
    QUIC_SETTING_STREAM_MULTI_RECEIVE_ENABLED,
    QUIC_SETTING_INITIAL_WINDOW_PACKETS,
    QUIC_SETTING_SEND_IDLE_TIMEOUT_MS,
    QUIC_SETTING_DEST_CID_UPDATE_IDLE_TIMEOUT_MS,
    QUIC_SETTING_INITIAL_RTT,
    QUIC_SETTING_MAX_ACK_DELAY,
    QUIC_SETTING_DISCONNECT_TIMEOUT,
    QUIC_SETTING_KEEP_ALIVE_INTERVAL,
    QUIC_SETTING_IDLE_TIMEOUT,
    QUIC_SETTING_HANDSHAKE_IDLE_TIMEOUT,
    QUIC_SETTING_MAX_TLS_CLIENT_SEND_BUFFER,
    QUIC_SETTING_MAX_TLS_SERVER_SEND_BUFFER,
    QUIC_SETTING_STREAM_FC_WINDOW_SIZE,
    QUIC_SETTING_STREAM_FC_BIDI_LOCAL_WINDOW_SIZE,
    QUIC_SETTING_STREAM_FC_BIDI_REMOTE_WINDOW_SIZE,
    QUIC_SETTING_STREAM_FC_UNIDI_WINDOW_SIZE,
    QUIC_SETTING_STREAM_RECV_BUFFER_SIZE,
    QUIC_SETTING_CONN_FLOW_CONTROL_WINDOW,
    QUIC_SETTING_MAX_BYTES_PER_KEY_PHASE,
    QUIC_SETTING_SERVER_RESUMPTION_LEVEL,
    QUIC_SETTING_VERSION_NEGOTIATION_EXT_ENABLE,
    QUIC_SETTING_MTU_SEARCH_COMPLETE_TIMEOUT,
    QUIC_SETTING_MTU_MISSING_PROBE_COUNT,
    QUIC_SETTING_CONGESTION_CONTROL_ALGORITHM,
};

enum { WM_MAX_SETTINGS = 256 };

typedef struct WmSetting {
    const char *Name;
    uint64_t Value;
    unsigned Line;
} WmSetting;

/* Written once, by WmReadSettings. */
static WmSetting WmSettings[WM_MAX_SETTINGS];
static uint32_t WmSettingCount;
static const char *WmSettingsFile;
static pthread_once_t WmSettingsOnce = PTHREAD_ONCE_INIT;

struct CXPLAT_STORAGE {
    uint8_t Unused;
};

static CXPLAT_STORAGE WmStorage; /* the only handle */

static void WmReportMistake(const WmFile *File, const char *Mistake, const char *Expected)
{
    WmWarn("%s:%u:%u: %s; expected %s", WmSettingsFile, File->Number, (unsigned)(File->Text - File->Line) + 1, Mistake,
          Expected);
}

/* Parses `Name = number`, `true` or `false`. Reports a mistake and returns false. */
static bool WmReadSetting(const WmFile *File, WmSetting *Setting)
{
    char Mistake[WM_ERROR_SIZE];
    const size_t Length = strcspn(File->Text, " \t=");
    const char *Value = File->Text + Length + strspn(File->Text + Length, " \t");
    snprintf(Mistake, sizeof(Mistake), "%.*s is no setting of MsQuic", (int)Length, File->Text);
    for (size_t i = 0; i < sizeof(WmSettingNames) / sizeof(WmSettingNames[0]); ++i) {
        if (strlen(WmSettingNames[i]) == Length && strncmp(WmSettingNames[i], File->Text, Length) == 0) {
            Setting->Name = WmSettingNames[i];
        }
    }
    if (Setting->Name == NULL) {
        WmReportMistake(File, Mistake, "a value name of its registry key, as MaxAckDelayMs");
        return false;
    }
    char *End = NULL;
    if (*Value == '=') {
        Value += 1 + strspn(Value + 1, " \t");
        errno = 0;
        if (strncmp(Value, "true", 4) == 0 || strncmp(Value, "false", 5) == 0) {
            Setting->Value = *Value == 't';
            End = (char *)Value + (*Value == 't' ? 4 : 5);
        } else if (*Value >= '0' && *Value <= '9' && !(*Value == '0' && Value[1] >= '0' && Value[1] <= '9')) {
            /* TOML has no numbers with a leading zero, which strtoull would take for octal. */
            Setting->Value = strtoull(Value, &End, 0);
        }
    }
    if (End == NULL || errno != 0 || (End[strspn(End, " \t")] != 0 && End[strspn(End, " \t")] != '#')) {
        snprintf(Mistake, sizeof(Mistake), "%s is \"%s\"", Setting->Name, Value);
        WmReportMistake(File, Mistake, "a number, true or false");
        return false;
    }
    Setting->Line = File->Number;
    return true;
}

static void WmReadSettings(void)
{
    WmFile File;
    const char *Path = secure_getenv("MSQUIC_CONFIG");
    /* The search for the controller reports a file that cannot be read, and a variable that is ignored. */
    if (Path == NULL || *Path == 0 || !WmFileOpen(&File, Path)) {
        return;
    }
    WmSettingsFile = strdup(Path);
    if (WmSettingsFile == NULL) {
        WmFileClose(&File);
        return;
    }
    bool Right = true;
    uint32_t Count = 0;
    while (WmFileNext(&File)) {
        if (!File.InSettings) {
            continue;
        }
        if (Count == WM_MAX_SETTINGS) {
            WmReportMistake(&File, "there are too many settings", "at most 256");
            Right = false;
            break;
        }
        if (WmReadSetting(&File, &WmSettings[Count])) {
            ++Count;
        } else {
            WmSettings[Count].Name = NULL;
            Right = false;
        }
    }
    Right = Right && File.Error[0] == 0;
    WmFileClose(&File);
    if (Right) {
        WmSettingCount = Count;
    } else {
        WmWarn("%s: MsQuic keeps its own settings, all of them", WmSettingsFile);
    }
}

QUIC_STATUS CxPlatStorageOpen(const char *Path, CXPLAT_STORAGE_CHANGE_CALLBACK_HANDLER Callback,
                              void *CallbackContext, CXPLAT_STORAGE_OPEN_FLAGS Flags,
                              CXPLAT_STORAGE **NewStorage)
{
    UNREFERENCED_PARAMETER(Callback);
    UNREFERENCED_PARAMETER(CallbackContext);
    UNREFERENCED_PARAMETER(Flags);
    pthread_once(&WmSettingsOnce, WmReadSettings);
    if (Path != NULL || WmSettingCount == 0) {
        return QUIC_STATUS_NOT_SUPPORTED;
    }
    *NewStorage = &WmStorage;
    return QUIC_STATUS_SUCCESS;
}

void CxPlatStorageClose(CXPLAT_STORAGE *Storage)
{
    UNREFERENCED_PARAMETER(Storage);
}

QUIC_STATUS CxPlatStorageReadValue(CXPLAT_STORAGE *Storage, const char *Name, uint8_t *Buffer,
                                   uint32_t *BufferLength)
{
    UNREFERENCED_PARAMETER(Storage);
    const WmSetting *Setting = NULL;
    for (uint32_t i = 0; i < WmSettingCount; ++i) {
        if (strcmp(WmSettings[i].Name, Name) == 0) {
            Setting = &WmSettings[i];
        }
    }
    if (Setting == NULL) {
        return QUIC_STATUS_NOT_FOUND;
    }
    const uint32_t Length = CXPLAT_MIN(*BufferLength, sizeof(Setting->Value));
    if (Buffer == NULL || Length == 0) {
        return QUIC_STATUS_BUFFER_TOO_SMALL;
    }
    if (Length < sizeof(Setting->Value) && Setting->Value >> (8 * Length) != 0) {
        WmWarn("%s:%u:1: %s is %llu; expected at most %llu; MsQuic keeps its own", WmSettingsFile, Setting->Line, Name,
              (unsigned long long)Setting->Value, (1ull << (8 * Length)) - 1);
        return QUIC_STATUS_INVALID_PARAMETER;
    }
    /* MsQuic reads little-endian numbers. */
    for (uint32_t i = 0; i < Length; ++i) {
        Buffer[i] = (uint8_t)(Setting->Value >> (8 * i));
    }
    *BufferLength = Length;
    return QUIC_STATUS_SUCCESS;
}
