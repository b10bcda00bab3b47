/* What a program of a test holds its calls against: a condition that is false ends it with its place. */
#ifndef WINDLASS_CHECK_H
#define WINDLASS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                    \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

#endif
