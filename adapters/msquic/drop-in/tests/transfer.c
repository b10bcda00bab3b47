/*
 * A program that uses MsQuic only: sends megabytes to itself over 127.0.0.1, compares what arrives with what was
 * sent, and prints MsQuic's statistics of the sender.
 *
 *   transfer CERTIFICATE KEY MEGABYTES APP-NAME CONGESTION-CONTROL-ALGORITHM
 *
 * The last is a number for QUIC_SETTINGS, or "-" to leave it alone. With ECN=1 in the
 * environment ECN is turned on, with ONE_WAY_DELAY=1 one-way delays. With REPEAT=1 each line of
 * standard input begins another connection that does the same.
 */
#define QUIC_API_ENABLE_PREVIEW_FEATURES 1
#include <msquic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 1 << 16, AHEAD = 32, TIMEOUT_S = 60 };

static const QUIC_API_TABLE *Api;
static HQUIC Registration, ServerConfiguration;
static const QUIC_BUFFER Alpn = {8, (uint8_t *)"transfer"};
/* Chunks that MsQuic may still read. */
static uint8_t Data[AHEAD][CHUNK];
static QUIC_BUFFER Buffers[AHEAD];
static pthread_mutex_t Sending = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by Sending: MsQuic may be done with the first chunk while the next is passed on. */
static uint64_t Left; /* chunks not passed to the stream yet */
static uint64_t Passed; /* bytes passed to the stream */

static pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t Changed = PTHREAD_COND_INITIALIZER;
/* Guarded by Lock. */
static uint64_t Received, Reports, MostInFlight, LeastWindow = UINT64_MAX, MostWindow;
static int Ended, Closed;

static void Fail(const char *Operation, QUIC_STATUS Status)
{
    fprintf(stderr, "transfer: %s: status %d\n", Operation, (int)Status);
    exit(1);
}

static void Check(const char *Operation, QUIC_STATUS Status)
{
    if (QUIC_FAILED(Status)) {
        Fail(Operation, Status);
    }
}

static void SetFlag(int *Flag)
{
    pthread_mutex_lock(&Lock);
    *Flag = 1;
    pthread_cond_signal(&Changed);
    pthread_mutex_unlock(&Lock);
}

static void Wait(const int *Flag, const char *Event)
{
    struct timespec Until;
    clock_gettime(CLOCK_REALTIME, &Until);
    Until.tv_sec += TIMEOUT_S;
    pthread_mutex_lock(&Lock);
    while (!*Flag) {
        if (pthread_cond_timedwait(&Changed, &Lock, &Until) != 0) {
            fprintf(stderr, "transfer: no %s within %d s; %llu bytes arrived\n", Event, TIMEOUT_S,
                    (unsigned long long)Received);
            exit(1);
        }
    }
    pthread_mutex_unlock(&Lock);
}

/* The byte at an offset of every stream. */
static uint8_t ByteAt(uint64_t Offset)
{
    return (uint8_t)(Offset ^ (Offset >> 8) ^ (Offset >> 16));
}

static void CompareWithSent(uint64_t Offset, const QUIC_BUFFER *Buffer)
{
    for (uint32_t i = 0; i < Buffer->Length; ++i, ++Offset) {
        if (Buffer->Buffer[i] != ByteAt(Offset)) {
            fprintf(stderr, "transfer: byte %llu arrived as %u, sent was %u\n", (unsigned long long)Offset,
                    Buffer->Buffer[i], ByteAt(Offset));
            exit(1);
        }
    }
}

static QUIC_STATUS OnServerStream(HQUIC Stream, void *Context, QUIC_STREAM_EVENT *Event)
{
    (void)Context;
    switch (Event->Type) {
    case QUIC_STREAM_EVENT_RECEIVE: {
        uint64_t Offset = Event->RECEIVE.AbsoluteOffset;
        for (uint32_t i = 0; i < Event->RECEIVE.BufferCount; ++i) {
            CompareWithSent(Offset, &Event->RECEIVE.Buffers[i]);
            Offset += Event->RECEIVE.Buffers[i].Length;
        }
        pthread_mutex_lock(&Lock);
        Received += Event->RECEIVE.TotalBufferLength;
        pthread_mutex_unlock(&Lock);
        break;
    }
    case QUIC_STREAM_EVENT_PEER_SEND_SHUTDOWN:
        Api->StreamShutdown(Stream, QUIC_STREAM_SHUTDOWN_FLAG_GRACEFUL, 0);
        break;
    case QUIC_STREAM_EVENT_SHUTDOWN_COMPLETE:
        Api->StreamClose(Stream);
        break;
    default:
        break;
    }
    return QUIC_STATUS_SUCCESS;
}

static QUIC_STATUS OnServerConnection(HQUIC Connection, void *Context, QUIC_CONNECTION_EVENT *Event)
{
    (void)Context;
    if (Event->Type == QUIC_CONNECTION_EVENT_PEER_STREAM_STARTED) {
        Api->SetCallbackHandler(Event->PEER_STREAM_STARTED.Stream, (void *)OnServerStream, NULL);
    } else if (Event->Type == QUIC_CONNECTION_EVENT_SHUTDOWN_COMPLETE) {
        Api->ConnectionClose(Connection);
    }
    return QUIC_STATUS_SUCCESS;
}

static QUIC_STATUS OnListener(HQUIC Listener, void *Context, QUIC_LISTENER_EVENT *Event)
{
    (void)Listener;
    (void)Context;
    if (Event->Type != QUIC_LISTENER_EVENT_NEW_CONNECTION) {
        return QUIC_STATUS_SUCCESS;
    }
    HQUIC Connection = Event->NEW_CONNECTION.Connection;
    Api->SetCallbackHandler(Connection, (void *)OnServerConnection, NULL);
    return Api->ConnectionSetConfiguration(Connection, ServerConfiguration);
}

/* Sends the next chunk, if there is one left, in a buffer that MsQuic does not read. */
static void SendNext(HQUIC Stream, QUIC_BUFFER *Buffer)
{
    pthread_mutex_lock(&Sending);
    if (Left == 0) {
        pthread_mutex_unlock(&Sending);
        return;
    }
    --Left;
    for (uint32_t i = 0; i < Buffer->Length; ++i, ++Passed) {
        Buffer->Buffer[i] = ByteAt(Passed);
    }
    Check("StreamSend",
          Api->StreamSend(Stream, Buffer, 1, Left == 0 ? QUIC_SEND_FLAG_FIN : QUIC_SEND_FLAG_NONE, Buffer));
    pthread_mutex_unlock(&Sending);
}

static QUIC_STATUS OnClientStream(HQUIC Stream, void *Context, QUIC_STREAM_EVENT *Event)
{
    (void)Context;
    switch (Event->Type) {
    case QUIC_STREAM_EVENT_SEND_COMPLETE:
        SendNext(Stream, Event->SEND_COMPLETE.ClientContext);
        break;
    case QUIC_STREAM_EVENT_SHUTDOWN_COMPLETE:
        SetFlag(&Ended);
        break;
    default:
        break;
    }
    return QUIC_STATUS_SUCCESS;
}

static QUIC_STATUS OnClientConnection(HQUIC Connection, void *Context, QUIC_CONNECTION_EVENT *Event)
{
    (void)Connection;
    (void)Context;
    if (Event->Type == QUIC_CONNECTION_EVENT_NETWORK_STATISTICS) {
        const uint64_t InFlight = Event->NETWORK_STATISTICS.BytesInFlight;
        const uint64_t Window = Event->NETWORK_STATISTICS.CongestionWindow;
        pthread_mutex_lock(&Lock);
        ++Reports;
        MostInFlight = InFlight > MostInFlight ? InFlight : MostInFlight;
        MostWindow = Window > MostWindow ? Window : MostWindow;
        LeastWindow = Window < LeastWindow ? Window : LeastWindow;
        pthread_mutex_unlock(&Lock);
    } else if (Event->Type == QUIC_CONNECTION_EVENT_SHUTDOWN_COMPLETE) {
        SetFlag(&Closed);
    }
    return QUIC_STATUS_SUCCESS;
}

static int IsOn(const char *Name)
{
    const char *Value = getenv(Name);
    return Value != NULL && strcmp(Value, "1") == 0;
}

static HQUIC Configure(const char *Algorithm, const QUIC_CREDENTIAL_CONFIG *Credential)
{
    QUIC_SETTINGS Settings;
    memset(&Settings, 0, sizeof(Settings));
    Settings.IdleTimeoutMs = 20000;
    Settings.IsSet.IdleTimeoutMs = 1;
    Settings.PeerBidiStreamCount = 1;
    Settings.IsSet.PeerBidiStreamCount = 1;
    Settings.StreamRecvWindowDefault = 1 << 23;
    Settings.IsSet.StreamRecvWindowDefault = 1;
    Settings.NetStatsEventEnabled = 1;
    Settings.IsSet.NetStatsEventEnabled = 1;
    if (IsOn("ECN")) {
        Settings.EcnEnabled = 1;
        Settings.IsSet.EcnEnabled = 1;
    }
    if (IsOn("ONE_WAY_DELAY")) {
        Settings.OneWayDelayEnabled = 1;
        Settings.IsSet.OneWayDelayEnabled = 1;
    }
    if (Algorithm != NULL) {
        Settings.CongestionControlAlgorithm = (uint16_t)strtoul(Algorithm, NULL, 0);
        Settings.IsSet.CongestionControlAlgorithm = 1;
    }
    HQUIC Configuration;
    Check("ConfigurationOpen",
          Api->ConfigurationOpen(Registration, &Alpn, 1, &Settings, sizeof(Settings), NULL, &Configuration));
    Check("ConfigurationLoadCredential", Api->ConfigurationLoadCredential(Configuration, Credential));
    return Configuration;
}

/* One connection that sends `Chunks` to `Address`; prints its statistics. */
static int Transfer(uint64_t Chunks, HQUIC ClientConfiguration, const QUIC_ADDR *Address)
{
    HQUIC Connection, Stream;
    pthread_mutex_lock(&Sending);
    Left = Chunks;
    Passed = 0;
    pthread_mutex_unlock(&Sending);
    pthread_mutex_lock(&Lock);
    Received = Reports = MostInFlight = MostWindow = 0;
    LeastWindow = UINT64_MAX;
    Ended = Closed = 0;
    pthread_mutex_unlock(&Lock);
    Check("ConnectionOpen", Api->ConnectionOpen(Registration, OnClientConnection, NULL, &Connection));
    Check("StreamOpen", Api->StreamOpen(Connection, QUIC_STREAM_OPEN_FLAG_NONE, OnClientStream, NULL, &Stream));
    Check("StreamStart", Api->StreamStart(Stream, QUIC_STREAM_START_FLAG_NONE));
    for (int i = 0; i < AHEAD; ++i) {
        Buffers[i] = (QUIC_BUFFER){CHUNK, Data[i]};
        SendNext(Stream, &Buffers[i]);
    }
    Check("ConnectionStart", Api->ConnectionStart(Connection, ClientConfiguration, QUIC_ADDRESS_FAMILY_INET,
                                                  "127.0.0.1", QuicAddrGetPort(Address)));
    Wait(&Ended, "end of the stream");

    Api->ConnectionShutdown(Connection, QUIC_CONNECTION_SHUTDOWN_FLAG_NONE, 0);
    Wait(&Closed, "end of the connection");
    /* Until here the connection may declare packets lost. */
    QUIC_STATISTICS_V2 Statistics;
    uint32_t Size = sizeof(Statistics);
    Check("STATISTICS_V2", Api->GetParam(Connection, QUIC_PARAM_CONN_STATISTICS_V2, &Size, &Statistics));

    printf("received %llu window %u mtu %u reports %llu least %llu most %llu in-flight %llu lost %llu "
           "congestion %u\n",
           (unsigned long long)Received, Statistics.SendCongestionWindow, Statistics.SendPathMtu,
           (unsigned long long)Reports, (unsigned long long)LeastWindow, (unsigned long long)MostWindow,
           (unsigned long long)MostInFlight, (unsigned long long)Statistics.SendSuspectedLostPackets,
           Statistics.SendCongestionCount);

    Api->StreamClose(Stream);
    Api->ConnectionClose(Connection);
    fflush(stdout);
    return Received == Chunks * CHUNK;
}

int main(int Count, char **Values)
{
    if (Count != 6) {
        fprintf(stderr, "usage: transfer CERTIFICATE KEY MEGABYTES APP-NAME CONGESTION-CONTROL-ALGORITHM\n");
        return 2;
    }
    const char *Algorithm = strcmp(Values[5], "-") == 0 ? NULL : Values[5];
    const QUIC_REGISTRATION_CONFIG Names = {Values[4], QUIC_EXECUTION_PROFILE_LOW_LATENCY};
    Check("MsQuicOpen2", MsQuicOpen2(&Api));
    Check("RegistrationOpen", Api->RegistrationOpen(&Names, &Registration));

    QUIC_CERTIFICATE_FILE Files = {.PrivateKeyFile = Values[2], .CertificateFile = Values[1]};
    QUIC_CREDENTIAL_CONFIG Credential;
    memset(&Credential, 0, sizeof(Credential));
    Credential.Type = QUIC_CREDENTIAL_TYPE_CERTIFICATE_FILE;
    Credential.CertificateFile = &Files;
    ServerConfiguration = Configure(NULL, &Credential);
    memset(&Credential, 0, sizeof(Credential));
    Credential.Flags = QUIC_CREDENTIAL_FLAG_CLIENT | QUIC_CREDENTIAL_FLAG_NO_CERTIFICATE_VALIDATION;
    HQUIC ClientConfiguration = Configure(Algorithm, &Credential);

    HQUIC Listener;
    QUIC_ADDR Address;
    memset(&Address, 0, sizeof(Address));
    QuicAddrFromString("127.0.0.1", 0, &Address);
    Check("ListenerOpen", Api->ListenerOpen(Registration, OnListener, NULL, &Listener));
    Check("ListenerStart", Api->ListenerStart(Listener, &Alpn, 1, &Address));
    uint32_t Size = sizeof(Address);
    Check("LOCAL_ADDRESS", Api->GetParam(Listener, QUIC_PARAM_LISTENER_LOCAL_ADDRESS, &Size, &Address));

    const uint64_t Chunks = strtoull(Values[3], NULL, 10) * (1000000 / CHUNK + 1);
    int Complete = Transfer(Chunks, ClientConfiguration, &Address);
    char Line[16];
    while (IsOn("REPEAT") && fgets(Line, sizeof(Line), stdin) != NULL) {
        Complete = Transfer(Chunks, ClientConfiguration, &Address) && Complete;
    }

    Api->ListenerClose(Listener);
    Api->ConfigurationClose(ClientConfiguration);
    Api->ConfigurationClose(ServerConfiguration);
    Api->RegistrationClose(Registration);
    MsQuicClose(Api);
    return Complete ? 0 : 1;
}
