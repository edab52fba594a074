// MPI's own names for messages, as a C program calls them.

#include <mpi.h>

#include "interpose/entry/intercept.hpp"

namespace {

template <typename Number>
std::int64_t bytes_of(Number count, MPI_Datatype type) {
    return count > 0 && type != MPI_DATATYPE_NULL ? static_cast<std::int64_t>(count) * timpani::type_bytes(type) : 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

#define TIMPANI_MESSAGE(Function, name, parameters, arguments)                    \
    int MPI_##Function parameters {                                               \
        return timpani::count_messages(                                           \
            #name, timpani::Form::message, [&] { return bytes_of(count, type); }, \
            [&] { return PMPI_##Function arguments; });                           \
    }
#define MESSAGE(Name, name, words, ...) TIMPANI_MESSAGE(Name, name, __VA_ARGS__)
#define COMPLETION(Name, name, words, parameters, arguments)                                                          \
    int MPI_##Name parameters {                                                                                       \
        return timpani::count_messages(                                                                               \
            #name, timpani::Form::completion, [] { return std::int64_t{0}; }, [&] { return PMPI_##Name arguments; }); \
    }
#define POLL(Name, name, words, parameters, arguments)                             \
    int MPI_##Name parameters {                                                    \
        return timpani::count_polls(#name, [&] { return PMPI_##Name arguments; }); \
    }
#define Count int
#include "interpose/entry/messages.def"
#undef Count

#ifdef TIMPANI_LARGE_COUNTS
#define MESSAGE(Name, name, words, ...) TIMPANI_MESSAGE(Name##_c, name, __VA_ARGS__)
#define Count MPI_Count
#include "interpose/entry/messages.def"
#undef Count
#endif

}  // extern "C"
#pragma GCC visibility pop
