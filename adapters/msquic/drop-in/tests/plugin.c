/*
 * A plugin for drop-in/attack. Its controllers have a window of as many packets as their name says.
 *
 * MARKER       it creates this file when it is loaded
 * CONSTRUCTOR  it adds itself, registers controllers and sets the default while it is loaded
 * END_AFTER    its flows end after so many acknowledgements
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "windlass_msquic.h"

typedef struct Flow {
    uint32_t Window;
    unsigned Acknowledgements;
} Flow;

#ifdef CONSTRUCTOR
/* The program has loaded MsQuic, so that its exports are found. */
static int (*Register(void))(const char *, uint16_t *)
{
    int (*Function)(const char *, uint16_t *);
    *(void **)&Function = dlsym(RTLD_DEFAULT, "windlass_msquic_register");
    return Function;
}
#endif

static void *Define(const char *Name, char *Error, size_t Size)
{
    const long Packets = strtol(Name, NULL, 10);
    if (Packets < 2) {
        snprintf(Error, Size, "%s is no window", Name);
        return NULL;
    }
#ifdef CONSTRUCTOR
    if (Packets < 100) {
        uint16_t Id;
        Register()("100", &Id);
    }
#endif
    uint32_t *Definition = malloc(sizeof(*Definition));
    *Definition = (uint32_t)Packets;
    return Definition;
}

static void *Start(void *Definition, const windlass_msquic_path *Path, windlass_msquic_control *Control, char *Error,
                   size_t Size)
{
    (void)Path;
    (void)Error;
    (void)Size;
    Flow *New = calloc(1, sizeof(*New));
    New->Window = *(uint32_t *)Definition;
    *Control = (windlass_msquic_control){.cwnd = New->Window * Path->mtu, .ssthresh = UINT32_MAX};
    return New;
}

static void Stop(void *Flow)
{
    free(Flow);
}

static void Sent(void *Of, const windlass_msquic_sent *Event, windlass_msquic_control *Control)
{
    Control->cwnd = ((Flow *)Of)->Window * Event->mtu;
}

static void Acked(void *Of, const windlass_msquic_acked *Event, windlass_msquic_control *Control)
{
    Flow *This = Of;
    Control->cwnd = This->Window * Event->mtu;
#ifdef END_AFTER
    if (++This->Acknowledgements == END_AFTER) {
        Control->flags |= WINDLASS_MSQUIC_ENDED;
    }
#endif
}

static void EcnCe(void *Of, const windlass_msquic_ecn_ce *Event, windlass_msquic_control *Control)
{
    Control->cwnd = ((Flow *)Of)->Window * Event->mtu;
}

static void Lost(void *Of, const windlass_msquic_lost *Event, windlass_msquic_control *Control)
{
    Control->cwnd = ((Flow *)Of)->Window * Event->mtu;
}

static void SpuriousLoss(void *Of, const windlass_msquic_spurious_loss *Event, windlass_msquic_control *Control)
{
    Control->cwnd = ((Flow *)Of)->Window * Event->mtu;
}

static void Discarded(void *Of, uint64_t NowUs, uint32_t InFlight, windlass_msquic_control *Control)
{
    (void)Of;
    (void)NowUs;
    (void)InFlight;
    (void)Control;
}

static void Refresh(void *Of, windlass_msquic_control *Control)
{
    (void)Of;
    (void)Control;
}

static const windlass_msquic_plugin Plugin = {
    .abi = WINDLASS_MSQUIC_ABI,
    .size = sizeof(Plugin),
    .name = "attack",
    .define = Define,
    .start = Start,
    .stop = Stop,
    .sent = Sent,
    .acked = Acked,
    .ecn_ce = EcnCe,
    .lost = Lost,
    .spurious_loss = SpuriousLoss,
    .discarded = Discarded,
    .refresh = Refresh,
};

const windlass_msquic_plugin *windlass_msquic_plugin_v1(void);
const windlass_msquic_plugin *windlass_msquic_plugin_v1(void)
{
    return &Plugin;
}

#ifdef MARKER
__attribute__((constructor)) static void Mark(void)
{
    FILE *File = fopen(MARKER, "w");
    if (File != NULL) {
        fclose(File);
    }
}
#endif

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void Construct(void)
{
    int (*Add)(const windlass_msquic_plugin *), (*SetDefault)(const char *);
    uint16_t Id;
    *(void **)&Add = dlsym(RTLD_DEFAULT, "windlass_msquic_add_plugin");
    *(void **)&SetDefault = dlsym(RTLD_DEFAULT, "windlass_msquic_set_default");
    if (Add(&Plugin) != 0 || Register()("30", &Id) != 0 || SetDefault("40") != 0) {
        fputs("the constructor failed\n", stderr);
    }
}
#endif
