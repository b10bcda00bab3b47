/* What a connection is, for plugins. To be included after MsQuic's precomp.h. */
#ifndef WINDLASS_MSQUIC_DESCRIBE_H
#define WINDLASS_MSQUIC_DESCRIBE_H

#include "windlass_msquic.h"

enum { WM_LEAST_MTU = 1200, WM_APP_NAME_SIZE = UINT8_MAX + 1 };

/* UDP payload of a full datagram. The path has no MTU until settings are applied. */
static inline uint32_t WmMtu(const QUIC_CONNECTION *Connection)
{
    const QUIC_PATH *Path = &Connection->Paths[0];
    return Path->Mtu != 0 ? QuicPathGetDatagramPayloadSize(Path) : WM_LEAST_MTU;
}

/* The path of a connection with nothing in flight. `AppName` has WM_APP_NAME_SIZE bytes. */
void WmDescribe(const QUIC_CONNECTION *Connection, windlass_msquic_path *Path, char *AppName);

/* What the congestion control of this adapter allows, and what it has in flight; NULL if the
 * connection has one of MsQuic's own. */
const windlass_msquic_control *WmControl(const QUIC_CONGESTION_CONTROL *Cc, uint32_t *InFlight);

#endif
