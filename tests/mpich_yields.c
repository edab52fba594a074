/* Ranks that yield while they wait: MPICH asks UCX in a loop whether anything came, and on a core that ranks share the
   one that is waited for doesn't get on meanwhile. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*Progress)(void *);

unsigned ucp_worker_progress(void *worker) {
    static Progress ask;
    if (!ask) ask = (Progress)dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned came = ask(worker);
    if (!came) sched_yield();
    return came;
}
