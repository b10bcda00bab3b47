/* windlass' congestion controllers as picoquic takes them. */
#ifndef WINDLASS_PICOQUIC_H
#define WINDLASS_PICOQUIC_H

#include <picoquic.h>
#include <stddef.h>

/* Returns a congestion algorithm for picoquic_set_default_congestion_algorithm: the controller
 * that a user types as NAME or NAME:parameter=value,..., or, if `name` ends in ".toml", what that
 * configuration file says. NULL after an error, whose text is written to the `size` bytes at
 * `error`. Free it with windlass_picoquic_free when no connection uses it any more. */
picoquic_congestion_algorithm_t const *windlass_picoquic_new(const char *name, char *error,
                                                             size_t size);
void windlass_picoquic_free(picoquic_congestion_algorithm_t const *algorithm);

#endif
