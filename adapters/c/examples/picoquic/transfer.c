/*
 * A transfer from a picoquic server to a picoquic client in virtual time, over picoquic's own
 * simulated link, with one of windlass' controllers on the server.
 *
 * usage: transfer CONTROLLER BYTES MBIT_S RTT_MS QUEUE_MS LOSS_PERMILLE PICOQUIC_SOURCE [QLOG_DIRECTORY]
 *
 * Prints what the client received, the virtual time it took and the packets that were dropped. A
 * CONTROLLER `picoquic:NAME` is one of picoquic's own, for comparison.
 */
#include "windlass_picoquic.h"

#include "picoquic_internal.h"
#include "picoquic_qlog.h"
#include "picoquic_utils.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t wanted, received, damaged;
static int finished;

/* The byte at a place of the stream. */
static uint8_t byte_at(uint64_t place) { return (uint8_t)((place * 2654435761u) >> 13); }

static int at_client(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                     picoquic_call_back_event_t event, void *context, void *stream_context) {
    (void)stream, (void)context, (void)stream_context;
    if (event == picoquic_callback_stream_data || event == picoquic_callback_stream_fin) {
        for (size_t i = 0; i < length; i++)
            damaged += bytes[i] != byte_at(received + i);
        received += length;
        if (event == picoquic_callback_stream_fin) {
            finished = 1;
            picoquic_close(cnx, 0);
        }
    }
    return 0;
}

static int at_server(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                     picoquic_call_back_event_t event, void *context, void *stream_context) {
    static uint64_t sent;
    (void)context, (void)stream_context;
    if (event == picoquic_callback_stream_fin)
        return picoquic_mark_active_stream(cnx, stream, 1, NULL);
    if (event == picoquic_callback_prepare_to_send) {
        const uint64_t left = wanted - sent;
        const size_t now = left < length ? (size_t)left : length;
        uint8_t *buffer = picoquic_provide_stream_data_buffer(bytes, now, now == left, now < left);
        for (size_t i = 0; buffer != NULL && i < now; i++)
            buffer[i] = byte_at(sent + i);
        sent += now;
    }
    return 0;
}

static double number(const char *text, const char *what) {
    char *end;
    const double value = strtod(text, &end);
    if (*text == 0 || *end != 0 || !(value >= 0)) {
        fprintf(stderr, "%s is \"%s\"; expected a number from 0\n", what, text);
        exit(2);
    }
    return value;
}

/* Sends what `quic` has for now over `link`; returns whether that was anything. */
static int send_all(picoquic_quic_t *quic, picoquictest_sim_link_t *link, uint64_t now) {
    int sent = 0;
    for (;;) {
        picoquictest_sim_packet_t *packet = picoquictest_sim_link_create_packet();
        if (packet == NULL)
            return sent;
        int interface = 0;
        const int failed = picoquic_prepare_next_packet(quic, now, packet->bytes, PICOQUIC_MAX_PACKET_SIZE,
                                                        &packet->length, &packet->addr_to, &packet->addr_from,
                                                        &interface, NULL, NULL);
        if (failed != 0 || packet->length == 0) {
            free(packet);
            return sent;
        }
        picoquictest_sim_link_submit(link, packet, now);
        sent = 1;
    }
}

/* Delivers what arrives at `quic` over `link` by now; returns whether that was anything. */
static int receive_all(picoquic_quic_t *quic, picoquictest_sim_link_t *link, struct sockaddr_in *from,
                       struct sockaddr_in *to, uint64_t now) {
    picoquictest_sim_packet_t *packet;
    int any = 0;
    while ((packet = picoquictest_sim_link_dequeue(link, now)) != NULL) {
        picoquic_incoming_packet(quic, packet->bytes, packet->length, (struct sockaddr *)from,
                                 (struct sockaddr *)to, 0, packet->ecn_mark, now);
        free(packet);
        any = 1;
    }
    return any;
}

int main(int count, char **arguments) {
    if (count < 8 || count > 9) {
        fprintf(stderr, "usage: %s CONTROLLER BYTES MBIT_S RTT_MS QUEUE_MS LOSS_PERMILLE PICOQUIC_SOURCE [QLOG_DIRECTORY]\n",
                arguments[0]);
        return 2;
    }
    char error[400];
    picoquic_congestion_algorithm_t const *ours = NULL, *algorithm;
    if (strncmp(arguments[1], "picoquic:", 9) == 0) {
        picoquic_register_all_congestion_control_algorithms();
        algorithm = picoquic_get_congestion_algorithm(arguments[1] + 9);
        snprintf(error, sizeof error, "picoquic has no controller \"%s\"", arguments[1] + 9);
    } else {
        algorithm = ours = windlass_picoquic_new(arguments[1], error, sizeof error);
    }
    if (algorithm == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    wanted = (uint64_t)number(arguments[2], "BYTES");
    const double rate = number(arguments[3], "MBIT_S") / 1000, rtt = number(arguments[4], "RTT_MS");
    const double queue = number(arguments[5], "QUEUE_MS");
    uint64_t permille = (uint64_t)number(arguments[6], "LOSS_PERMILLE"), dice = 1;
    char certificate[1000], key[1000];
    snprintf(certificate, sizeof certificate, "%s/certs/cert.pem", arguments[7]);
    snprintf(key, sizeof key, "%s/certs/key.pem", arguments[7]);

    uint64_t now = 1000000;
    picoquic_quic_t *server = picoquic_create(4, certificate, key, NULL, "windlass", at_server, NULL, NULL, NULL, NULL,
                                              now, &now, NULL, NULL, 0);
    picoquic_quic_t *client =
        picoquic_create(4, NULL, NULL, NULL, "windlass", NULL, NULL, NULL, NULL, NULL, now, &now, NULL, NULL, 0);
    if (server == NULL || client == NULL) {
        fprintf(stderr, "picoquic cannot start with %s\n", certificate);
        return 1;
    }
    picoquic_set_null_verifier(client);
    picoquic_set_default_congestion_algorithm(server, algorithm);
    if (count == 9) {
        picoquic_set_qlog(server, arguments[8]);
        picoquic_set_log_level(server, 1);
    }
    struct sockaddr_in at[2];
    memset(at, 0, sizeof at);
    for (int side = 0; side < 2; side++) {
        at[side].sin_family = AF_INET;
        at[side].sin_addr.s_addr = htonl(0xc0000201u + (uint32_t)side);
        at[side].sin_port = htons((uint16_t)(4433 + side));
    }
    const uint64_t one_way = (uint64_t)(rtt * 500);
    picoquictest_sim_link_t *down =
        picoquictest_sim_link_create(rate, one_way, NULL, (uint64_t)(queue * 1000), now);
    picoquictest_sim_link_t *up = picoquictest_sim_link_create(rate, one_way, NULL, 0, now);
    picoquic_cnx_t *cnx = picoquic_create_cnx(client, picoquic_null_connection_id, picoquic_null_connection_id,
                                              (struct sockaddr *)&at[0], now, 0, "example.org", "windlass", 1);
    picoquic_set_callback(cnx, at_client, NULL);
    if (picoquic_start_client_cnx(cnx) != 0 || picoquic_add_to_stream(cnx, 0, (const uint8_t *)"GET", 3, 1) != 0) {
        fprintf(stderr, "picoquic cannot connect\n");
        return 1;
    }

    const uint64_t began = now, limit = now + 600u * 1000000u;
    uint64_t done = 0, mask = 0;
    down->loss_mask = &mask;
    while (now < limit && (!finished || now < done + 1000000)) {
        if (finished && done == 0)
            done = now;
        int any = send_all(client, up, now);
        /* The link drops the next packet if the lowest bit is set. */
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        mask = (dice >> 33) % 1000 < permille && now > began + 1000000;
        any |= send_all(server, down, now);
        any |= receive_all(client, down, &at[0], &at[1], now);
        any |= receive_all(server, up, &at[1], &at[0], now);
        if (any)
            continue;
        uint64_t next = picoquic_get_next_wake_time(client, now);
        const uint64_t server_next = picoquic_get_next_wake_time(server, now);
        next = server_next < next ? server_next : next;
        next = picoquictest_sim_link_next_arrival(down, next);
        next = picoquictest_sim_link_next_arrival(up, next);
        now = next > now ? next : now + 1;
    }
    const double seconds = (double)((done != 0 ? done : now) - began) / 1e6;
    printf("%s: %" PRIu64 " bytes, %" PRIu64 " of them wrong, in %.3f s: %.2f Mbit/s; %" PRIu64 " packets dropped\n",
           arguments[1], received, damaged, seconds, (double)received * 8e-6 / seconds, down->packets_dropped);
    picoquic_free(client);
    picoquic_free(server);
    picoquictest_sim_link_delete(down);
    picoquictest_sim_link_delete(up);
    windlass_picoquic_free(ours);
    return received == wanted && damaged == 0 ? 0 : 1;
}
