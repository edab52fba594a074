/* invalid: calls every collective with each argument wrong in each way that MPI libraries look for, the same on all
   ranks, on a separate communicator. Prints, a line for each call: collective, what is wrong, rank, the class of the
   returned error, and how often and with which class the handlers of the communicator and of MPI_COMM_WORLD ran.

   Left out: what a library does not check and then crashes at, and what is wrong on one rank while others wait for it.
   For arguments that are wrong on a rank that only receives see root_alone.c. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, REDUCE, ALLREDUCE,
       REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, COLLECTIVES };
static const char *const names[] = {"bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
                                    "alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter",
                                    "reduce_scatter_block", "scan", "exscan"};

/* Which arguments a collective has. */
enum { SENDS = 1, RECEIVES = 2, ROOT = 4, OPERATOR = 8, SEND_ARRAYS = 16, RECEIVE_ARRAYS = 32, SCATTERS = 64 };
static const int has[] = {RECEIVES | ROOT, SENDS | RECEIVES | ROOT, SENDS | RECEIVES | ROOT | RECEIVE_ARRAYS,
                          RECEIVES | ROOT | SCATTERS, RECEIVES | ROOT | SCATTERS, SENDS | RECEIVES,
                          SENDS | RECEIVES | RECEIVE_ARRAYS, SENDS | RECEIVES,
                          SENDS | RECEIVES | SEND_ARRAYS | RECEIVE_ARRAYS, OPERATOR | ROOT, OPERATOR, OPERATOR, OPERATOR,
                          OPERATOR, OPERATOR};

struct call {
    double *send, *receive;
    int send_count, receive_count, root;
    int *send_counts, *send_places, *receive_counts, *receive_places;
    MPI_Datatype send_type, receive_type;
    MPI_Op op;
    MPI_Comm comm;
};

static int run(int collective, const struct call *c) {
    switch (collective) {
        case BCAST: return MPI_Bcast(c->receive, c->receive_count, c->receive_type, c->root, c->comm);
        case GATHER: return MPI_Gather(c->send, c->send_count, c->send_type, c->receive, c->receive_count,
                                       c->receive_type, c->root, c->comm);
        case GATHERV: return MPI_Gatherv(c->send, c->send_count, c->send_type, c->receive, c->receive_counts,
                                         c->receive_places, c->receive_type, c->root, c->comm);
        case SCATTER: return MPI_Scatter(c->send, c->send_count, c->send_type, c->receive, c->receive_count,
                                         c->receive_type, c->root, c->comm);
        case SCATTERV: return MPI_Scatterv(c->send, c->send_counts, c->send_places, c->send_type, c->receive,
                                           c->receive_count, c->receive_type, c->root, c->comm);
        case ALLGATHER: return MPI_Allgather(c->send, c->send_count, c->send_type, c->receive, c->receive_count,
                                             c->receive_type, c->comm);
        case ALLGATHERV: return MPI_Allgatherv(c->send, c->send_count, c->send_type, c->receive, c->receive_counts,
                                               c->receive_places, c->receive_type, c->comm);
        case ALLTOALL: return MPI_Alltoall(c->send, c->send_count, c->send_type, c->receive, c->receive_count,
                                           c->receive_type, c->comm);
        case ALLTOALLV: return MPI_Alltoallv(c->send, c->send_counts, c->send_places, c->send_type, c->receive,
                                             c->receive_counts, c->receive_places, c->receive_type, c->comm);
        case REDUCE: return MPI_Reduce(c->send, c->receive, c->receive_count, c->receive_type, c->op, c->root, c->comm);
        case ALLREDUCE: return MPI_Allreduce(c->send, c->receive, c->receive_count, c->receive_type, c->op, c->comm);
        case REDUCE_SCATTER: return MPI_Reduce_scatter(c->send, c->receive, c->receive_counts, c->receive_type, c->op,
                                                       c->comm);
        case REDUCE_SCATTER_BLOCK: return MPI_Reduce_scatter_block(c->send, c->receive, c->receive_count,
                                                                   c->receive_type, c->op, c->comm);
        case SCAN: return MPI_Scan(c->send, c->receive, c->receive_count, c->receive_type, c->op, c->comm);
        default: return MPI_Exscan(c->send, c->receive, c->receive_count, c->receive_type, c->op, c->comm);
    }
}

static int handled, handled_class, world_handled;

static void of_comm(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    ++handled;
    MPI_Error_class(*code, &handled_class);
}
static void of_world(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, ++world_handled; }

static MPI_Errhandler handler;
static MPI_Datatype uncommitted, derived, gone;
static MPI_Op gone_op;
static MPI_Op sum_of_doubles;
static double memory[2][64];
static int counts[8], places[8], negative[8];

static void add(void *from, void *to, int *count, MPI_Datatype *type) { (void)from, (void)to, (void)count, (void)type; }

/* Where the library itself crashes, or lets some ranks wait for the others for ever. */
static int library_fails(int collective, const char *what) {
#ifdef OPEN_MPI
    const int gathers = collective == GATHERV || collective == ALLGATHERV;
    if (strstr(what, "counts null") || (gathers && strstr(what, "receive counts"))) return 1;
    return collective == EXSCAN && strstr(what, "in place");
#else
    if (strstr(what, "counts null") || strstr(what, "places null") || strstr(what, "type freed")) return 1;
    if (collective == BCAST && strstr(what, "in place")) return 1;
    if (has[collective] & OPERATOR && strstr(what, "receive count")) return 1;
    return !(has[collective] & OPERATOR) && strstr(what, "one buffer");
#endif
}

/* Makes one argument wrong; 0 where the collective has no such argument. */
static int spoil(int number, int collective, struct call *c, const char **what) {
    const int arguments = has[collective], reduces = arguments & OPERATOR, ranks = 2;
    int next = 0;
#define WRONG(name, applies, change) \
    if (number == next++) { *what = name; if (!(applies)) return 0; change; return 1; }
    WRONG("nothing", 1, (void)0)
    WRONG("root -1", arguments & ROOT, c->root = -1)
    WRONG("root behind the last", arguments & ROOT, c->root = ranks)
    WRONG("root MPI_PROC_NULL", arguments & ROOT, c->root = MPI_PROC_NULL)
    WRONG("send count -1", arguments & SENDS && !(arguments & SEND_ARRAYS), c->send_count = -1)
    WRONG("receive count -1", !(arguments & RECEIVE_ARRAYS) && collective != REDUCE_SCATTER, c->receive_count = -1)
    WRONG("send counts -1", arguments & SEND_ARRAYS, c->send_counts = negative)
    WRONG("receive counts -1", arguments & RECEIVE_ARRAYS || collective == REDUCE_SCATTER, c->receive_counts = negative)
    WRONG("send counts null", arguments & SEND_ARRAYS, c->send_counts = NULL)
    WRONG("receive counts null", arguments & RECEIVE_ARRAYS || collective == REDUCE_SCATTER, c->receive_counts = NULL)
    WRONG("send places null", arguments & SEND_ARRAYS, c->send_places = NULL)
    WRONG("receive places null", arguments & RECEIVE_ARRAYS, c->receive_places = NULL)
    WRONG("send type null", arguments & SENDS, c->send_type = MPI_DATATYPE_NULL)
    WRONG("receive type null", 1, c->receive_type = MPI_DATATYPE_NULL)
    WRONG("send type uncommitted", arguments & SENDS, c->send_type = uncommitted)
    WRONG("receive type uncommitted", 1, c->receive_type = uncommitted)
    WRONG("receive in place", !(arguments & SCATTERS) && collective != REDUCE, c->receive = MPI_IN_PLACE)
    WRONG("operator null", reduces, c->op = MPI_OP_NULL)
    WRONG("MPI_BAND of doubles", reduces, c->op = MPI_BAND)
    WRONG("MPI_LXOR of doubles", reduces, c->op = MPI_LXOR)
    WRONG("MPI_MINLOC of doubles", reduces, c->op = MPI_MINLOC)
    WRONG("MPI_MAXLOC of ints", reduces, (c->op = MPI_MAXLOC, c->receive_type = MPI_INT))
    WRONG("MPI_SUM of pairs", reduces, c->receive_type = MPI_DOUBLE_INT)
    WRONG("MPI_SUM of bytes", reduces, c->receive_type = MPI_BYTE)
    WRONG("MPI_SUM of packed", reduces, c->receive_type = MPI_PACKED)
    WRONG("MPI_BAND of packed", reduces, (c->op = MPI_BAND, c->receive_type = MPI_PACKED))
    WRONG("MPI_MAX of complex", reduces, (c->op = MPI_MAX, c->receive_type = MPI_C_DOUBLE_COMPLEX))
    WRONG("MPI_SUM of a derived type", reduces, c->receive_type = derived)
    WRONG("own operator, uncommitted type", reduces, (c->op = sum_of_doubles, c->receive_type = uncommitted))
    WRONG("one buffer", (reduces || arguments & SENDS) && collective != REDUCE, c->receive = c->send)
#ifdef MPICH_VERSION
    WRONG("send buffer null", arguments & SENDS || reduces, c->send = NULL)
    WRONG("receive buffer null", collective != EXSCAN && collective != BCAST && collective != REDUCE && !(arguments & SCATTERS),
          c->receive = NULL)
    WRONG("send type freed", arguments & SENDS, c->send_type = gone)
    WRONG("receive type freed", 1, c->receive_type = gone)
    WRONG("operator freed", reduces, c->op = gone_op)
    WRONG("MPI_REPLACE", reduces, c->op = MPI_REPLACE)
#endif
    return -1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    alarm(120);
    int rank, ranks, class;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Errhandler world;
    MPI_Comm_create_errhandler(of_comm, &handler);
    MPI_Comm_create_errhandler(of_world, &world);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, world);
    MPI_Type_contiguous(1, MPI_DOUBLE, &uncommitted);
    MPI_Type_contiguous(1, MPI_DOUBLE, &derived);
    MPI_Type_commit(&derived);
    MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &gone);
    MPI_Type_commit(&gone);
    MPI_Op_create(add, 1, &sum_of_doubles);
    MPI_Op_create(add, 1, &gone_op);
    MPI_Datatype freed = gone;
    MPI_Op freed_op = gone_op;
    MPI_Type_free(&freed);
    MPI_Op_free(&freed_op);
    for (int i = 0; i < 8; ++i) counts[i] = 1, places[i] = i, negative[i] = -1;
    for (int collective = 0; collective < COLLECTIVES; ++collective) {
        for (int number = 0;; ++number) {
            struct call c = {memory[0], memory[1], 1, 1, 0, counts, places, counts, places, MPI_DOUBLE, MPI_DOUBLE,
                             MPI_SUM, MPI_COMM_NULL};
            const char *what;
            const int applies = spoil(number, collective, &c, &what);
            if (applies < 0) break;
            if (applies == 0 || library_fails(collective, what)) continue;
            if (argc > 1 && !strstr(what, argv[1])) continue;
            MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
            MPI_Comm_set_errhandler(c.comm, handler);
            MPI_Barrier(c.comm); /* the first call there has the ranks agree on tags, for which all must come */
            handled = handled_class = world_handled = 0;
            const int code = run(collective, &c);
            MPI_Error_class(code, &class);
            char line[200]; /* rank 0 prints them all, since a launcher may mix those of several ranks */
            const int length = snprintf(line, sizeof line, "%s, %s, rank %d: class %d, handler %d x class %d, world %d",
                                        names[collective], what, rank, class, handled, handled_class, world_handled);
            if (rank != 0) MPI_Send(line, length + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            for (int from = 0; rank == 0 && from < ranks; ++from) {
                if (from > 0) MPI_Recv(line, sizeof line, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                puts(line);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Comm_free(&c.comm);
        }
    }
    MPI_Finalize();
    return 0;
}
