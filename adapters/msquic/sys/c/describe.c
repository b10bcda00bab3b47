/* What a connection is, for plugins. */
#include "precomp.h"

#include <stdio.h>
#include <string.h>

#include "describe.h"

#if WINDLASS_PACKETS
static const uint8_t WmPackets = WINDLASS_MSQUIC_PACKETS;
#else
static const uint8_t WmPackets = 0;
#endif

void WmDescribe(const QUIC_CONNECTION *Connection, windlass_msquic_path *Path, char *AppName)
{
    const QUIC_ADDR *Peer = &Connection->Paths[0].Route.RemoteAddress;
    CxPlatZeroMemory(Path, sizeof(*Path));
    Path->now_us = CxPlatTimeUs64();
    Path->connection = Connection->Stats.CorrelationId;
    Path->mtu = WmMtu(Connection);
    Path->initial_window_packets = Connection->Settings.InitialWindowPackets;
    Path->is_server = QuicConnIsServer(Connection) ? 1 : 0;
    Path->reports = (Connection->Settings.EcnEnabled ? WINDLASS_MSQUIC_ECN : 0) |
                    (Connection->Settings.OneWayDelayEnabled ? WINDLASS_MSQUIC_ONE_WAY : 0) | WmPackets;
    if (QuicAddrGetFamily(Peer) == QUIC_ADDRESS_FAMILY_INET6) {
        memcpy(Path->peer_address, &Peer->Ipv6.sin6_addr, 16);
    } else {
        Path->peer_address[10] = Path->peer_address[11] = 0xff;
        memcpy(Path->peer_address + 12, &Peer->Ipv4.sin_addr, 4);
    }
    Path->peer_port = QuicAddrGetPort(Peer);
    Path->server_name = Connection->RemoteServerName;
    const QUIC_REGISTRATION *Registration = Connection->Registration;
    if (Registration != NULL && Registration->AppNameLength != 0) {
        /* Its length counts the NUL or does not, by who wrote it. */
        snprintf(AppName, WM_APP_NAME_SIZE, "%.*s", (int)Registration->AppNameLength, Registration->AppName);
        Path->app_name = AppName;
    }
}
