/*
 * Loads the plugin as MsQuic does and drives a connection through its table: load PLUGIN. On Windows by
 * LoadLibrary, elsewhere by dlopen.
 */
#include <windlass_msquic.h>

#include "../../../testkit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static windlass_msquic_plugin_entry entry_of(const char *path) {
    windlass_msquic_plugin_entry entry = NULL;
#ifdef _WIN32
    HMODULE library = LoadLibraryA(path);
    CHECK(library != NULL);
    FARPROC symbol = GetProcAddress(library, "windlass_msquic_plugin_v1");
#else
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL);
    void *symbol = dlsym(library, "windlass_msquic_plugin_v1");
#endif
    CHECK(symbol != NULL && sizeof entry == sizeof symbol);
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    const windlass_msquic_plugin *plugin = entry_of(arguments[1])();
    CHECK(plugin->abi == WINDLASS_MSQUIC_ABI && plugin->size == sizeof *plugin);
    CHECK(strcmp(plugin->name, "windlass") == 0);

    char error[200] = "";
    CHECK(plugin->define("cubicc", error, sizeof error) == NULL && strstr(error, "cubicc") != NULL);
    void *definition = plugin->define("reno:iw=10", error, sizeof error);
    CHECK(definition != NULL);
    const windlass_msquic_path path = {
        .now_us = 1000, .peer_address = {[10] = 0xff, 0xff, 192, 0, 2, 1}, .mtu = 1200, .initial_window_packets = 10, .peer_port = 443};
    windlass_msquic_control control = {0};
    void *flow = plugin->start(definition, &path, &control, error, sizeof error);
    CHECK(flow != NULL && control.cwnd == 12000 && control.ssthresh == UINT32_MAX && control.phase == 0);

    /* One packet of slow start: the window grows by what is acknowledged (RFC 9002 section 7.3.1). */
    windlass_msquic_packet packet = {.number = 1, .sent_us = 1000, .total_sent = 12000, .bytes = 1200};
    for (uint64_t number = 1; number <= 10; number++) {
        const windlass_msquic_sent sent = {.now_us = 1000, .number = number, .bytes = 1200, .in_flight = (uint32_t)number * 1200, .mtu = 1200};
        plugin->sent(flow, &sent, &control);
    }
    const windlass_msquic_rtt rtt = {.latest_us = 40000, .smoothed_us = 40000, .variation_us = 20000, .min_us = 40000};
    const windlass_msquic_acked acked = {.now_us = 41000, .largest_sent = 10, .rtt = rtt, .posted = 1000000, .bytes = 1200,
        .in_flight_before = 12000, .in_flight = 10800, .mtu = 1200, .flags = WINDLASS_MSQUIC_ACKED_RTT, .packet_count = 1, .packets = &packet};
    plugin->acked(flow, &acked, &control);
    CHECK(control.cwnd == 13200 && control.phase == 0);

    /* A loss halves it (section 7.3.2). */
    packet.number = 2;
    const windlass_msquic_lost lost = {.now_us = 42000, .bytes = 1200, .in_flight_before = 10800, .in_flight = 9600, .mtu = 1200, .packet_count = 1,
        .packets = &packet};
    plugin->lost(flow, &lost, &control);
    CHECK(control.cwnd == 6600 && control.ssthresh == 6600);
    plugin->stop(flow);

#ifdef _WIN32
    CHECK(plugin->configure("cc.toml", error, sizeof error) == NULL && strstr(error, "MSQUIC_CC") != NULL);
#endif
    printf("%s: ABI %u, %u bytes: window %u after a loss\n", plugin->name, plugin->abi, plugin->size, control.cwnd);
    return 0;
}
