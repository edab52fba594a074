/* Preloaded, it replaces the clock of all ranks by one that they share, a file named by PLANTED_CLOCK. That clock moves by
 * 1 ns when it is read, and by what rank 0 adds: PLANTED_LIBRARY_NS in each allreduce of the library, when all ranks have
 * entered, and PLANTED_TIMPANI_NS where one of Timpani's algorithms combines two vectors. So times are as planted, however
 * busy the machine is. With PLANTED_NOISE the library's are up to 12 % shorter or longer, another in each launch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int ReduceLocal(const void *, void *, int, MPI_Datatype, MPI_Op);
typedef int Barrier(MPI_Comm);

struct Shared {
    _Atomic long long now, launches;
};

static const double kNoise[] = {0.88, 1.04, 0.96, 1.12, 0.92, 1.08, 1.0, 0.98, 1.02, 1.0};
static struct Shared *shared;
static long long library_ns, timpani_ns;

__attribute__((constructor)) static void open_clock(void) {
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *rank = open_mpi ? open_mpi : getenv("PMI_RANK");
    if (rank == NULL) return; /* a launcher */
    const int file = open(getenv("PLANTED_CLOCK"), O_RDWR);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (atoi(rank) != 0) return;
    const long long launch = shared->launches++;
    const double noise = getenv("PLANTED_NOISE") ? kNoise[launch % (sizeof kNoise / sizeof *kNoise)] : 1;
    library_ns = (long long)(noise * atof(getenv("PLANTED_LIBRARY_NS")));
    timpani_ns = atoll(getenv("PLANTED_TIMPANI_NS"));
}

int clock_gettime(clockid_t id, struct timespec *time) {
    if (shared == NULL || id != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, id, time);
    const long long now = ++shared->now;
    time->tv_sec = now / 1000000000;
    time->tv_nsec = now % 1000000000;
    return 0;
}

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const int error = ((Allreduce *)dlsym(RTLD_NEXT, "PMPI_Allreduce"))(send, receive, count, type, op, comm);
    shared->now += library_ns;
    ((Barrier *)dlsym(RTLD_NEXT, "PMPI_Barrier"))(comm);
    return error;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int PMPI_Reduce_local(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op) {
    shared->now += timpani_ns;
    return ((ReduceLocal *)dlsym(RTLD_NEXT, "PMPI_Reduce_local"))(send, receive, count, type, op);
}
