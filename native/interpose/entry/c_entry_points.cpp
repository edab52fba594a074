// MPI's own names, as a C program calls them.

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "interpose/entry/finish.hpp"
#include "interpose/entry/intercept.hpp"
#include "interpose/process/process.hpp"
#include "interpose/world/world.hpp"

namespace {

using timpani::BufferArguments;
using timpani::CollectiveKind;
using timpani::Form;
using timpani::InterceptedCall;

/// A buffer that is only read, described by one count or by arrays. A reduction's operand is described with its result.
BufferArguments buffer(const void* data, std::int64_t count, MPI_Datatype type) {
    return {.data = const_cast<void*>(data), .count = count, .type = type};
}
template <typename Count, typename Displacement>
BufferArguments buffer(const void* data, const Count* counts, const Displacement* displacements, MPI_Datatype type) {
    return {.data = const_cast<void*>(data), .counts = counts, .displacements = displacements, .type = type};
}
BufferArguments operand(const void* data) { return {.data = const_cast<void*>(data)}; }

/// Before the program frees a communicator.
void end_shared(const MPI_Comm* comm) {
    if (timpani::intercepting() && comm != nullptr && *comm != MPI_COMM_NULL) timpani::Communicator::end_shared(*comm);
}

}  // namespace

#pragma GCC visibility push(default)  // the library is compiled with all names hidden, except these
extern "C" {

int MPI_Init(int* argc, char*** argv) {
    timpani::refuse_other_library(__builtin_return_address(0));
    const int error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS) timpani::World::begin();
    return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    timpani::refuse_other_library(__builtin_return_address(0));
    const int error = PMPI_Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS) timpani::World::begin();
    return error;
}

int MPI_Finalize() {
    timpani::finish();
    return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int code) {
    timpani::finish_alone(timpani::this_rank_alone() + "which called MPI_Abort");
    return PMPI_Abort(comm, code);
}

#ifdef TIMPANI_SESSIONS
int MPI_Session_finalize(MPI_Session* session) {
    int initialized = 0;
    PMPI_Initialized(&initialized);
    if (initialized == 0)
        timpani::finish_alone("process " + std::to_string(getpid()) + " alone, of a program of sessions");
    return PMPI_Session_finalize(session);
}
#endif

int MPI_Comm_free(MPI_Comm* comm) {
    end_shared(comm);
    return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
    end_shared(comm);
    return PMPI_Comm_disconnect(comm);
}

// The table has the other functions. A blocking one may be called on another communicator than the program's: the
// parameter `comm` of the inner function hides the outer one.
#define TIMPANI_LIST(...) __VA_ARGS__
#define TIMPANI_CALL(name, ...) \
    InterceptedCall { .kind = CollectiveKind::name, .comm = comm, __VA_ARGS__ }
#define TIMPANI_BLOCKING(Function, parameters, arguments, call)                                    \
    int MPI_##Function parameters {                                                                \
        timpani::mark_call_site(__builtin_return_address(0));                                      \
        return timpani::intercept(call, [&](MPI_Comm comm) { return PMPI_##Function arguments; }); \
    }
#define TIMPANI_COUNTED(Function, parameters, arguments, call)                                  \
    int MPI_##Function parameters {                                                             \
        timpani::mark_call_site(__builtin_return_address(0));                                   \
        return timpani::count(call, Form::blocking, [&] { return PMPI_##Function arguments; }); \
    }
#define TIMPANI_NON_BLOCKING(Function, parameters, arguments, call)                               \
    int MPI_I##Function(TIMPANI_LIST parameters, MPI_Request* request) {                          \
        timpani::mark_call_site(__builtin_return_address(0));                                     \
        return timpani::count(call, Form::non_blocking,                                           \
                              [&] { return PMPI_I##Function(TIMPANI_LIST arguments, request); }); \
    }
#ifdef TIMPANI_PERSISTENT
#define TIMPANI_PREPARED(Function, parameters, arguments, call)                                        \
    int MPI_##Function(TIMPANI_LIST parameters, MPI_Info info, MPI_Request* request) {                 \
        timpani::mark_call_site(__builtin_return_address(0));                                          \
        return timpani::count(call, Form::persistent,                                                  \
                              [&] { return PMPI_##Function(TIMPANI_LIST arguments, info, request); }); \
    }
#else
#define TIMPANI_PREPARED(Function, parameters, arguments, call)
#endif

#define TIMPANI_FORMS(BLOCKING, Name, name, suffix, ...)                                          \
    TIMPANI_##BLOCKING(Name##suffix, __VA_ARGS__) TIMPANI_NON_BLOCKING(name##suffix, __VA_ARGS__) \
        TIMPANI_PREPARED(Name##_init##suffix, __VA_ARGS__)

#define Count int
#define Displacement int
#define REPLACED(Name, name, upper, words, parameters, arguments, ...) \
    TIMPANI_FORMS(BLOCKING, Name, name, , parameters, arguments, (TIMPANI_CALL(name, __VA_ARGS__)))
#define UNCOUNTED REPLACED
#define PASSED(Name, name, parameters, arguments) \
    TIMPANI_FORMS(COUNTED, Name, name, , parameters, arguments, (timpani::OtherCall{#name, comm}))
#include "interpose/entry/entries.def"
#undef Count
#undef Displacement

#ifdef TIMPANI_LARGE_COUNTS
#define Count MPI_Count
#define Displacement MPI_Aint
#define REPLACED(Name, name, upper, words, parameters, arguments, ...) \
    TIMPANI_FORMS(BLOCKING, Name, name, _c, parameters, arguments, (TIMPANI_CALL(name, __VA_ARGS__)))
#define PASSED(Name, name, parameters, arguments) \
    TIMPANI_FORMS(COUNTED, Name, name, _c, parameters, arguments, (timpani::OtherCall{#name, comm}))
#include "interpose/entry/entries.def"
#undef Count
#undef Displacement
#endif
#undef TIMPANI_CALL

}  // extern "C"
#pragma GCC visibility pop
