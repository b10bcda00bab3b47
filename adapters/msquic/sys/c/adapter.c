/*
 * A congestion control of MsQuic that calls a plugin.
 *
 * Compiled as part of MsQuic's `core`, with its headers. The two functions at the end replace
 * MsQuic's own of the same name, which are compiled with the prefix `Native`.
 *
 * MsQuic initialises congestion control twice per connection, before it knows the path. The
 * plugin's flow therefore starts with the first call that leads to sending.
 */
#include "precomp.h"

#include <arpa/inet.h>

#include "describe.h"
#include "host.h"

void NativeQuicCongestionControlInitialize(QUIC_CONGESTION_CONTROL *Cc,
                                           const QUIC_SETTINGS_INTERNAL *Settings);
void NativeQuicLossDetectionUninitialize(QUIC_LOSS_DETECTION *LossDetection);

enum {
    WM_BURST_DATAGRAMS = 10, /* RFC 9002 section 7.7 */
    WM_SLACK_DATAGRAMS = 3,  /* unused room below which a sender is not application-limited */
    WM_ACKS_PER_WINDOW = 8,
};

/* Sending time the pacer may make up for after a late timer. */
#define WM_PACER_MEMORY_US 4000u

/* Takes the place of the state of MsQuic's own controllers. */
typedef struct WmState {
    WmEntry *Entry;
    void *Flow; /* NULL until WmEnsureFlow */
    windlass_decision Decision;
    uint64_t NewestLostSentNs;
    uint64_t CeCounts[QUIC_ENCRYPT_LEVEL_COUNT];
    double PacingCredit; /* bytes the pacer granted that are not sent yet */
    uint32_t BytesInFlight;
    uint32_t BytesInFlightMax;
    uint32_t Mtu; /* WmMtu of a path with the MTU `PathMtu` */
    uint32_t ReportedMtu; /* what the flow knows */
    uint32_t FlightBefore; /* before the first ACK frame since MsQuic last could send */
    uint16_t PathMtu;
    uint8_t Exemptions;
    BOOLEAN AppLimited;
    BOOLEAN FirstAck; /* the next ACK frame is the first since MsQuic last could send */
} WmState;

CXPLAT_STATIC_ASSERT(sizeof(WmState) <= sizeof(QUIC_CONGESTION_CONTROL_BBR) ||
                         sizeof(WmState) <= sizeof(QUIC_CONGESTION_CONTROL_CUBIC),
                     "WmState fits where MsQuic's controllers have their state");

static BOOLEAN WmCanSend(QUIC_CONGESTION_CONTROL *Cc);
static BOOLEAN WmIsAppLimited(const QUIC_CONGESTION_CONTROL *Cc);

static WmState *WmStateOf(QUIC_CONGESTION_CONTROL *Cc)
{
    return (WmState *)(void *)&Cc->Cubic;
}

static const WmState *WmConstStateOf(const QUIC_CONGESTION_CONTROL *Cc)
{
    return (const WmState *)(const void *)&Cc->Cubic;
}

/* WmMtu, cached: it is needed several times a packet. */
static inline uint32_t WmCachedMtu(WmState *State, const QUIC_CONNECTION *Connection)
{
    if (State->PathMtu != Connection->Paths[0].Mtu) {
        State->PathMtu = Connection->Paths[0].Mtu;
        State->Mtu = WmMtu(Connection);
    }
    return State->Mtu;
}

/* The window as MsQuic has it, in 32 bits. */
static inline uint32_t WmWindow(const WmState *State)
{
    return (uint32_t)CXPLAT_MIN(State->Decision.cwnd, UINT32_MAX);
}

/* Tells the flow of a new size of datagrams, before the event that it goes with. */
static inline void WmReportMtu(WmState *State, const QUIC_CONNECTION *Connection, uint64_t NowNs)
{
    const uint32_t Mtu = WmCachedMtu(State, Connection);
    if (Mtu != State->ReportedMtu) {
        State->ReportedMtu = Mtu;
        State->Entry->Plugin->on_mtu(State->Flow, NowNs, Mtu, &State->Decision);
    }
}

static BOOLEAN WmIsOurs(const QUIC_CONGESTION_CONTROL *Cc)
{
    return Cc->QuicCongestionControlCanSend == WmCanSend;
}

static void WmStop(QUIC_CONGESTION_CONTROL *Cc)
{
    WmState *State = WmStateOf(Cc);
    if (State->Flow != NULL) {
        State->Entry->Plugin->stop(State->Flow);
        State->Flow = NULL;
    }
}

/* The window until the flow starts. */
static void WmInitialWindow(WmState *State, const QUIC_CONNECTION *Connection)
{
    State->PathMtu = Connection->Paths[0].Mtu;
    State->Mtu = WmMtu(Connection);
    const uint32_t Window = State->Mtu * Connection->Settings.InitialWindowPackets;
    State->Decision = (windlass_decision){.cwnd = Window, .ssthresh = UINT64_MAX};
    State->BytesInFlightMax = CXPLAT_MAX(State->BytesInFlight, Window / 2);
    State->PacingCredit = 0;
}

/* Hands the connection to MsQuic's CUBIC, which starts with its initial window. */
static void WmFallBack(QUIC_CONGESTION_CONTROL *Cc)
{
    const QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const WmState *State = WmStateOf(Cc);
    const uint32_t BytesInFlight = State->BytesInFlight;
    const uint8_t Exemptions = State->Exemptions;
    WmStop(Cc);
    CubicCongestionControlInitialize(Cc, &Connection->Settings);
    Cc->Cubic.BytesInFlight = BytesInFlight;
    Cc->Cubic.Exemptions = Exemptions;
}

/* Starts the flow unless it runs. FALSE: the plugin refused, and MsQuic's CUBIC took over. */
static BOOLEAN WmEnsureFlow(QUIC_CONGESTION_CONTROL *Cc)
{
    WmState *State = WmStateOf(Cc);
    if (State->Flow != NULL) {
        return TRUE;
    }
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    windlass_msquic_path Path;
    char AppName[WM_APP_NAME_SIZE];
    char Error[WM_ERROR_SIZE] = "it was refused";
    WmDescribe(Connection, &Path, AppName);
    Path.in_flight = State->BytesInFlight;
    /* Until now the family of the peer's address was unknown. */
    State->PathMtu = Connection->Paths[0].Mtu;
    State->Mtu = State->ReportedMtu = Path.path.mtu;
    WmEntry *Entry = State->Entry;
    State->Flow =
        Entry->Plugin->start(Entry->Definition, &Path, &State->Decision, Error, sizeof(Error));
    if (State->Flow != NULL) {
        if (WmLogs()) {
            char Peer[INET6_ADDRSTRLEN] = "?";
            inet_ntop(AF_INET6, Path.path.peer_address, Peer, sizeof(Peer));
            WmWarn("MsQuic, %s to [%s]:%u: %s%s, of the plugin %s", Path.is_server ? "server" : "client", Peer,
                   (unsigned)Path.path.peer_port, Entry->Id == 0 ? "what it has for that peer in " : "", Entry->Text,
                   Entry->Plugin->name != NULL ? Entry->Plugin->name : "?");
        }
        return TRUE;
    }
    /* Without a reason it left the connection to MsQuic's own, as a file does that is for other applications. */
    if (Error[0] != 0 && __atomic_fetch_add(&Entry->Refused, 1, __ATOMIC_RELAXED) == 0) {
        WmWarn("%s; MsQuic's CUBIC takes over, for all such connections", Error);
    }
    WmFallBack(Cc);
    return FALSE;
}

static BOOLEAN WmCanSend(QUIC_CONGESTION_CONTROL *Cc)
{
    const WmState *State = WmStateOf(Cc);
    return State->BytesInFlight < State->Decision.cwnd || State->Exemptions > 0;
}

/* Hands a connection whose flow ended to MsQuic's CUBIC; TRUE if that lets it send. Out of line: its callers are called
 * for every packet. */
__attribute__((noinline, cold)) static BOOLEAN WmGiveUp(QUIC_CONGESTION_CONTROL *Cc)
{
    WmFallBack(Cc);
    return Cc->QuicCongestionControlCanSend(Cc);
}

/* TRUE if sending is possible again. Follows every call of the plugin; if the plugin gave the flow up,
 * `Cc` is MsQuic's CUBIC afterwards. */
static BOOLEAN WmUpdateBlocked(QUIC_CONGESTION_CONTROL *Cc, BOOLEAN CouldSend)
{
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN Ended = (WmStateOf(Cc)->Decision.flags & WINDLASS_ENDED) != 0;
    const BOOLEAN CanSend = Ended ? WmGiveUp(Cc) : WmCanSend(Cc);
#if WINDLASS_PACKETS
    WmTraceState(Connection);
#endif
    if (CanSend == CouldSend) {
        return FALSE;
    }
    if (!CanSend) {
        QuicConnAddOutFlowBlockedReason(Connection, QUIC_FLOW_BLOCKED_CONGESTION_CONTROL);
        return FALSE;
    }
    /* MsQuic's own controllers drop the pacing time that passed while they were blocked. Here the
     * pacing credit counts it, so that not every acknowledgement has to wait for the timer. */
    QuicConnRemoveOutFlowBlockedReason(Connection, QUIC_FLOW_BLOCKED_CONGESTION_CONTROL);
    return TRUE;
}

static void WmSetExemption(QUIC_CONGESTION_CONTROL *Cc, uint8_t Packets)
{
    WmStateOf(Cc)->Exemptions = Packets;
}

/* The connection starts over (Full) or moved to another path. Either way the flow ends; the next use
 * starts another. */
static void WmReset(QUIC_CONGESTION_CONTROL *Cc, BOOLEAN Full)
{
    WmState *State = WmStateOf(Cc);
    WmStop(Cc);
    if (Full) {
        State->BytesInFlight = 0;
        CxPlatZeroMemory(State->CeCounts, sizeof(State->CeCounts));
    }
    State->NewestLostSentNs = 0;
    State->AppLimited = FALSE;
    WmInitialWindow(State, QuicCongestionControlGetConnection(Cc));
}

static uint32_t WmGetSendAllowance(QUIC_CONGESTION_CONTROL *Cc, uint64_t Since, BOOLEAN SinceValid)
{
    if (!WmEnsureFlow(Cc)) {
        return Cc->QuicCongestionControlGetSendAllowance(Cc, Since, SinceValid);
    }
    WmState *State = WmStateOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const QUIC_PATH *Path = &Connection->Paths[0];
    State->FirstAck = TRUE;
    if (State->Decision.flags & WINDLASS_SHARED) {
        const BOOLEAN CouldSend = WmCanSend(Cc);
        State->Entry->Plugin->refresh(State->Flow, &State->Decision);
        WmUpdateBlocked(Cc, CouldSend);
        if (!WmIsOurs(Cc)) {
            return Cc->QuicCongestionControlGetSendAllowance(Cc, Since, SinceValid);
        }
    }
    const uint32_t Window = WmWindow(State);
    if (State->BytesInFlight >= Window) {
        return 0;
    }
    const uint32_t Room = Window - State->BytesInFlight;
    const uint64_t Rate = State->Decision.pacing_rate;
    const BOOLEAN Decided = (State->Decision.flags & WINDLASS_DECIDED) != 0;
    if (Rate == 0 || !SinceValid || !Connection->Settings.PacingEnabled ||
        (!Decided && (!Path->GotFirstRttSample || Path->SmoothedRtt < QUIC_MIN_PACING_RTT))) {
        return Room;
    }
    /* Credit grows until it covers a datagram, because MsQuic rounds up to whole ones. */
    const uint32_t Mtu = WmCachedMtu(State, Connection);
    const double BytesPerUs = (double)Rate / 8e6;
    const double Most = CXPLAT_MAX((double)WM_BURST_DATAGRAMS * Mtu, BytesPerUs * WM_PACER_MEMORY_US);
    State->PacingCredit = CXPLAT_MIN(State->PacingCredit + BytesPerUs * (double)CXPLAT_MIN(Since, 1000000u), Most);
    if (State->PacingCredit < (double)CXPLAT_MIN(Mtu, Room)) {
        return 0;
    }
    return State->PacingCredit < (double)Room ? (uint32_t)State->PacingCredit : Room;
}

static void WmOnDataSent(QUIC_CONGESTION_CONTROL *Cc, uint32_t Bytes)
{
    if (!WmEnsureFlow(Cc)) {
        Cc->QuicCongestionControlOnDataSent(Cc, Bytes);
        return;
    }
    WmState *State = WmStateOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN CouldSend = WmCanSend(Cc);
    const uint32_t Mtu = WmCachedMtu(State, Connection);
    const BOOLEAN WasIdle = State->BytesInFlight == 0;
    State->AppLimited = FALSE; /* MsQuic sets it again after each packet */
    State->BytesInFlight += Bytes;
    if (State->BytesInFlightMax < State->BytesInFlight) {
        State->BytesInFlightMax = State->BytesInFlight;
        QuicSendBufferConnectionAdjust(Connection);
    }
    /* May become negative: a packet may be larger than the rest of the allowance. */
    State->PacingCredit = CXPLAT_MAX(State->PacingCredit - Bytes, -(double)Mtu);
    if (State->Exemptions > 0) {
        --State->Exemptions;
    }
    if (WasIdle || (State->Decision.flags & WINDLASS_MSQUIC_EVERY_SENT)) {
        /* Set just before: the packet's send time, which its acknowledgement refers to. */
        const windlass_sent Sent = {
            .now_ns = WmNs(Connection->LossDetection.TimeOfLastPacketSent),
            .number = Connection->LossDetection.LargestSentPacketNumber,
            .in_flight = State->BytesInFlight,
            .bytes = Bytes,
            .flags = WmIsAppLimited(Cc) ? WINDLASS_SENT_APP_LIMITED : 0,
        };
        WmReportMtu(State, Connection, Sent.now_ns);
        State->Entry->Plugin->on_sent(State->Flow, &Sent, &State->Decision);
    }
    WmUpdateBlocked(Cc, CouldSend);
}

/* Subtracts `Bytes` from the bytes in flight; returns the bytes in flight before. */
static uint32_t WmRemoveInFlight(WmState *State, uint32_t Bytes)
{
    const uint32_t Before = State->BytesInFlight;
    State->BytesInFlight -= CXPLAT_MIN(Bytes, Before);
    return Before;
}

static BOOLEAN WmOnDataInvalidated(QUIC_CONGESTION_CONTROL *Cc, uint32_t Bytes)
{
    WmState *State = WmStateOf(Cc);
    const BOOLEAN CouldSend = WmCanSend(Cc);
    WmRemoveInFlight(State, Bytes);
    if (State->Flow != NULL) {
        State->Entry->Plugin->on_discarded(State->Flow, WmNs(CxPlatTimeUs64()), State->BytesInFlight,
                                           &State->Decision);
    }
    return WmUpdateBlocked(Cc, CouldSend);
}

/* MsQuic asks its peer to acknowledge as rarely as its batches of datagrams are large, which
 * for a small window is once per window or on the timer. This asks for eight a window. */
static void WmLimitPeerTolerance(QUIC_CONNECTION *Connection, const WmState *State)
{
    const uint32_t Share = WmWindow(State) / State->Mtu / WM_ACKS_PER_WINDOW;
    const uint32_t Most = CXPLAT_MAX(Share, QUIC_MIN_ACK_SEND_NUMBER);
    if (Connection->PeerPacketTolerance > Most) {
        QuicConnUpdatePeerPacketTolerance(Connection, (uint8_t)Most);
    }
}

/* Subtracts acknowledged bytes from the bytes in flight; returns the bytes in flight before. MsQuic
 * reads all waiting ACK frames before it sends again. Room that the first of them frees is not room
 * the sender left unused, so the others count it as in flight, unless there is nothing to send. */
static uint32_t WmRemoveAcked(QUIC_CONGESTION_CONTROL *Cc, uint32_t Bytes)
{
    WmState *State = WmStateOf(Cc);
    const BOOLEAN First = State->FirstAck || WmIsAppLimited(Cc);
    const uint32_t Before = WmRemoveInFlight(State, Bytes);
    State->FlightBefore = First ? Before : CXPLAT_MAX(State->FlightBefore, Before);
    State->FirstAck = FALSE;
    return State->FlightBefore;
}

static void WmIndicateStatistics(QUIC_CONNECTION *Connection, const WmState *State)
{
    const QUIC_PATH *Path = &Connection->Paths[0];
    QUIC_CONNECTION_EVENT Event;
    CxPlatZeroMemory(&Event, sizeof(Event));
    Event.Type = QUIC_CONNECTION_EVENT_NETWORK_STATISTICS;
    Event.NETWORK_STATISTICS.BytesInFlight = State->BytesInFlight;
    Event.NETWORK_STATISTICS.PostedBytes = Connection->SendBuffer.PostedBytes;
    Event.NETWORK_STATISTICS.IdealBytes = Connection->SendBuffer.IdealBytes;
    Event.NETWORK_STATISTICS.SmoothedRTT = Path->SmoothedRtt;
    Event.NETWORK_STATISTICS.CongestionWindow = WmWindow(State);
    Event.NETWORK_STATISTICS.Bandwidth = State->Decision.pacing_rate / 8;
    QuicConnIndicateEvent(Connection, &Event);
}

static BOOLEAN WmOnDataAcknowledged(QUIC_CONGESTION_CONTROL *Cc, const QUIC_ACK_EVENT *Event)
{
    WmState *State = WmStateOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const QUIC_PATH *Path = &Connection->Paths[0];
    const BOOLEAN CouldSend = WmCanSend(Cc);
    const uint32_t Before = WmRemoveAcked(Cc, Event->NumRetransmittableBytes);
    const QUIC_SENT_PACKET_METADATA *Sampled = Event->IsImplicit ? NULL : WmSampled(Connection, Event);
    if (State->Flow != NULL) {
        const windlass_msquic_plugin *Plugin = State->Entry->Plugin;
        WmList List;
        WmListAcked(&List, Event->AckedPackets);
        windlass_acked Acked = {
            .now_ns = WmNs(Event->TimeNow),
            .in_flight_before = Before,
            .in_flight = State->BytesInFlight,
            .packets = List.Packets,
            .packet_count = List.Count,
            .flags = (Event->IsImplicit ? WINDLASS_MSQUIC_ACKED_IMPLICIT : 0) |
                     (Event->IsLargestAckedPacketAppLimited ? WINDLASS_ACKED_APP_LIMITED : 0),
        };
        WmReportMtu(State, Connection, Acked.now_ns);
        if (Sampled != NULL) {
            const windlass_rtt Rtt = {
                .latest_ns = WmNs(CxPlatTimeDiff64(Sampled->SentTime, Event->TimeNow)),
                .smoothed_ns = WmNs(Path->SmoothedRtt),
                .variation_ns = WmNs(Path->RttVariance),
                .min_ns = WmNs(Path->MinRtt),
                .ack_delay_ns = WmNs(CxPlatTimeDiff64(Event->AdjustedAckTime, Event->TimeNow)),
            };
            Plugin->on_rtt(State->Flow, Acked.now_ns, &Rtt);
            /* Packets of the handshake have no time stamps, whatever was negotiated. */
            if (Connection->State.TimestampRecvNegotiated && Sampled->Flags.KeyType == QUIC_PACKET_KEY_1_RTT) {
                /* OneWayDelayLatest excludes the phase shift, which MsQuic sets anew with each minimum.
                 * Their sum is the difference of the two clocks. */
                Acked.flags |= WINDLASS_ACKED_ONE_WAY;
                Acked.one_way_ns = (Connection->Stats.Timing.PhaseShift + (int64_t)Path->OneWayDelayLatest) * 1000;
            }
        }
        Plugin->on_acked(State->Flow, &Acked, &State->Decision);
        WmListFree(&List);
        WmLimitPeerTolerance(Connection, State);
    }
    if (Connection->Settings.NetStatsEventEnabled) {
        WmIndicateStatistics(Connection, State);
    }
    return WmUpdateBlocked(Cc, CouldSend);
}

static void WmOnDataLost(QUIC_CONGESTION_CONTROL *Cc, const QUIC_LOSS_EVENT *Event)
{
    WmState *State = WmStateOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN CouldSend = WmCanSend(Cc);
    const uint64_t Window = State->Decision.cwnd;
    const uint32_t Before = WmRemoveInFlight(State, Event->NumRetransmittableBytes);
    State->FirstAck = TRUE; /* lost packets are not in flight for the next ACK frame either */
    if (State->Flow != NULL) {
        WmList List;
        WmListLost(&List, &Connection->LossDetection, Event);
        const windlass_lost Lost = {
            .now_ns = WmNs(CxPlatTimeUs64()),
            .in_flight_before = Before,
            .in_flight = State->BytesInFlight,
            .packets = List.Packets,
            .packet_count = List.Count,
            .flags = Event->PersistentCongestion ? WINDLASS_LOST_PERSISTENT : 0,
        };
        for (uint32_t i = 0; i < List.Count; ++i) {
            State->NewestLostSentNs = CXPLAT_MAX(State->NewestLostSentNs, List.Packets[i].sent_ns);
        }
        WmReportMtu(State, Connection, Lost.now_ns);
        State->Entry->Plugin->on_lost(State->Flow, &Lost, &State->Decision);
        WmListFree(&List);
    }
    if (State->Decision.cwnd < Window) {
        ++Connection->Stats.Send.CongestionCount;
    }
    if (Event->PersistentCongestion) {
        ++Connection->Stats.Send.PersistentCongestionCount;
        Connection->Paths[0].Route.State = RouteSuspected;
    }
    WmUpdateBlocked(Cc, CouldSend);
}

static void WmOnEcn(QUIC_CONGESTION_CONTROL *Cc, const QUIC_ECN_EVENT *Event)
{
    WmState *State = WmStateOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN CouldSend = WmCanSend(Cc);
    const uint64_t Window = State->Decision.cwnd;
    uint64_t Marks = 0;
    for (uint32_t i = 0; i < QUIC_ENCRYPT_LEVEL_COUNT; ++i) {
        const QUIC_PACKET_SPACE *Space = Connection->Packets[i];
        if (Space != NULL && Space->EcnCeCounter > State->CeCounts[i]) {
            Marks += Space->EcnCeCounter - State->CeCounts[i];
            State->CeCounts[i] = Space->EcnCeCounter;
        }
    }
    if (State->Flow != NULL) {
        const uint64_t NowNs = WmNs(CxPlatTimeUs64());
        WmReportMtu(State, Connection, NowNs);
        /* MsQuic has just processed the packets of the frame, the newest last. */
        State->Entry->Plugin->on_ecn_ce(State->Flow, NowNs, (uint32_t)CXPLAT_MIN(CXPLAT_MAX(Marks, 1u), UINT32_MAX),
                                        WmNs(Connection->LossDetection.TimeOfLastAckedPacketSent),
                                        Event->LargestPacketNumberAcked, State->BytesInFlight, &State->Decision);
    }
    if (State->Decision.cwnd < Window) {
        ++Connection->Stats.Send.CongestionCount;
    }
    ++Connection->Stats.Send.EcnCongestionCount;
    WmUpdateBlocked(Cc, CouldSend);
}

static BOOLEAN WmOnSpuriousCongestionEvent(QUIC_CONGESTION_CONTROL *Cc)
{
    WmState *State = WmStateOf(Cc);
    const BOOLEAN CouldSend = WmCanSend(Cc);
    if (State->Flow != NULL && State->NewestLostSentNs != 0) {
        const uint64_t NowNs = WmNs(CxPlatTimeUs64());
        WmReportMtu(State, QuicCongestionControlGetConnection(Cc), NowNs);
        State->Entry->Plugin->on_spurious_loss(State->Flow, NowNs, State->NewestLostSentNs, &State->Decision);
    }
    return WmUpdateBlocked(Cc, CouldSend);
}

static void WmLogOutFlowStatus(const QUIC_CONGESTION_CONTROL *Cc)
{
    const QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const QUIC_PATH *Path = &Connection->Paths[0];
    const WmState *State = WmConstStateOf(Cc);
    UNREFERENCED_PARAMETER(Path);
    UNREFERENCED_PARAMETER(State);
    QuicTraceEvent(
        ConnOutFlowStatsV2,
        "[conn][%p] OUT: BytesSent=%llu InFlight=%u CWnd=%u ConnFC=%llu ISB=%llu PostedBytes=%llu SRtt=%llu 1Way=%llu",
        Connection,
        Connection->Stats.Send.TotalBytes,
        State->BytesInFlight,
        WmWindow(State),
        Connection->Send.PeerMaxData - Connection->Send.OrderedStreamBytesSent,
        Connection->SendBuffer.IdealBytes,
        Connection->SendBuffer.PostedBytes,
        Path->GotFirstRttSample ? Path->SmoothedRtt : 0,
        Path->OneWayDelay);
}

const windlass_decision *WmDecision(const QUIC_CONGESTION_CONTROL *Cc, uint64_t *InFlight)
{
    if (!WmIsOurs(Cc)) {
        return NULL;
    }
    *InFlight = WmConstStateOf(Cc)->BytesInFlight;
    return &WmConstStateOf(Cc)->Decision;
}

static uint8_t WmGetExemptions(const QUIC_CONGESTION_CONTROL *Cc)
{
    return WmConstStateOf(Cc)->Exemptions;
}

static uint32_t WmGetBytesInFlightMax(const QUIC_CONGESTION_CONTROL *Cc)
{
    return WmConstStateOf(Cc)->BytesInFlightMax;
}

static uint32_t WmGetCongestionWindow(const QUIC_CONGESTION_CONTROL *Cc)
{
    return WmWindow(WmConstStateOf(Cc));
}

/* Called once per packet sent. MsQuic's own rule (SetAppLimited) covers only a blocked stream; more
 * often everything the application posted is in flight. */
static BOOLEAN WmIsAppLimited(const QUIC_CONGESTION_CONTROL *Cc)
{
    const WmState *State = WmConstStateOf(Cc);
    const QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const uint64_t Slack = (uint64_t)WM_SLACK_DATAGRAMS * State->Mtu;
    if ((uint64_t)State->BytesInFlight + Slack > State->Decision.cwnd) {
        return FALSE;
    }
    return State->AppLimited || Connection->SendBuffer.PostedBytes + Connection->SendBuffer.BufferedBytes <=
                                    State->BytesInFlight;
}

static void WmSetAppLimited(QUIC_CONGESTION_CONTROL *Cc)
{
    WmStateOf(Cc)->AppLimited = TRUE;
}

#ifdef WINDLASS_NETWORK_STATISTICS
/* For QUIC_PARAM_CONN_NETWORK_STATISTICS of MsQuic 2.6. */
static void WmGetNetworkStatistics(const QUIC_CONNECTION *const Connection, const QUIC_CONGESTION_CONTROL *const Cc,
                                   QUIC_NETWORK_STATISTICS *Statistics)
{
    const WmState *State = WmConstStateOf(Cc);
    Statistics->BytesInFlight = State->BytesInFlight;
    Statistics->PostedBytes = Connection->SendBuffer.PostedBytes;
    Statistics->IdealBytes = Connection->SendBuffer.IdealBytes;
    Statistics->SmoothedRTT = Connection->Paths[0].SmoothedRtt;
    Statistics->CongestionWindow = WmWindow(State);
    Statistics->Bandwidth = State->Decision.pacing_rate / 8;
}
#endif

static const QUIC_CONGESTION_CONTROL WmTemplate = {
    .Name = "Windlass",
    .QuicCongestionControlCanSend = WmCanSend,
    .QuicCongestionControlSetExemption = WmSetExemption,
    .QuicCongestionControlReset = WmReset,
    .QuicCongestionControlGetSendAllowance = WmGetSendAllowance,
    .QuicCongestionControlOnDataSent = WmOnDataSent,
    .QuicCongestionControlOnDataInvalidated = WmOnDataInvalidated,
    .QuicCongestionControlOnDataAcknowledged = WmOnDataAcknowledged,
    .QuicCongestionControlOnDataLost = WmOnDataLost,
    .QuicCongestionControlOnEcn = WmOnEcn,
    .QuicCongestionControlOnSpuriousCongestionEvent = WmOnSpuriousCongestionEvent,
    .QuicCongestionControlLogOutFlowStatus = WmLogOutFlowStatus,
    .QuicCongestionControlGetExemptions = WmGetExemptions,
    .QuicCongestionControlGetBytesInFlightMax = WmGetBytesInFlightMax,
    .QuicCongestionControlGetCongestionWindow = WmGetCongestionWindow,
    .QuicCongestionControlIsAppLimited = WmIsAppLimited,
    .QuicCongestionControlSetAppLimited = WmSetAppLimited,
#ifdef WINDLASS_NETWORK_STATISTICS
    .QuicCongestionControlGetNetworkStatistics = WmGetNetworkStatistics,
#endif
};

/* The entry the settings select; NULL: one of MsQuic's own controllers. */
static WmEntry *WmChoose(const QUIC_SETTINGS_INTERNAL *Settings)
{
    const uint16_t Wanted = (uint16_t)Settings->CongestionControlAlgorithm;
    WmEntry *Default = WmDefault();
    if (Wanted < WINDLASS_MSQUIC_FIRST_ID) {
        const BOOLEAN Explicit = Settings->IsSet.CongestionControlAlgorithm ||
                              Wanted != QUIC_CONGESTION_CONTROL_ALGORITHM_DEFAULT;
        return Explicit ? NULL : Default;
    }
    WmEntry *Entry = WmById(Wanted);
    static uint32_t Unknown;
    if (Entry == NULL && __atomic_fetch_add(&Unknown, 1, __ATOMIC_RELAXED) == 0) {
        WmWarn("CongestionControlAlgorithm is 0x%04x, which no controller was registered as; MsQuic's CUBIC takes over",
              Wanted);
    }
    return Entry;
}

/* Replaces MsQuic's, which is NativeQuicCongestionControlInitialize. */
void QuicCongestionControlInitialize(QUIC_CONGESTION_CONTROL *Cc, const QUIC_SETTINGS_INTERNAL *Settings)
{
    if (WmIsOurs(Cc)) {
        WmStop(Cc);
    }
    WmEntry *Entry = WmChoose(Settings);
    if (Entry == NULL) {
        if (Settings->CongestionControlAlgorithm < QUIC_CONGESTION_CONTROL_ALGORITHM_MAX) {
            NativeQuicCongestionControlInitialize(Cc, Settings);
        } else {
            /* MsQuic's own function asserts that the value is one of its own. */
            CubicCongestionControlInitialize(Cc, Settings);
        }
        return;
    }
    CxPlatZeroMemory(Cc, sizeof(*Cc));
    *Cc = WmTemplate;
    WmState *State = WmStateOf(Cc);
    State->Entry = Entry;
    WmInitialWindow(State, QuicCongestionControlGetConnection(Cc));
}

/* Replaces MsQuic's: the last call that concerns a connection's congestion control. */
void QuicLossDetectionUninitialize(QUIC_LOSS_DETECTION *LossDetection)
{
    NativeQuicLossDetectionUninitialize(LossDetection);
    QUIC_CONGESTION_CONTROL *Cc = &QuicLossDetectionGetConnection(LossDetection)->CongestionControl;
    if (WmIsOurs(Cc)) {
        WmStop(Cc);
    }
}
