/* matrix FILE: collective calls in all the ways that MPI allows, on the world, on the world backwards and on two halves.
   Each rank writes what it received, gaps and margins among it, as a line a call into FILE.RANK; the lines must not
   depend on what runs beneath the program. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, MARGIN = 64, MOST_RANKS = 16 };

static MPI_Comm comm;
static int rank, ranks;
static FILE *out;
static _Alignas(double) unsigned char send_room[ROOM], receive_room[ROOM];
static unsigned char *const from = send_room + MARGIN, *const into = receive_room + MARGIN;

static void fill(void) {
    unsigned state = 77u + (unsigned)rank;
    for (int i = 0; i < ROOM; ++i) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
        send_room[i] = state >> 24;
        receive_room[i] = state >> 16;
    }
}

static void note(const char *what, int error) {
    unsigned long long sum = 1469598103934665603ull; /* FNV-1a */
    for (int i = 0; i < ROOM; ++i) sum = (sum ^ receive_room[i]) * 1099511628211ull;
    for (int i = 0; i < ROOM; ++i) sum = (sum ^ send_room[i]) * 1099511628211ull;
    fprintf(out, "%s %d %016llx\n", what, error, sum);
}

#define TRY(call) (fill(), note(#call, MPI_##call))

/* Floats that are small integers: their sums are exact in every order, and two of them make a double that is a number. */
static void fill_with_floats(void) {
    fill();
    for (int i = 0; i < ROOM; i += (int)sizeof(float)) {
        const float sent = (float)send_room[i] - 128, received = (float)receive_room[i] - 128;
        memcpy(send_room + i, &sent, sizeof sent), memcpy(receive_room + i, &received, sizeof received);
    }
}
#define TRY_FLOATS(call) (fill_with_floats(), note(#call, MPI_##call))

/* In place, what lies behind the result is undefined. */
static void note_result(const char *what, int error, int elements) {
    memset(into + 4 * elements, 0, ROOM - MARGIN - 4 * (size_t)elements);
    note(what, error);
}
#define TRY_IN_PLACE(elements, call) (fill(), note_result(#call, MPI_##call, elements))

/* 2 × 2 matrices of unsigned numbers: their product depends on its order. */
static void multiply(void *left, void *right, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        unsigned *a = (unsigned *)left + 4 * i, *b = (unsigned *)right + 4 * i, c[4];
        for (int k = 0; k < 4; ++k) c[k] = a[k & 2] * b[k & 1] + a[(k & 2) + 1] * b[2 + (k & 1)];
        memcpy(b, c, sizeof c);
    }
}
static void add_thirds(void *left, void *right, int *count, MPI_Datatype *type) { /* of three ints, the outer two */
    (void)type;
    for (int i = 0; i < *count; ++i) {
        int *a = (int *)left + 3 * i, *b = (int *)right + 3 * i;
        b[0] += a[0], b[2] ^= a[2];
    }
}

static MPI_Datatype every_other, backwards, outer, whole, matrix, doubled, from_here, into_here;
static MPI_Op product, thirds;

static MPI_Datatype absolute(void *address) { /* 4 ints with gaps, from MPI_BOTTOM */
    MPI_Datatype made;
    MPI_Aint place;
    const int one = 1;
    MPI_Get_address(address, &place);
    MPI_Type_create_hindexed(1, &one, &place, every_other, &made);
    MPI_Type_commit(&made);
    return made;
}

static void make_types(void) {
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other); /* 4 ints with gaps */
    int places[] = {3, 0, 2, 1};
    MPI_Type_create_indexed_block(4, 1, places, MPI_INT, &backwards); /* 4 ints, none of them in its place */
    int lengths[] = {1, 1};
    MPI_Aint where[] = {0, 8};
    MPI_Datatype ints[] = {MPI_INT, MPI_INT};
    MPI_Datatype narrow;
    MPI_Type_create_struct(2, lengths, where, ints, &narrow);
    MPI_Type_create_resized(narrow, 0, 12, &outer);
    MPI_Type_free(&narrow);
    MPI_Type_dup(MPI_INT, &whole);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    MPI_Type_contiguous(2, whole, &doubled);
    MPI_Datatype *all[] = {&every_other, &backwards, &outer, &whole, &matrix, &doubled};
    for (int i = 0; i < 6; ++i) MPI_Type_commit(all[i]);
    MPI_Op_create(multiply, 0, &product);
    MPI_Op_create(add_thirds, 1, &thirds);
    from_here = absolute(from), into_here = absolute(into);
}

static int counts[MOST_RANKS], places[MOST_RANKS], sent[MOST_RANKS], got[MOST_RANKS], sent_at[MOST_RANKS],
    got_at[MOST_RANKS], parts[MOST_RANKS], few[MOST_RANKS];

/* Blocks of any size, none among them, from the last rank's to the first's with holes between. */
static void make_blocks(int scale) {
    for (int i = ranks - 1, next = 1, s = 0, g = 2; i >= 0; --i) {
        counts[i] = scale * ((3 * i + 1) % 4);
        places[i] = next;
        next += counts[i] + 2;
        sent[i] = scale * ((rank + 2 * i) % 3), got[i] = scale * ((i + 2 * rank) % 3);
        sent_at[i] = s, got_at[i] = g;
        s += sent[i] + 1, g += got[i] + 1;
        parts[i] = scale + (i < scale % 3 ? 1 : 0);
        few[i] = i < ranks - 1;
    }
}

static void move(int root, int n) {
    const int at_root = rank == root, even = rank % 2 == 0;
    TRY(Bcast(into, n, MPI_INT, root, comm));
    TRY(Bcast(into, even ? n : 4 * n, even ? backwards : MPI_INT, root, comm));
    TRY(Bcast(into, even ? 4 * n : n, even ? whole : every_other, root, comm));
    TRY(Bcast(into, even ? 2 * n : n, even ? MPI_INT : doubled, root, comm));
    TRY(Bcast(MPI_BOTTOM, 1, into_here, root, comm));
    TRY(Gather(MPI_BOTTOM, 1, from_here, into, 4, MPI_INT, root, comm));
    TRY(Scatter(from, 4, MPI_INT, MPI_BOTTOM, 1, into_here, root, comm));
    TRY(Gather(from, n, MPI_INT, at_root ? into : NULL, at_root ? n : -1, at_root ? MPI_INT : MPI_DATATYPE_NULL, root, comm));
    TRY(Gather(from, n, every_other, into, 4 * n, MPI_INT, root, comm));
    TRY(Gather(from, 4 * n, MPI_INT, into, n, backwards, root, comm));
    TRY(Gather(at_root ? MPI_IN_PLACE : from, at_root ? -1 : n, at_root ? MPI_DATATYPE_NULL : MPI_INT, into, n, MPI_INT, root, comm));
    TRY(Gather(at_root ? MPI_IN_PLACE : from, 4 * n, MPI_INT, into, n, every_other, root, comm));
    TRY(Gatherv(from, counts[rank], MPI_INT, into, at_root ? counts : NULL, at_root ? places : NULL, MPI_INT, root, comm));
    TRY(Gatherv(from, 4 * counts[rank], MPI_INT, into, counts, places, backwards, root, comm));
    TRY(Gatherv(at_root ? MPI_IN_PLACE : from, counts[rank], MPI_INT, into, counts, places, MPI_INT, root, comm));
    TRY(Scatter(at_root ? from : NULL, at_root ? n : -1, at_root ? MPI_INT : MPI_DATATYPE_NULL, into, n, MPI_INT, root, comm));
    TRY(Scatter(from, n, every_other, into, 4 * n, MPI_INT, root, comm));
    TRY(Scatter(from, 4 * n, MPI_INT, into, n, backwards, root, comm));
    TRY(Scatter(from, n, MPI_INT, at_root ? MPI_IN_PLACE : into, at_root ? -1 : n, at_root ? MPI_DATATYPE_NULL : MPI_INT, root, comm));
    TRY(Scatterv(from, at_root ? counts : NULL, at_root ? places : NULL, MPI_INT, into, counts[rank], MPI_INT, root, comm));
    TRY(Scatterv(from, counts, places, every_other, into, 4 * counts[rank], MPI_INT, root, comm));
    TRY(Scatterv(from, counts, places, MPI_INT, at_root ? MPI_IN_PLACE : into, counts[rank], MPI_INT, root, comm));
}

static void move_to_all(int n) {
    const int even = rank % 2 == 0;
    TRY(Barrier(comm));
    TRY(Allgather(from, n, MPI_INT, into, n, MPI_INT, comm));
    TRY(Allgather(from, n, every_other, into, even ? n : 4 * n, even ? backwards : MPI_INT, comm));
    TRY(Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, into, n, MPI_INT, comm));
    TRY(Allgather(MPI_IN_PLACE, 0, MPI_INT, into, n, backwards, comm));
    TRY(Allgatherv(from, counts[rank], MPI_INT, into, counts, places, MPI_INT, comm));
    TRY(Allgatherv(from, 4 * counts[rank], MPI_INT, into, counts, places, every_other, comm));
    TRY(Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, into, counts, places, MPI_INT, comm));
    TRY(Alltoall(from, n, MPI_INT, into, n, MPI_INT, comm));
    TRY(Alltoall(from, n, every_other, into, even ? n : 4 * n, even ? backwards : MPI_INT, comm));
    TRY(Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, into, n, MPI_INT, comm));
    TRY(Alltoallv(from, sent, sent_at, MPI_INT, into, got, got_at, MPI_INT, comm));
    TRY(Alltoallv(from, sent, sent_at, backwards, into, got, got_at, every_other, comm));
    int same[MOST_RANKS], same_at[MOST_RANKS];
    for (int i = 0; i < ranks; ++i) same[i] = n * ((i + rank) % 3), same_at[i] = (ranks - i) * (2 * n + 1);
    TRY(Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, into, same, same_at, MPI_INT, comm));
}

static void reduce(int root, int n) {
    const int at_root = rank == root;
    TRY(Reduce(from, at_root ? into : NULL, n, MPI_INT, MPI_SUM, root, comm));
    TRY(Reduce(at_root ? MPI_IN_PLACE : from, at_root ? into : NULL, n, MPI_INT, MPI_SUM, root, comm));
    TRY(Reduce(from, into, n, MPI_2INT, MPI_MAXLOC, root, comm));
    TRY(Reduce(from, into, n, matrix, product, root, comm));
    TRY(Reduce(from, into, n, outer, thirds, root, comm));
    TRY(Allreduce(from, into, n, MPI_UNSIGNED_CHAR, MPI_BXOR, comm));
    TRY(Allreduce(from, into, n, matrix, product, comm));
    TRY(Allreduce(from, into, n, outer, thirds, comm));
    TRY(Allreduce(MPI_IN_PLACE, into, n, MPI_INT, MPI_SUM, comm));
    TRY(Allreduce(MPI_IN_PLACE, into, n, matrix, product, comm));
    TRY(Reduce_scatter(from, into, parts, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter(from, into, counts, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter(from, into, parts, matrix, product, comm));
    TRY(Reduce_scatter_block(from, into, n, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter_block(from, into, n, matrix, product, comm));
    TRY_FLOATS(Reduce(from, into, n, MPI_FLOAT, MPI_SUM, root, comm));
    TRY_FLOATS(Allreduce(from, into, n, MPI_FLOAT_INT, MPI_MAXLOC, comm));
    TRY_FLOATS(Allreduce(from, into, n, MPI_DOUBLE, MPI_MAX, comm));
    TRY_FLOATS(Reduce_scatter_block(from, into, n, MPI_FLOAT, MPI_SUM, comm));
    TRY_FLOATS(Scan(from, into, n, MPI_DOUBLE, MPI_MAX, comm));
    TRY_IN_PLACE(parts[rank], Reduce_scatter(MPI_IN_PLACE, into, parts, MPI_INT, MPI_SUM, comm));
    TRY_IN_PLACE(few[rank], Reduce_scatter(MPI_IN_PLACE, into, few, MPI_INT, MPI_SUM, comm));
    TRY_IN_PLACE(n, Reduce_scatter_block(MPI_IN_PLACE, into, n, MPI_INT, MPI_SUM, comm));
    TRY(Scan(from, into, n, MPI_INT, MPI_SUM, comm));
    TRY(Scan(from, into, n, matrix, product, comm));
    TRY(Scan(MPI_IN_PLACE, into, n, MPI_INT, MPI_SUM, comm));
    if (rank == 0) { /* its result is undefined, and its argument not significant, which only MPICH checks */
#ifdef OPEN_MPI
        MPI_Exscan(from, NULL, n, matrix, product, comm);
#else
        MPI_Exscan(from, into, n, matrix, product, comm);
#endif
        MPI_Exscan(MPI_IN_PLACE, into, n, MPI_INT, MPI_SUM, comm);
        return;
    }
    TRY(Exscan(from, into, n, matrix, product, comm));
    TRY(Exscan(MPI_IN_PLACE, into, n, MPI_INT, MPI_SUM, comm));
}

static int sum_of(const int *numbers) {
    int sum = 0;
    for (int i = 0; i < ranks; ++i) sum += numbers[i];
    return sum;
}

/* A buffer that holds nothing may be null, also on some ranks only. */
static void* unless_empty(void *buffer, int elements) { return elements > 0 ? buffer : NULL; }

static void move_nothing_on_some_ranks(int root, int n) {
    const int at_root = rank == root;
    void *const from_one = unless_empty(from, rank == 0 ? n : 1), *const into_one = unless_empty(into, rank == 0 ? n : 1);
    int none[MOST_RANKS] = {0};
    TRY(Bcast(into_one, n, MPI_INT, root, comm));
    TRY(Gather(from_one, n, MPI_INT, into_one, n, MPI_INT, root, comm));
    TRY(Gatherv(unless_empty(from, counts[rank]), counts[rank], MPI_INT, unless_empty(into, sum_of(counts)), counts,
                places, MPI_INT, root, comm));
    TRY(Scatter(from_one, n, MPI_INT, into_one, n, MPI_INT, root, comm));
    TRY(Scatterv(unless_empty(from, sum_of(counts)), counts, places, MPI_INT, unless_empty(into, counts[rank]),
                 counts[rank], MPI_INT, root, comm));
    TRY(Allgather(from_one, n, MPI_INT, into_one, n, MPI_INT, comm));
    TRY(Allgatherv(unless_empty(from, counts[rank]), counts[rank], MPI_INT, unless_empty(into, sum_of(counts)), counts,
                   places, MPI_INT, comm));
    TRY(Alltoall(from_one, n, MPI_INT, into_one, n, MPI_INT, comm));
    for (int i = 0; i < ranks; ++i) sent[i] *= at_root, got[i] *= i == root;
    TRY(Alltoallv(unless_empty(from, sum_of(sent)), sent, sent_at, MPI_INT, unless_empty(into, sum_of(got)), got, got_at,
                  MPI_INT, comm));
    TRY(Alltoallv(into, sent, sent_at, MPI_INT, at_root ? from : into, got, got_at, MPI_INT, comm));
    make_blocks(n);
    TRY(Reduce(from_one, at_root ? into_one : NULL, n, MPI_INT, MPI_SUM, root, comm));
    TRY(Allreduce(from_one, into_one, n, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter(from, unless_empty(into, few[rank]), few, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter(unless_empty(from, sum_of(counts)), unless_empty(into, counts[rank]), counts, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter(from_one, rank == 0 ? NULL : into, none, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter_block(from_one, into_one, n, MPI_INT, MPI_SUM, comm));
    TRY(Scan(from_one, into_one, n, MPI_INT, MPI_SUM, comm));
    if (n == 0) TRY(Exscan(from_one, into_one, n, MPI_INT, MPI_SUM, comm));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    out = fopen(name, "w");
    make_types();
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    for (int i = 0; i < 3; ++i) {
        comm = comms[i];
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        for (int n = 0; n <= 61; n = 5 * n + 1 + 5 * (n == 1)) {
            make_blocks(n);
            for (int root = 0; root < ranks; root += ranks > 1 ? ranks - 1 : 1) {
                move(root, n), reduce(root, n);
                move_nothing_on_some_ranks(root, n);
            }
            move_to_all(n);
        }
    }
    fclose(out);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_disconnect(&comms[2]);
    MPI_Finalize();
    return 0;
}
