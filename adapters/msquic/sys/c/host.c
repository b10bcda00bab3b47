/* Plugins, the controllers they define, the default, and the environment. Independent of MsQuic. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

enum { WM_MAX_PLUGINS = 16, WM_MAX_ENTRIES = 1024 };

/* Held while the variables below are written. Readers without it read WmEntryCount first. Never held while
 * code of a plugin runs, its constructors included, which may call any function of this file. */
static pthread_mutex_t WmLock = PTHREAD_MUTEX_INITIALIZER;
static const windlass_msquic_plugin *WmPlugins[WM_MAX_PLUGINS];
static uint32_t WmPluginCount;
static WmEntry WmEntries[WM_MAX_ENTRIES];
static uint32_t WmEntryCount;
static WmEntry *WmDefaultEntry;
static bool WmDefaultSet; /* by code, which takes precedence over the environment */
static const windlass_msquic_plugin *WmFirstTracer;
static pthread_once_t WmOnce = PTHREAD_ONCE_INIT;
static _Thread_local char WmError[WM_ERROR_SIZE];
static _Thread_local bool WmReading; /* this thread reads the environment */
static bool WmLogging; /* written while the environment is read */

static const char WmPluginFile[] = "libwindlass_msquic.so";

__attribute__((format(printf, 1, 2))) static int WmFail(const char *Format, ...)
{
    va_list Arguments;
    va_start(Arguments, Format);
    vsnprintf(WmError, sizeof(WmError), Format, Arguments);
    va_end(Arguments);
    return -1;
}

/* FNV-1a folded to 14 bits, so that the id depends on the text alone. */
static uint16_t WmIdOf(const char *Text)
{
    uint32_t Hash = 2166136261u;
    for (; *Text != 0; ++Text) {
        Hash = (Hash ^ (uint8_t)*Text) * 16777619u;
    }
    return (uint16_t)(WINDLASS_MSQUIC_FIRST_ID | ((Hash ^ (Hash >> 14) ^ (Hash >> 28)) & 0x3fffu));
}

WmEntry *WmById(uint16_t Id)
{
    const uint32_t Count = __atomic_load_n(&WmEntryCount, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < Count; ++i) {
        if (WmEntries[i].Id == Id) {
            return &WmEntries[i];
        }
    }
    return NULL;
}

/* The entry of `Text` in `*Entry`, NULL if there is none yet. false: there is no room for another, or its id is
 * taken. WmLock is held. */
static bool WmLookUp(const char *Text, uint16_t Id, bool IsFile, WmEntry **Entry)
{
    *Entry = NULL;
    for (uint32_t i = 0; !IsFile && i < WmEntryCount; ++i) {
        if (WmEntries[i].Id != Id) {
            continue;
        }
        if (strcmp(WmEntries[i].Text, Text) == 0) {
            *Entry = &WmEntries[i];
            return true;
        }
        WmFail("%s: its id 0x%04x is that of %s; change the spelling of one, as in the order of its "
               "parameters",
               Text, Id, WmEntries[i].Text);
        return false;
    }
    if (WmEntryCount == WM_MAX_ENTRIES) {
        WmFail("%s: %d controllers are registered already, which is all there is room for", Text,
               WM_MAX_ENTRIES);
        return false;
    }
    return true;
}

/* Adds the entry of a new definition, unless another thread defined the same meanwhile. */
static WmEntry *WmAddEntry(const windlass_msquic_plugin *Plugin, void *Definition, const char *Text, bool IsFile)
{
    const uint16_t Id = IsFile ? 0 : WmIdOf(Text); /* settings files have no id */
    WmEntry *Entry;
    char *Copy = strdup(Text);
    if (Copy == NULL) {
        WmFail("%s: out of memory", Text);
        return NULL;
    }
    pthread_mutex_lock(&WmLock);
    if (WmLookUp(Text, Id, IsFile, &Entry) && Entry == NULL) {
        Entry = &WmEntries[WmEntryCount];
        *Entry = (WmEntry){Plugin, Definition, Copy, Id, 0};
        Copy = NULL;
        __atomic_store_n(&WmEntryCount, WmEntryCount + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&WmLock);
    free(Copy);
    return Entry;
}

/* The entry of `Text`, defined by the first plugin that can; NULL after an error. */
static WmEntry *WmDefine(const char *Text, bool IsFile)
{
    const windlass_msquic_plugin *Plugins[WM_MAX_PLUGINS];
    WmEntry *Entry;
    pthread_mutex_lock(&WmLock);
    const uint32_t Count = WmPluginCount;
    memcpy(Plugins, WmPlugins, sizeof(Plugins));
    const bool Free = WmLookUp(Text, IsFile ? 0 : WmIdOf(Text), IsFile, &Entry);
    pthread_mutex_unlock(&WmLock);
    if (!Free || Entry != NULL) {
        return Entry;
    }
    if (Count == 0) {
        WmFail("%s: no plugin is loaded; name one in MSQUIC_CC_PLUGIN, or put %s beside libmsquic", Text,
               WmPluginFile);
    }
    for (uint32_t i = 0; i < Count; ++i) {
        void *(*Make)(const char *, char *, size_t) = IsFile ? Plugins[i]->configure : Plugins[i]->define;
        char Error[WM_ERROR_SIZE] = "it cannot read settings files";
        void *Definition = Make != NULL ? Make(Text, Error, sizeof(Error)) : NULL;
        if (Definition != NULL) {
            return WmAddEntry(Plugins[i], Definition, Text, IsFile);
        }
        WmFail("%s", Error);
    }
    return NULL;
}

/* WmLock is held. */
static int WmAddChecked(const windlass_msquic_plugin *Plugin, const char *Where)
{
    for (uint32_t i = 0; i < WmPluginCount; ++i) {
        if (WmPlugins[i] == Plugin) {
            return 0;
        }
    }
    if (WmPluginCount == WM_MAX_PLUGINS) {
        return WmFail("%s: %d plugins are loaded already, which is all there is room for", Where,
                      WM_MAX_PLUGINS);
    }
    WmPlugins[WmPluginCount++] = Plugin;
    if (WmFirstTracer == NULL && Plugin->trace != NULL && Plugin->tracing != NULL) {
        __atomic_store_n(&WmFirstTracer, Plugin, __ATOMIC_RELEASE);
    }
    return 0;
}

static int WmAddPlugin(const windlass_msquic_plugin *Plugin, const char *Where)
{
    if (Plugin == NULL) {
        return WmFail("%s: it offers no plugin", Where);
    }
    if (Plugin->abi != WINDLASS_MSQUIC_ABI || Plugin->size != sizeof(*Plugin)) {
        return WmFail("%s: it is made for version %u of the interface with a table of %u bytes; expected "
                      "version %u with %zu bytes",
                      Where, Plugin->abi, Plugin->size, WINDLASS_MSQUIC_ABI, sizeof(*Plugin));
    }
    if (Plugin->define == NULL || Plugin->start == NULL || Plugin->stop == NULL || Plugin->on_sent == NULL ||
        Plugin->on_rtt == NULL || Plugin->on_acked == NULL || Plugin->on_ecn_ce == NULL || Plugin->on_lost == NULL ||
        Plugin->on_spurious_loss == NULL || Plugin->on_discarded == NULL || Plugin->on_mtu == NULL ||
        Plugin->refresh == NULL) {
        return WmFail("%s: a function of its table is NULL; only configure and trace may be", Where);
    }
    pthread_mutex_lock(&WmLock);
    const int Result = WmAddChecked(Plugin, Where);
    pthread_mutex_unlock(&WmLock);
    return Result;
}

const windlass_msquic_plugin *WmTracer(void)
{
    const windlass_msquic_plugin *Plugin = __atomic_load_n(&WmFirstTracer, __ATOMIC_ACQUIRE);
    return Plugin != NULL && __atomic_load_n(Plugin->tracing, __ATOMIC_RELAXED) != 0 ? Plugin : NULL;
}

static int WmLoad(const char *Path)
{
    char Reason[WM_ERROR_SIZE];
    /* A name without a directory is looked for where the loader looks, as for libraries of the program. */
    if (strchr(Path, '/') != NULL && !WmTrust(Path, Reason, sizeof(Reason))) {
        return WmFail("the plugin %s is not loaded: %s", Path, Reason);
    }
    void *Library = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
    if (Library == NULL) {
        return WmFail("%s", dlerror());
    }
    windlass_msquic_plugin_entry Entry;
    *(void **)&Entry = dlsym(Library, "windlass_msquic_plugin_v1");
    if (Entry == NULL) {
        dlclose(Library);
        return WmFail("%s: it exports no windlass_msquic_plugin_v1; expected a plugin for version %u of the "
                      "interface",
                      Path, WINDLASS_MSQUIC_ABI);
    }
    /* Never closed: the plugin's code may run until the process ends. */
    return WmAddPlugin(Entry(), Path);
}

/* Loads the plugin beside this library, or where the loader finds it. */
static int WmLoadBeside(void)
{
    Dl_info Info;
    char Path[WM_MAX_PATH];
    if (dladdr(&WmOnce, &Info) != 0 && Info.dli_fname != NULL) {
        const char *Slash = strrchr(Info.dli_fname, '/');
        const int Length = Slash != NULL ? (int)(Slash - Info.dli_fname) + 1 : 0;
        snprintf(Path, sizeof(Path), "%.*s%s", Length, Info.dli_fname, WmPluginFile);
        if (access(Path, R_OK) == 0) {
            return WmLoad(Path);
        }
    }
    return WmLoad(WmPluginFile);
}

/* Scans a settings file for this library: writes the value of a line `plugin = "…"` before the first
 * section to `Plugin`, empty without one, and whether other lines are for the plugin to `HasRules`. */
static int WmScanFile(const char *Path, char *Plugin, size_t Size, bool *HasRules)
{
    WmFile File;
    Plugin[0] = 0;
    *HasRules = false;
    if (!WmFileOpen(&File, Path)) {
        return WmFail("cannot read the configuration %s: %s", Path, File.Error);
    }
    int Result = 0;
    while (Result == 0 && WmFileNext(&File)) {
        const bool IsPlugin = !File.InSection && strncmp(File.Text, "plugin", 6) == 0 &&
                              strchr(" \t=", File.Text[6]) != NULL;
        *HasRules = *HasRules || !(IsPlugin || File.InSettings);
        if (!IsPlugin) {
            continue;
        }
        const char *At = File.Text + 6 + strspn(File.Text + 6, " \t");
        At += *At == '=';
        At += strspn(At, " \t");
        const char *Last = *At == '"' || *At == '\'' ? strchr(At + 1, *At) : NULL;
        if (Last == NULL || (size_t)(Last - At) > Size) {
            Result = WmFail("%s:%u:1: \"%s\" names no plugin; expected plugin = \"/path/of/%s\"", Path, File.Number,
                            File.Line, WmPluginFile);
        } else {
            memcpy(Plugin, At + 1, (size_t)(Last - At) - 1);
            Plugin[Last - At - 1] = 0;
        }
    }
    if (Result == 0 && File.Error[0] != 0) {
        Result = WmFail("cannot read the configuration %s: %s", Path, File.Error);
    }
    WmFileClose(&File);
    return Result;
}

static bool WmIsSet(const char *Value)
{
    return Value != NULL && *Value != 0;
}

static bool WmHasPlugin(void)
{
    pthread_mutex_lock(&WmLock);
    const bool Has = WmPluginCount != 0;
    pthread_mutex_unlock(&WmLock);
    return Has;
}

/* `ByCode`: a function of this file is called, not the environment read. */
static void WmStoreDefault(WmEntry *Entry, bool ByCode)
{
    pthread_mutex_lock(&WmLock);
    if (ByCode || !WmDefaultSet) {
        __atomic_store_n(&WmDefaultEntry, Entry, __ATOMIC_RELEASE);
    }
    WmDefaultSet = WmDefaultSet || ByCode;
    pthread_mutex_unlock(&WmLock);
}

static int WmFromEnvironment(const char *Path, const char *Name, const char *File, const char *Packets)
{
    char Value[WM_MAX_PATH] = "";
    if (WmIsSet(File)) {
        bool HasRules;
        if (WmScanFile(File, Value, sizeof(Value), &HasRules) != 0) {
            return -1;
        }
        Path = WmIsSet(Path) ? Path : Value;
        File = HasRules ? File : NULL;
    }
    if (WmIsSet(Path)) {
        if (WmLoad(Path) != 0) {
            return -1;
        }
    } else if (!WmHasPlugin() && (WmIsSet(Name) || WmIsSet(File) || WmIsSet(Packets)) && WmLoadBeside() != 0) {
        return -1;
    }
    WmEntry *Entry = NULL;
    if (WmIsSet(File) && (Entry = WmDefine(File, true)) == NULL) {
        return -1;
    }
    /* A name takes precedence over a file. */
    if (WmIsSet(Name) && (Entry = WmDefine(Name, false)) == NULL) {
        return -1;
    }
    WmStoreDefault(Entry, false);
    return 0;
}

static void WmReadEnvironment(void)
{
    const char *Path = WmEnvironment("MSQUIC_CC_PLUGIN");
    const char *Name = WmEnvironment("MSQUIC_CC");
    const char *File = WmEnvironment("MSQUIC_CONFIG");
    /* The plugin itself reads the directory; it only has to be loaded. */
    const char *Packets = WmEnvironment("MSQUIC_QLOG");
    const char *Log = WmEnvironment("WINDLASS_LOG");
    WmLogging = Log != NULL && strcmp(Log, "1") == 0;
#if !WINDLASS_PACKETS
    if (WmIsSet(Packets)) {
        WmWarn("MSQUIC_QLOG is %s, but this MsQuic was built without packet-qlog; no packets are logged", Packets);
        Packets = NULL;
    }
#endif
    WmReading = true;
    if (WmFromEnvironment(Path, Name, File, Packets) != 0) {
        WmWarn("%s; connections keep MsQuic's own congestion control", WmError);
    }
    WmReading = false;
    if (WmLogging) {
        const WmEntry *Entry = __atomic_load_n(&WmDefaultEntry, __ATOMIC_ACQUIRE);
        WmWarn("MsQuic with windlass' adapter is loaded; connections that select no controller have %s%s",
               Entry != NULL ? Entry->Text : "MsQuic's own", Entry != NULL ? ", and a line each" : "");
    }
}

bool WmLogs(void)
{
    return WmLogging;
}

WmEntry *WmDefault(void)
{
    /* Plugins that the environment names may call this while they are loaded. */
    if (!WmReading) {
        pthread_once(&WmOnce, WmReadEnvironment);
    }
    return __atomic_load_n(&WmDefaultEntry, __ATOMIC_ACQUIRE);
}

int windlass_msquic_add_plugin(const windlass_msquic_plugin *Plugin)
{
    /* Before the environment is read, which may name a controller of this plugin. */
    return WmAddPlugin(Plugin, Plugin != NULL && Plugin->name != NULL ? Plugin->name : "plugin");
}

int windlass_msquic_load(const char *Path)
{
    return WmIsSet(Path) ? WmLoad(Path) : WmFail("no path of a plugin was given");
}

int windlass_msquic_register(const char *Controller, uint16_t *Id)
{
    if (!WmIsSet(Controller)) {
        return WmFail("no controller was given");
    }
    WmDefault();
    const WmEntry *Entry = WmDefine(Controller, false);
    if (Entry != NULL && Id != NULL) {
        *Id = Entry->Id;
    }
    return Entry != NULL ? 0 : -1;
}

static int WmSetDefault(const char *Text, bool IsFile)
{
    WmDefault();
    WmEntry *Entry = Text != NULL ? WmDefine(Text, IsFile) : NULL;
    if (Text != NULL && Entry == NULL) {
        return -1;
    }
    WmStoreDefault(Entry, true);
    return 0;
}

int windlass_msquic_set_default(const char *Controller)
{
    return WmSetDefault(Controller, false);
}

int windlass_msquic_configure(const char *Path)
{
    return WmIsSet(Path) ? WmSetDefault(Path, true) : WmFail("no settings file was given");
}

const char *windlass_msquic_error(void)
{
    return WmError;
}
