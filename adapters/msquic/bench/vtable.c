/*
 * Time per acknowledgement, through MsQuic's own table of functions.
 *
 *   vtable PLUGIN CONTROLLER…
 *
 * MsQuic's CUBIC and BBR and each of the controllers get a mock connection with the fields that
 * congestion control reads. An iteration is one ACK frame for two packets, with an RTT sample, and the
 * packets that the window then allows. Whenever 100 packets are in flight, a quarter of them is lost.
 * The result is the best of several rounds, in which the controllers take turns.
 */
#include "precomp.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "windlass_msquic.h"

enum { ITERATIONS = 200000, ROUNDS = 9, MAX_PACKETS = 100, LOST = MAX_PACKETS / 4, RTT_US = 40000, SIZE = 1472, MAX_SUBJECTS = 64 };
/* A round trip of some 90 packets, two per iteration. */
enum { ITERATION_US = RTT_US * 2 / 90 };

typedef struct Subject {
    const char *Name;
    QUIC_CONNECTION *Connection;
    QUIC_SENT_PACKET_METADATA *Packets[2];
    QUIC_SENT_PACKET_METADATA *LostPackets[LOST];
    uint64_t Now, Sent, Ended, Lost;
    double Best;
} Subject;

static void Fail(const char *Operation)
{
    fprintf(stderr, "vtable: %s: %s\n", Operation, windlass_msquic_error());
    exit(1);
}

static void Send(Subject *S)
{
    QUIC_CONNECTION *C = S->Connection;
    C->LossDetection.LargestSentPacketNumber = ++S->Sent;
    C->LossDetection.TimeOfLastPacketSent = S->Now;
    C->LossDetection.TotalBytesSent += SIZE;
    C->SendBuffer.PostedBytes = 1 << 30;
    QuicCongestionControlOnDataSent(&C->CongestionControl, SIZE);
}

/* Sends as many packets as the window allows, at most four. */
static void Fill(Subject *S)
{
    for (int i = 0; i < 4 && QuicCongestionControlCanSend(&S->Connection->CongestionControl); ++i) {
        Send(S);
    }
}

static void Lose(Subject *S)
{
    QUIC_CONNECTION *C = S->Connection;
    for (int i = 0; i < LOST; ++i) {
        QUIC_SENT_PACKET_METADATA *P = S->LostPackets[i];
        P->PacketNumber = S->Ended + 1 + (uint64_t)i;
        P->SentTime = S->Now - RTT_US;
        P->PacketLength = SIZE;
        P->Flags.IsAckEliciting = TRUE;
        P->Next = i + 1 < LOST ? S->LostPackets[i + 1] : NULL;
    }
    C->LossDetection.LostPackets = S->LostPackets[0];
    S->Ended += LOST;
    S->Lost += LOST;
    const QUIC_LOSS_EVENT Event = {
        .LargestPacketNumberLost = S->Ended,
        .LargestSentPacketNumber = S->Sent,
        .NumRetransmittableBytes = LOST * SIZE,
    };
    QuicCongestionControlOnDataLost(&C->CongestionControl, &Event);
}

static void Acknowledge(Subject *S)
{
    QUIC_CONNECTION *C = S->Connection;
    const uint64_t InFlight = S->Sent - S->Ended;
    for (int i = 0; i < 2; ++i) {
        QUIC_SENT_PACKET_METADATA *P = S->Packets[i];
        P->PacketNumber = ++S->Ended;
        P->SentTime = S->Now - RTT_US;
        P->PacketLength = SIZE;
        P->Flags.IsAckEliciting = TRUE;
        P->Flags.KeyType = QUIC_PACKET_KEY_1_RTT;
        P->Flags.HasLastAckedPacketInfo = TRUE;
        P->TotalBytesSent = S->Ended * SIZE;
        P->LastAckedPacketInfo.TotalBytesAcked = (S->Ended - S->Lost - InFlight) * SIZE;
        P->LastAckedPacketInfo.AckTime = S->Now - RTT_US;
        P->LastAckedPacketInfo.SentTime = S->Now - 2 * RTT_US;
        P->LastAckedPacketInfo.AdjustedAckTime = S->Now - RTT_US;
        P->Next = i == 0 ? S->Packets[1] : NULL;
    }
    C->LossDetection.TotalBytesAcked += 2 * SIZE;
    const QUIC_ACK_EVENT Event = {
        .TimeNow = S->Now,
        .LargestAck = S->Ended,
        .LargestSentPacketNumber = S->Sent,
        .NumRetransmittableBytes = 2 * SIZE,
        .NumTotalAckedRetransmittableBytes = C->LossDetection.TotalBytesAcked,
        .SmoothedRtt = RTT_US,
        .MinRtt = RTT_US,
        .AdjustedAckTime = S->Now,
        .AckedPackets = S->Packets[0],
        .MinRttValid = TRUE,
    };
    QuicCongestionControlOnDataAcknowledged(&C->CongestionControl, &Event);
}

static Subject Make(const char *Name, uint16_t Algorithm)
{
    Subject S = {.Name = Name, .Now = CxPlatTimeUs64() + 1000000, .Sent = MAX_PACKETS, .Ended = MAX_PACKETS, .Best = 1e9};
    for (int i = 0; i < 2; ++i) {
        S.Packets[i] = calloc(1, sizeof(QUIC_SENT_PACKET_METADATA) + 16 * sizeof(QUIC_SENT_FRAME_METADATA));
    }
    for (int i = 0; i < LOST; ++i) {
        S.LostPackets[i] = calloc(1, sizeof(QUIC_SENT_PACKET_METADATA) + 16 * sizeof(QUIC_SENT_FRAME_METADATA));
    }
    QUIC_CONNECTION *C = S.Connection = calloc(1, sizeof(*C));
    QUIC_PATH *Path = &C->Paths[0];
    C->PathsCount = 1;
    Path->Mtu = 1500;
    Path->GotFirstRttSample = TRUE;
    Path->SmoothedRtt = Path->MinRtt = Path->LatestRttSample = RTT_US;
    Path->RttVariance = 1000;
    QuicAddrFromString("192.0.2.1", 443, &Path->Route.RemoteAddress);
    C->Settings.InitialWindowPackets = 10;
    C->Settings.IsSet.CongestionControlAlgorithm = TRUE;
    C->Settings.CongestionControlAlgorithm = (QUIC_CONGESTION_CONTROL_ALGORITHM)Algorithm;
    C->Settings.EcnEnabled = TRUE;
    C->Settings.OneWayDelayEnabled = TRUE;
    QuicCongestionControlInitialize(&C->CongestionControl, &C->Settings);
    Fill(&S);
    return S;
}

static void Measure(Subject *S)
{
    struct timespec Begin, End;
    clock_gettime(CLOCK_MONOTONIC, &Begin);
    for (int i = 0; i < ITERATIONS; ++i) {
        S->Now += ITERATION_US;
        if (S->Sent - S->Ended >= MAX_PACKETS) {
            Lose(S);
        }
        if (S->Sent - S->Ended >= 2) {
            Acknowledge(S);
        }
        Fill(S);
    }
    clock_gettime(CLOCK_MONOTONIC, &End);
    const double Ns = (double)(End.tv_sec - Begin.tv_sec) * 1e9 + (double)(End.tv_nsec - Begin.tv_nsec);
    S->Best = CXPLAT_MIN(S->Best, Ns / ITERATIONS);
}

int main(int Count, char **Values)
{
    Subject All[MAX_SUBJECTS];
    int Subjects = 0;
    if (Count < 2 || Count - 2 > MAX_SUBJECTS - 2) {
        fprintf(stderr, "usage: vtable PLUGIN CONTROLLER…\n");
        return 2;
    }
    CxPlatSystemLoad();
    if (QUIC_FAILED(CxPlatInitialize()) || windlass_msquic_load(Values[1]) != 0) {
        Fail("start");
    }
    All[Subjects++] = Make("MsQuic's cubic", QUIC_CONGESTION_CONTROL_ALGORITHM_CUBIC);
    All[Subjects++] = Make("MsQuic's bbr", QUIC_CONGESTION_CONTROL_ALGORITHM_BBR);
    for (int i = 2; i < Count; ++i) {
        uint16_t Id;
        if (windlass_msquic_register(Values[i], &Id) != 0) {
            Fail(Values[i]);
        }
        All[Subjects++] = Make(Values[i], Id);
    }
    for (int Round = 0; Round < ROUNDS; ++Round) {
        for (int i = 0; i < Subjects; ++i) {
            Measure(&All[i]);
        }
    }
    for (int i = 0; i < Subjects; ++i) {
        const Subject *S = &All[i];
        printf("%s: %.0f ns, %.2f times MsQuic's cubic; %.1f packets per iteration, %.1f in a thousand lost, %.0f in flight at the end\n", S->Name, S->Best,
               S->Best / All[0].Best, (double)(S->Sent - MAX_PACKETS) / (ROUNDS * ITERATIONS), 1e3 * (double)S->Lost / (double)S->Sent, (double)(S->Sent - S->Ended));
    }
    return 0;
}
