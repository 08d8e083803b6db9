/* Reads memory as app/probes/bandwidth.py does, in plain C: sums of int64, one thread.
   read_loop BYTES REPETITIONS HUGE(0|1): prints "wall_bps cpu_bps" for each repetition. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define SLICE ((size_t)16 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static int64_t sum(const int64_t *values, size_t n) {
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) total += values[i];
    return total;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    size_t slices = strtoull(argv[1], NULL, 10) / SLICE;
    int repetitions = atoi(argv[2]), huge = atoi(argv[3]);
    int64_t **parts = calloc(slices, sizeof *parts);
    if (!parts || !slices) return 1;
    for (size_t s = 0; s < slices; s++) {
        if (posix_memalign((void **)&parts[s], HUGE_PAGE, SLICE)) return 1;
        madvise(parts[s], SLICE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        for (size_t i = 0; i < SLICE / 8; i++) parts[s][i] = (int64_t)(s + 1);
    }
    volatile int64_t kept = 0;
    for (int r = -1; r < repetitions; r++) { /* the first pass warms up */
        double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
        for (size_t s = 0; s < slices; s++) kept += sum(parts[s], SLICE / 8);
        wall = seconds(CLOCK_MONOTONIC) - wall;
        cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
        if (r >= 0) printf("%.0f %.0f\n", slices * SLICE / wall, slices * SLICE / cpu);
    }
    return kept == 0;
}
