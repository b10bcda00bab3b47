/*
 * A congestion control of MsQuic that asks a plugin.
 *
 * Compiled as part of MsQuic's `core`, with its headers. The two functions at the end stand
 * in for MsQuic's own of the same name, which it compiles under names with `Native`.
 *
 * MsQuic initialises congestion control twice per connection, before it knows the path. The
 * plugin's flow therefore starts with the first use that leads to sending.
 */
#include "precomp.h"

#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "host.h"

void NativeQuicCongestionControlInitialize(QUIC_CONGESTION_CONTROL *Cc,
                                           const QUIC_SETTINGS_INTERNAL *Settings);
void NativeQuicLossDetectionUninitialize(QUIC_LOSS_DETECTION *LossDetection);

enum {
    WM_PACKETS = 128,        /* packets listed without an allocation */
    WM_BURST_DATAGRAMS = 10, /* RFC 9002 section 7.7 */
    WM_SLACK_DATAGRAMS = 3,  /* room that does not make a sender limited by its application */
    WM_ACKS_PER_WINDOW = 8,
};

/* How long the pacer may save up what it did not use: a late timer is no loss of rate. */
#define WM_PACER_MEMORY_US 4000u

/* Lies where MsQuic's own controllers have their state. */
typedef struct WmState {
    WmEntry *Entry;
    void *Flow; /* NULL until the first use */
    windlass_msquic_control Control;
    uint64_t NewestLostSent;
    uint64_t CeCounts[QUIC_ENCRYPT_LEVEL_COUNT];
    double Saved; /* bytes the pacer granted that are not sent yet */
    uint32_t BytesInFlight;
    uint32_t BytesInFlightMax;
    uint32_t Mtu; /* WmMtu of a path with the MTU `PathMtu` */
    uint32_t FlightBefore; /* before the first ACK frame since MsQuic last could send */
    uint16_t PathMtu;
    uint8_t Exemptions;
    BOOLEAN AppLimited;
    BOOLEAN CouldSend; /* since the last ACK frame */
} WmState;

CXPLAT_STATIC_ASSERT(sizeof(WmState) <= sizeof(QUIC_CONGESTION_CONTROL_BBR) ||
                         sizeof(WmState) <= sizeof(QUIC_CONGESTION_CONTROL_CUBIC),
                     "our state fits where MsQuic's is");

static BOOLEAN WmCanSend(QUIC_CONGESTION_CONTROL *Cc);
static BOOLEAN WmIsAppLimited(const QUIC_CONGESTION_CONTROL *Cc);

static WmState *WmOf(QUIC_CONGESTION_CONTROL *Cc)
{
    return (WmState *)(void *)&Cc->Cubic;
}

static const WmState *WmOfConst(const QUIC_CONGESTION_CONTROL *Cc)
{
    return (const WmState *)(const void *)&Cc->Cubic;
}

/* WmMtu, remembered: it is asked for several times a packet. */
static inline uint32_t WmDatagram(WmState *State, const QUIC_CONNECTION *Connection)
{
    if (State->PathMtu != Connection->Paths[0].Mtu) {
        State->PathMtu = Connection->Paths[0].Mtu;
        State->Mtu = WmMtu(Connection);
    }
    return State->Mtu;
}

static BOOLEAN WmIsOurs(const QUIC_CONGESTION_CONTROL *Cc)
{
    return Cc->QuicCongestionControlCanSend == WmCanSend;
}

static void WmStop(QUIC_CONGESTION_CONTROL *Cc)
{
    WmState *State = WmOf(Cc);
    if (State->Flow != NULL) {
        State->Entry->Plugin->stop(State->Flow);
        State->Flow = NULL;
    }
}

/* The window until the flow has one. */
static void WmInitialWindow(WmState *State, const QUIC_CONNECTION *Connection)
{
    State->PathMtu = Connection->Paths[0].Mtu;
    State->Mtu = WmMtu(Connection);
    State->Control = (windlass_msquic_control){
        .cwnd = State->Mtu * Connection->Settings.InitialWindowPackets,
        .ssthresh = UINT32_MAX,
    };
    State->BytesInFlightMax = CXPLAT_MAX(State->BytesInFlight, State->Control.cwnd / 2);
    State->Saved = 0;
}

/* Starts the flow unless it runs. FALSE: it could not, and MsQuic's CUBIC took over. */
static BOOLEAN WmReady(QUIC_CONGESTION_CONTROL *Cc)
{
    WmState *State = WmOf(Cc);
    if (State->Flow != NULL) {
        return TRUE;
    }
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    windlass_msquic_path Path;
    char AppName[WM_APP_NAME_SIZE];
    char Error[WM_ERROR_SIZE] = "it was refused";
    WmDescribe(Connection, &Path, AppName);
    Path.in_flight = State->BytesInFlight;
    /* Before, it was not known of which family the peer's address is. */
    State->PathMtu = Connection->Paths[0].Mtu;
    State->Mtu = Path.mtu;
    WmEntry *Entry = State->Entry;
    State->Flow =
        Entry->Plugin->start(Entry->Definition, &Path, &State->Control, Error, sizeof(Error));
    if (State->Flow != NULL) {
        return TRUE;
    }
    if (__atomic_fetch_add(&Entry->Refused, 1, __ATOMIC_RELAXED) == 0) {
        WmSay("%s; MsQuic's CUBIC takes over, for all such connections", Error);
    }
    const uint32_t BytesInFlight = State->BytesInFlight;
    const uint8_t Exemptions = State->Exemptions;
    CubicCongestionControlInitialize(Cc, &Connection->Settings);
    Cc->Cubic.BytesInFlight = BytesInFlight;
    Cc->Cubic.Exemptions = Exemptions;
    return FALSE;
}

static BOOLEAN WmCanSend(QUIC_CONGESTION_CONTROL *Cc)
{
    const WmState *State = WmOf(Cc);
    return State->BytesInFlight < State->Control.cwnd || State->Exemptions > 0;
}

/* TRUE if sending is possible again. */
static BOOLEAN WmUpdateBlocked(QUIC_CONGESTION_CONTROL *Cc, BOOLEAN Could)
{
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
#if WINDLASS_PACKETS
    WmTraceState(Connection);
#endif
    const BOOLEAN Can = WmCanSend(Cc);
    if (Can == Could) {
        return FALSE;
    }
    if (!Can) {
        QuicConnAddOutFlowBlockedReason(Connection, QUIC_FLOW_BLOCKED_CONGESTION_CONTROL);
        return FALSE;
    }
    /* MsQuic's own controllers forget the time they were blocked; ours may use what little
     * the pacer saves up, which spares its timer for every acknowledgement. */
    QuicConnRemoveOutFlowBlockedReason(Connection, QUIC_FLOW_BLOCKED_CONGESTION_CONTROL);
    return TRUE;
}

static void WmSetExemption(QUIC_CONGESTION_CONTROL *Cc, uint8_t Packets)
{
    WmOf(Cc)->Exemptions = Packets;
}

/* The connection starts again (Full), or moved to another path: another flow. */
static void WmReset(QUIC_CONGESTION_CONTROL *Cc, BOOLEAN Full)
{
    WmState *State = WmOf(Cc);
    WmStop(Cc);
    if (Full) {
        State->BytesInFlight = 0;
        CxPlatZeroMemory(State->CeCounts, sizeof(State->CeCounts));
    }
    State->NewestLostSent = 0;
    State->AppLimited = FALSE;
    WmInitialWindow(State, QuicCongestionControlGetConnection(Cc));
}

static uint32_t WmGetSendAllowance(QUIC_CONGESTION_CONTROL *Cc, uint64_t Since, BOOLEAN SinceValid)
{
    if (!WmReady(Cc)) {
        return Cc->QuicCongestionControlGetSendAllowance(Cc, Since, SinceValid);
    }
    WmState *State = WmOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const QUIC_PATH *Path = &Connection->Paths[0];
    State->CouldSend = TRUE;
    if (State->Control.flags & WINDLASS_MSQUIC_SHARED) {
        const BOOLEAN Could = WmCanSend(Cc);
        State->Entry->Plugin->refresh(State->Flow, &State->Control);
        WmUpdateBlocked(Cc, Could);
    }
    if (State->BytesInFlight >= State->Control.cwnd) {
        return 0;
    }
    const uint32_t Room = State->Control.cwnd - State->BytesInFlight;
    const uint64_t Rate = State->Control.pacing_rate;
    const BOOLEAN Decided = (State->Control.flags & WINDLASS_MSQUIC_DECIDED) != 0;
    if (Rate == 0 || !SinceValid || !Connection->Settings.PacingEnabled ||
        (!Decided && (!Path->GotFirstRttSample || Path->SmoothedRtt < QUIC_MIN_PACING_RTT))) {
        return Room;
    }
    /* What may leave is saved up until it is a datagram: MsQuic rounds up to whole ones. */
    const uint32_t Mtu = WmDatagram(State, Connection);
    const double BytesPerUs = (double)Rate / 8e6;
    const double Most = CXPLAT_MAX((double)WM_BURST_DATAGRAMS * Mtu, BytesPerUs * WM_PACER_MEMORY_US);
    State->Saved = CXPLAT_MIN(State->Saved + BytesPerUs * (double)CXPLAT_MIN(Since, 1000000u), Most);
    if (State->Saved < (double)CXPLAT_MIN(Mtu, Room)) {
        return 0;
    }
    return State->Saved < (double)Room ? (uint32_t)State->Saved : Room;
}

static void WmOnDataSent(QUIC_CONGESTION_CONTROL *Cc, uint32_t Bytes)
{
    if (!WmReady(Cc)) {
        Cc->QuicCongestionControlOnDataSent(Cc, Bytes);
        return;
    }
    WmState *State = WmOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN Could = WmCanSend(Cc);
    const uint32_t Mtu = WmDatagram(State, Connection);
    const BOOLEAN Quiet = State->BytesInFlight == 0;
    State->AppLimited = FALSE; /* said anew after each packet */
    State->BytesInFlight += Bytes;
    if (State->BytesInFlightMax < State->BytesInFlight) {
        State->BytesInFlightMax = State->BytesInFlight;
        QuicSendBufferConnectionAdjust(Connection);
    }
    /* May go below nothing: a packet is larger than what is left of the allowance. */
    State->Saved = CXPLAT_MAX(State->Saved - Bytes, -(double)Mtu);
    if (State->Exemptions > 0) {
        --State->Exemptions;
    }
    if (Quiet || (State->Control.flags & WINDLASS_MSQUIC_EVERY_SENT)) {
        /* Stamped just before: the packet's own time, which its acknowledgement will tell. */
        const windlass_msquic_sent Sent = {
            .now_us = Connection->LossDetection.TimeOfLastPacketSent,
            .number = Connection->LossDetection.LargestSentPacketNumber,
            .bytes = Bytes,
            .in_flight = State->BytesInFlight,
            .mtu = Mtu,
            .flags = WmIsAppLimited(Cc) ? WINDLASS_MSQUIC_SENT_APP_LIMITED : 0,
        };
        State->Entry->Plugin->sent(State->Flow, &Sent, &State->Control);
    }
    WmUpdateBlocked(Cc, Could);
}

/* Takes `Bytes` out of what is in flight; returns what was before. */
static uint32_t WmLeave(WmState *State, uint32_t Bytes)
{
    const uint32_t Before = State->BytesInFlight;
    State->BytesInFlight -= CXPLAT_MIN(Bytes, Before);
    return Before;
}

static BOOLEAN WmOnDataInvalidated(QUIC_CONGESTION_CONTROL *Cc, uint32_t Bytes)
{
    WmState *State = WmOf(Cc);
    const BOOLEAN Could = WmCanSend(Cc);
    WmLeave(State, Bytes);
    if (State->Flow != NULL) {
        State->Entry->Plugin->forgotten(State->Flow, CxPlatTimeUs64(), State->BytesInFlight,
                                        &State->Control);
    }
    return WmUpdateBlocked(Cc, Could);
}

static windlass_msquic_packet WmPacket(const QUIC_SENT_PACKET_METADATA *Packet)
{
    const LAST_ACKED_PACKET_INFO *Last = &Packet->LastAckedPacketInfo;
    const BOOLEAN Known = Packet->Flags.HasLastAckedPacketInfo;
    return (windlass_msquic_packet){
        .number = Packet->PacketNumber,
        .sent_us = Packet->SentTime,
        .total_sent = Packet->TotalBytesSent,
        .delivered = Known ? Last->TotalBytesAcked : 0,
        .delivered_us = Known ? Last->AckTime : 0,
        .delivered_sent_us = Known ? Last->SentTime : 0,
        .bytes = Packet->PacketLength,
        .flags = (Packet->Flags.IsAppLimited ? WINDLASS_MSQUIC_PACKET_APP_LIMITED : 0) |
                 (Packet->Flags.EcnEctSet ? WINDLASS_MSQUIC_PACKET_ECT : 0) |
                 (Known ? WINDLASS_MSQUIC_PACKET_DELIVERY : 0),
    };
}

/* Packets of one frame or timer; usually few enough for the stack. */
typedef struct WmList {
    uint32_t Count;
    windlass_msquic_packet *Packets;
    windlass_msquic_packet Few[WM_PACKETS];
} WmList;

/* Adds a packet that is one of at most `Most`; without memory only the first are listed. */
static inline void WmListAdd(WmList *List, const QUIC_SENT_PACKET_METADATA *Packet, uint32_t Most)
{
    if (List->Count == WM_PACKETS && List->Packets == List->Few) {
        windlass_msquic_packet *Many = malloc((size_t)Most * sizeof(*Many));
        if (Many == NULL) {
            return;
        }
        memcpy(Many, List->Few, sizeof(List->Few));
        List->Packets = Many;
    }
    List->Packets[List->Count++] = WmPacket(Packet);
}

static void WmListFree(WmList *List)
{
    if (List->Packets != List->Few) {
        free(List->Packets);
    }
}

/* Whether an acknowledged packet was in flight until now. */
static BOOLEAN WmCounts(const QUIC_SENT_PACKET_METADATA *Packet)
{
    return Packet->Flags.IsAckEliciting && !Packet->Flags.SuspectedLost;
}

static void WmListAcked(WmList *List, const QUIC_SENT_PACKET_METADATA *First)
{
    List->Count = 0;
    List->Packets = List->Few;
    const QUIC_SENT_PACKET_METADATA *Packet = First;
    for (; Packet != NULL && List->Count < WM_PACKETS; Packet = Packet->Next) {
        if (WmCounts(Packet)) {
            WmListAdd(List, Packet, WM_PACKETS);
        }
    }
    uint32_t Most = WM_PACKETS;
    for (const QUIC_SENT_PACKET_METADATA *More = Packet; More != NULL; More = More->Next) {
        Most += WmCounts(More);
    }
    for (; Packet != NULL; Packet = Packet->Next) {
        if (WmCounts(Packet)) {
            WmListAdd(List, Packet, Most);
        }
    }
}

/* The packets just declared lost: the last of the list that make up `Bytes`. */
static void WmListLost(WmList *List, const QUIC_LOSS_DETECTION *LossDetection, uint32_t Bytes)
{
    uint64_t Total = 0;
    uint32_t Count = 0;
    for (const QUIC_SENT_PACKET_METADATA *Packet = LossDetection->LostPackets; Packet != NULL;
         Packet = Packet->Next) {
        Total += Packet->Flags.IsAckEliciting ? Packet->PacketLength : 0;
        Count += Packet->Flags.IsAckEliciting;
    }
    const QUIC_SENT_PACKET_METADATA *Packet = LossDetection->LostPackets;
    for (; Packet != NULL && Total > Bytes; Packet = Packet->Next) {
        Total -= Packet->Flags.IsAckEliciting ? Packet->PacketLength : 0;
        Count -= Packet->Flags.IsAckEliciting;
    }
    List->Count = 0;
    List->Packets = List->Few;
    for (; Packet != NULL && List->Count < Count; Packet = Packet->Next) {
        if (Packet->Flags.IsAckEliciting) {
            WmListAdd(List, Packet, Count);
        }
    }
}

/* The packet whose acknowledgement brought an RTT sample, as MsQuic decides it; NULL: none. */
static const QUIC_SENT_PACKET_METADATA *WmSampled(const QUIC_CONNECTION *Connection, const QUIC_ACK_EVENT *Event)
{
    const QUIC_PATH *Path = &Connection->Paths[0];
    for (const QUIC_SENT_PACKET_METADATA *Packet = Event->AckedPackets; Packet != NULL;
         Packet = Packet->Next) {
        if (Packet->PacketNumber == Event->LargestAck) {
            const BOOLEAN Counts =
                Path->GotFirstRttSample && Packet->Flags.IsAckEliciting && Packet->PathId == Path->ID;
            return Counts ? Packet : NULL;
        }
    }
    return NULL;
}

/* MsQuic asks its peer to acknowledge as rarely as its batches of datagrams are large, which
 * for a small window is once per window or on the timer. This asks for eight a window. */
static void WmKeepAcks(QUIC_CONNECTION *Connection, const WmState *State)
{
    const uint32_t Share = State->Control.cwnd / State->Mtu / WM_ACKS_PER_WINDOW;
    const uint32_t Most = CXPLAT_MAX(Share, QUIC_MIN_ACK_SEND_NUMBER);
    if (Connection->PeerPacketTolerance > Most) {
        QuicConnUpdatePeerPacketTolerance(Connection, (uint8_t)Most);
    }
}

/* Takes acknowledged bytes out of what is in flight; returns what was before. MsQuic reads all
 * ACK frames that wait before it sends again. What the first of them freed is no room a sender
 * left unused, so the others count it as in flight, unless there is nothing to send anyway. */
static uint32_t WmLeaveAcknowledged(QUIC_CONGESTION_CONTROL *Cc, uint32_t Bytes)
{
    WmState *State = WmOf(Cc);
    const BOOLEAN First = State->CouldSend || WmIsAppLimited(Cc);
    const uint32_t Before = WmLeave(State, Bytes);
    State->FlightBefore = First ? Before : CXPLAT_MAX(State->FlightBefore, Before);
    State->CouldSend = FALSE;
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
    Event.NETWORK_STATISTICS.CongestionWindow = State->Control.cwnd;
    Event.NETWORK_STATISTICS.Bandwidth = State->Control.pacing_rate / 8;
    QuicConnIndicateEvent(Connection, &Event);
}

static BOOLEAN WmOnDataAcknowledged(QUIC_CONGESTION_CONTROL *Cc, const QUIC_ACK_EVENT *Event)
{
    WmState *State = WmOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const QUIC_PATH *Path = &Connection->Paths[0];
    const BOOLEAN Could = WmCanSend(Cc);
    windlass_msquic_acked Acked = {
        .now_us = Event->TimeNow,
        .largest_sent = Event->LargestSentPacketNumber,
        .posted = Connection->SendBuffer.PostedBytes + Connection->SendBuffer.BufferedBytes,
        .bytes = Event->NumRetransmittableBytes,
        .in_flight_before = WmLeaveAcknowledged(Cc, Event->NumRetransmittableBytes),
        .mtu = WmDatagram(State, Connection),
        .flags = (Event->IsImplicit ? WINDLASS_MSQUIC_ACKED_IMPLICIT : 0) |
                 (Event->IsLargestAckedPacketAppLimited ? WINDLASS_MSQUIC_ACKED_APP_LIMITED : 0),
    };
    Acked.in_flight = State->BytesInFlight;
    Acked.rtt.smoothed_us = Path->SmoothedRtt;
    Acked.rtt.variation_us = Path->RttVariance;
    Acked.rtt.min_us = Path->MinRtt;
    const QUIC_SENT_PACKET_METADATA *Sampled = Event->IsImplicit ? NULL : WmSampled(Connection, Event);
    if (Sampled != NULL) {
        Acked.flags |= WINDLASS_MSQUIC_ACKED_RTT;
        Acked.rtt.latest_us = CxPlatTimeDiff64(Sampled->SentTime, Event->TimeNow);
        Acked.rtt.ack_delay_us = CxPlatTimeDiff64(Event->AdjustedAckTime, Event->TimeNow);
        /* Packets of the handshake have no time stamps, whatever was negotiated. */
        if (Connection->State.TimestampRecvNegotiated && Sampled->Flags.KeyType == QUIC_PACKET_KEY_1_RTT) {
            /* What MsQuic took its own phase shift from, which it takes anew with each
             * minimum: together they are the difference of the two clocks. */
            Acked.flags |= WINDLASS_MSQUIC_ACKED_ONE_WAY;
            Acked.one_way_us =
                Connection->Stats.Timing.PhaseShift + (int64_t)Path->OneWayDelayLatest;
        }
    }
    if (State->Flow != NULL) {
        WmList List;
        WmListAcked(&List, Event->AckedPackets);
        Acked.packet_count = List.Count;
        Acked.packets = List.Packets;
        State->Entry->Plugin->acked(State->Flow, &Acked, &State->Control);
        WmListFree(&List);
        WmKeepAcks(Connection, State);
    }
    if (Connection->Settings.NetStatsEventEnabled) {
        WmIndicateStatistics(Connection, State);
    }
    return WmUpdateBlocked(Cc, Could);
}

static void WmOnDataLost(QUIC_CONGESTION_CONTROL *Cc, const QUIC_LOSS_EVENT *Event)
{
    WmState *State = WmOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN Could = WmCanSend(Cc);
    const uint32_t Window = State->Control.cwnd;
    windlass_msquic_lost Lost = {
        .now_us = CxPlatTimeUs64(),
        .bytes = Event->NumRetransmittableBytes,
        .in_flight_before = WmLeave(State, Event->NumRetransmittableBytes),
        .mtu = WmDatagram(State, Connection),
        .flags = Event->PersistentCongestion ? WINDLASS_MSQUIC_LOST_PERSISTENT : 0,
    };
    Lost.in_flight = State->BytesInFlight;
    State->CouldSend = TRUE; /* what was lost is no longer in flight for anybody */
    if (State->Flow != NULL) {
        WmList List;
        WmListLost(&List, &Connection->LossDetection, Lost.bytes);
        Lost.packet_count = List.Count;
        Lost.packets = List.Packets;
        for (uint32_t i = 0; i < List.Count; ++i) {
            State->NewestLostSent = CXPLAT_MAX(State->NewestLostSent, List.Packets[i].sent_us);
        }
        State->Entry->Plugin->lost(State->Flow, &Lost, &State->Control);
        WmListFree(&List);
    }
    if (State->Control.cwnd < Window) {
        ++Connection->Stats.Send.CongestionCount;
    }
    if (Event->PersistentCongestion) {
        ++Connection->Stats.Send.PersistentCongestionCount;
        Connection->Paths[0].Route.State = RouteSuspected;
    }
    WmUpdateBlocked(Cc, Could);
}

static void WmOnEcn(QUIC_CONGESTION_CONTROL *Cc, const QUIC_ECN_EVENT *Event)
{
    WmState *State = WmOf(Cc);
    QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const BOOLEAN Could = WmCanSend(Cc);
    const uint32_t Window = State->Control.cwnd;
    uint64_t Marks = 0;
    for (uint32_t i = 0; i < QUIC_ENCRYPT_LEVEL_COUNT; ++i) {
        const QUIC_PACKET_SPACE *Space = Connection->Packets[i];
        if (Space != NULL && Space->EcnCeCounter > State->CeCounts[i]) {
            Marks += Space->EcnCeCounter - State->CeCounts[i];
            State->CeCounts[i] = Space->EcnCeCounter;
        }
    }
    const windlass_msquic_marked Marked = {
        .now_us = CxPlatTimeUs64(),
        .newest_number = Event->LargestPacketNumberAcked,
        /* The packets of the frame were gone through just before, the newest last. */
        .newest_sent_us = Connection->LossDetection.TimeOfLastAckedPacketSent,
        .packets = (uint32_t)CXPLAT_MIN(CXPLAT_MAX(Marks, 1u), UINT32_MAX),
        .in_flight = State->BytesInFlight,
        .mtu = WmDatagram(State, Connection),
    };
    if (State->Flow != NULL) {
        State->Entry->Plugin->marked(State->Flow, &Marked, &State->Control);
    }
    if (State->Control.cwnd < Window) {
        ++Connection->Stats.Send.CongestionCount;
    }
    ++Connection->Stats.Send.EcnCongestionCount;
    WmUpdateBlocked(Cc, Could);
}

static BOOLEAN WmOnSpuriousCongestionEvent(QUIC_CONGESTION_CONTROL *Cc)
{
    WmState *State = WmOf(Cc);
    const BOOLEAN Could = WmCanSend(Cc);
    const windlass_msquic_spurious Spurious = {
        .now_us = CxPlatTimeUs64(),
        .newest_sent_us = State->NewestLostSent,
        .in_flight = State->BytesInFlight,
        .mtu = WmMtu(QuicCongestionControlGetConnection(Cc)),
    };
    if (State->Flow != NULL && State->NewestLostSent != 0) {
        State->Entry->Plugin->spurious(State->Flow, &Spurious, &State->Control);
    }
    return WmUpdateBlocked(Cc, Could);
}

static void WmLogOutFlowStatus(const QUIC_CONGESTION_CONTROL *Cc)
{
    const QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const QUIC_PATH *Path = &Connection->Paths[0];
    const WmState *State = WmOfConst(Cc);
    UNREFERENCED_PARAMETER(Path);
    UNREFERENCED_PARAMETER(State);
    QuicTraceEvent(
        ConnOutFlowStatsV2,
        "[conn][%p] OUT: BytesSent=%llu InFlight=%u CWnd=%u ConnFC=%llu ISB=%llu PostedBytes=%llu SRtt=%llu 1Way=%llu",
        Connection,
        Connection->Stats.Send.TotalBytes,
        State->BytesInFlight,
        State->Control.cwnd,
        Connection->Send.PeerMaxData - Connection->Send.OrderedStreamBytesSent,
        Connection->SendBuffer.IdealBytes,
        Connection->SendBuffer.PostedBytes,
        Path->GotFirstRttSample ? Path->SmoothedRtt : 0,
        Path->OneWayDelay);
}

const windlass_msquic_control *WmControl(const QUIC_CONGESTION_CONTROL *Cc, uint32_t *InFlight)
{
    if (!WmIsOurs(Cc)) {
        return NULL;
    }
    *InFlight = WmOfConst(Cc)->BytesInFlight;
    return &WmOfConst(Cc)->Control;
}

static uint8_t WmGetExemptions(const QUIC_CONGESTION_CONTROL *Cc)
{
    return WmOfConst(Cc)->Exemptions;
}

static uint32_t WmGetBytesInFlightMax(const QUIC_CONGESTION_CONTROL *Cc)
{
    return WmOfConst(Cc)->BytesInFlightMax;
}

static uint32_t WmGetCongestionWindow(const QUIC_CONGESTION_CONTROL *Cc)
{
    return WmOfConst(Cc)->Control.cwnd;
}

/* Asked once per packet that left. MsQuic's own rule (SetAppLimited) sees only a stream
 * that is blocked; everything posted being in flight is the common case. */
static BOOLEAN WmIsAppLimited(const QUIC_CONGESTION_CONTROL *Cc)
{
    const WmState *State = WmOfConst(Cc);
    const QUIC_CONNECTION *Connection = QuicCongestionControlGetConnection(Cc);
    const uint64_t Slack = (uint64_t)WM_SLACK_DATAGRAMS * State->Mtu;
    if ((uint64_t)State->BytesInFlight + Slack > State->Control.cwnd) {
        return FALSE;
    }
    return State->AppLimited || Connection->SendBuffer.PostedBytes + Connection->SendBuffer.BufferedBytes <=
                                    State->BytesInFlight;
}

static void WmSetAppLimited(QUIC_CONGESTION_CONTROL *Cc)
{
    WmOf(Cc)->AppLimited = TRUE;
}

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
};

/* What the settings ask for; NULL: MsQuic's own. */
static WmEntry *WmChoose(const QUIC_SETTINGS_INTERNAL *Settings)
{
    const uint16_t Wanted = (uint16_t)Settings->CongestionControlAlgorithm;
    WmEntry *Default = WmDefault();
    if (Wanted < WINDLASS_MSQUIC_FIRST_ID) {
        const BOOLEAN Asked = Settings->IsSet.CongestionControlAlgorithm ||
                              Wanted != QUIC_CONGESTION_CONTROL_ALGORITHM_DEFAULT;
        return Asked ? NULL : Default;
    }
    WmEntry *Entry = WmById(Wanted);
    static uint32_t Unknown;
    if (Entry == NULL && __atomic_fetch_add(&Unknown, 1, __ATOMIC_RELAXED) == 0) {
        WmSay("CongestionControlAlgorithm is 0x%04x, which no controller was registered as; MsQuic's CUBIC takes over",
              Wanted);
    }
    return Entry;
}

/* In place of MsQuic's, which is NativeQuicCongestionControlInitialize. */
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
    WmState *State = WmOf(Cc);
    State->Entry = Entry;
    WmInitialWindow(State, QuicCongestionControlGetConnection(Cc));
}

/* In place of MsQuic's: the last thing done with a connection's congestion control. */
void QuicLossDetectionUninitialize(QUIC_LOSS_DETECTION *LossDetection)
{
    NativeQuicLossDetectionUninitialize(LossDetection);
    QUIC_CONGESTION_CONTROL *Cc = &QuicLossDetectionGetConnection(LossDetection)->CongestionControl;
    if (WmIsOurs(Cc)) {
        WmStop(Cc);
    }
}
