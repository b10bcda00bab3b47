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
    uint32_t Mtu;
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

static void Decide(const Flow *This, windlass_decision *Decision)
{
    Decision->cwnd = (uint64_t)This->Window * This->Mtu;
}

static void *Start(void *Definition, const windlass_msquic_path *Path, windlass_decision *Decision, char *Error,
                   size_t Size)
{
    (void)Error;
    (void)Size;
    Flow *New = calloc(1, sizeof(*New));
    New->Window = *(uint32_t *)Definition;
    New->Mtu = Path->path.mtu;
    *Decision = (windlass_decision){.ssthresh = UINT64_MAX};
    Decide(New, Decision);
    return New;
}

static void Stop(void *Flow)
{
    free(Flow);
}

static void OnSent(void *Of, const windlass_sent *Event, windlass_decision *Decision)
{
    (void)Event;
    Decide(Of, Decision);
}

static void OnRtt(void *Of, uint64_t NowNs, const windlass_rtt *Rtt)
{
    (void)Of;
    (void)NowNs;
    (void)Rtt;
}

static void OnAcked(void *Of, const windlass_acked *Event, windlass_decision *Decision)
{
    (void)Event;
    Decide(Of, Decision);
#ifdef END_AFTER
    if (++((Flow *)Of)->Acknowledgements == END_AFTER) {
        Decision->flags |= WINDLASS_ENDED;
    }
#endif
}

static void OnEcnCe(void *Of, uint64_t NowNs, uint32_t Packets, uint64_t NewestSentNs, uint64_t NewestNumber,
                    uint64_t InFlight, windlass_decision *Decision)
{
    (void)NowNs;
    (void)Packets;
    (void)NewestSentNs;
    (void)NewestNumber;
    (void)InFlight;
    Decide(Of, Decision);
}

static void OnLost(void *Of, const windlass_lost *Event, windlass_decision *Decision)
{
    (void)Event;
    Decide(Of, Decision);
}

static void OnSpuriousLoss(void *Of, uint64_t NowNs, uint64_t NewestSentNs, windlass_decision *Decision)
{
    (void)NowNs;
    (void)NewestSentNs;
    Decide(Of, Decision);
}

static void OnDiscarded(void *Of, uint64_t NowNs, uint64_t InFlight, windlass_decision *Decision)
{
    (void)NowNs;
    (void)InFlight;
    Decide(Of, Decision);
}

static void OnMtu(void *Of, uint64_t NowNs, uint32_t Mtu, windlass_decision *Decision)
{
    (void)NowNs;
    ((Flow *)Of)->Mtu = Mtu;
    Decide(Of, Decision);
}

static void Refresh(void *Of, windlass_decision *Decision)
{
    (void)Of;
    (void)Decision;
}

static const windlass_msquic_plugin Plugin = {
    .abi = WINDLASS_MSQUIC_ABI,
    .size = sizeof(Plugin),
    .name = "attack",
    .define = Define,
    .start = Start,
    .stop = Stop,
    .on_sent = OnSent,
    .on_rtt = OnRtt,
    .on_acked = OnAcked,
    .on_ecn_ce = OnEcnCe,
    .on_lost = OnLost,
    .on_spurious_loss = OnSpuriousLoss,
    .on_discarded = OnDiscarded,
    .on_mtu = OnMtu,
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
