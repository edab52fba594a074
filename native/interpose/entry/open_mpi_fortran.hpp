#pragma once

#include <mpi.h>

// What Fortran programs call on Open MPI: its Fortran layer calls the PMPI functions, so the C entry points never see
// these calls. All arguments are addresses, the last one that of the error code; `words` is their number. mpif.h and
// the module mpi call one of several spellings, depending on the compiler; mpi_f08 calls `ompi_*_f`.

#define TIMPANI_WORDS_1 (void* a)
#define TIMPANI_WORDS_2 (void* a, void* b)
#define TIMPANI_WORDS_3 (void* a, void* b, void* c)
#define TIMPANI_WORDS_4 (void* a, void* b, void* c, void* d)
#define TIMPANI_WORDS_5 (void* a, void* b, void* c, void* d, void* e)
#define TIMPANI_WORDS_6 (void* a, void* b, void* c, void* d, void* e, void* f)
#define TIMPANI_WORDS_7 (void* a, void* b, void* c, void* d, void* e, void* f, void* g)
#define TIMPANI_WORDS_8 (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h)
#define TIMPANI_WORDS_9 (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i)
#define TIMPANI_WORDS_10 (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j)
#define TIMPANI_WORDS_13                                                                                         \
    (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j, void* k, void* l, \
     void* m)
#define TIMPANI_GIVEN_1 (a)
#define TIMPANI_GIVEN_2 (a, b)
#define TIMPANI_GIVEN_3 (a, b, c)
#define TIMPANI_GIVEN_4 (a, b, c, d)
#define TIMPANI_GIVEN_5 (a, b, c, d, e)
#define TIMPANI_GIVEN_6 (a, b, c, d, e, f)
#define TIMPANI_GIVEN_7 (a, b, c, d, e, f, g)
#define TIMPANI_GIVEN_8 (a, b, c, d, e, f, g, h)
#define TIMPANI_GIVEN_9 (a, b, c, d, e, f, g, h, i)
#define TIMPANI_GIVEN_10 (a, b, c, d, e, f, g, h, i, j)
#define TIMPANI_GIVEN_13 (a, b, c, d, e, f, g, h, i, j, k, l, m)

/// One function under the names that Fortran calls, in lower case.
#define TIMPANI_FORTRAN(name, words)                                                      \
    void mpi_##name TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f")));     \
    void mpi_##name##_ TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f")));  \
    void mpi_##name##__ TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f"))); \
    void ompi_##name##_f TIMPANI_WORDS_##words
