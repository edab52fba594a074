// Messages as Fortran programs call them on Open MPI. They are passed to Open MPI's Fortran functions, whose arguments
// are all addresses, so handles and statuses need no conversion. See open_mpi_fortran.cpp for the names.

#include <mpi.h>

#include "interpose/entry/intercept.hpp"

namespace {

/// The bytes of a buffer that Fortran's second and third arguments describe.
std::int64_t bytes_of(const void* count, const void* type) {
    const auto elements = *static_cast<const MPI_Fint*>(count);
    return elements > 0 ? elements * timpani::type_bytes(PMPI_Type_f2c(*static_cast<const MPI_Fint*>(type))) : 0;
}

}  // namespace

#define TIMPANI_WORDS_2 (void* a, void* b)
#define TIMPANI_WORDS_3 (void* a, void* b, void* c)
#define TIMPANI_WORDS_4 (void* a, void* b, void* c, void* d)
#define TIMPANI_WORDS_5 (void* a, void* b, void* c, void* d, void* e)
#define TIMPANI_WORDS_6 (void* a, void* b, void* c, void* d, void* e, void* f)
#define TIMPANI_WORDS_7 (void* a, void* b, void* c, void* d, void* e, void* f, void* g)
#define TIMPANI_WORDS_8 (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h)
#define TIMPANI_WORDS_10 (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j)
#define TIMPANI_WORDS_13                                                                                         \
    (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j, void* k, void* l, \
     void* m)
#define TIMPANI_GIVEN_2 (a, b)
#define TIMPANI_GIVEN_3 (a, b, c)
#define TIMPANI_GIVEN_4 (a, b, c, d)
#define TIMPANI_GIVEN_5 (a, b, c, d, e)
#define TIMPANI_GIVEN_6 (a, b, c, d, e, f)
#define TIMPANI_GIVEN_7 (a, b, c, d, e, f, g)
#define TIMPANI_GIVEN_8 (a, b, c, d, e, f, g, h)
#define TIMPANI_GIVEN_10 (a, b, c, d, e, f, g, h, i, j)
#define TIMPANI_GIVEN_13 (a, b, c, d, e, f, g, h, i, j, k, l, m)

// One function under the names that Fortran calls. Open MPI's functions exist if the program loads its Fortran library.
#define TIMPANI_PASSED(name, words, counted, ...)                                         \
    extern void pmpi_##name##_ TIMPANI_WORDS_##words __attribute__((weak));               \
    void mpi_##name TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f")));     \
    void mpi_##name##_ TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f")));  \
    void mpi_##name##__ TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f"))); \
    void ompi_##name##_f TIMPANI_WORDS_##words {                                          \
        timpani::counted(                                                                 \
            #name, __VA_ARGS__[&] {                                                       \
                pmpi_##name##_ TIMPANI_GIVEN_##words;                                     \
                return MPI_SUCCESS;                                                       \
            });                                                                           \
    }

#pragma GCC visibility push(default)
extern "C" {
#define MESSAGE(Name, name, words, parameters, arguments, bytes) \
    TIMPANI_PASSED(name, words, count_messages, timpani::Form::message, [&] { return bytes_of(b, c); }, )
#define COMPLETION(Name, name, words, parameters, arguments) \
    TIMPANI_PASSED(name, words, count_messages, timpani::Form::completion, [] { return std::int64_t{0}; }, )
#define POLL(Name, name, words, parameters, arguments) TIMPANI_PASSED(name, words, count_polls, )
#include "interpose/entry/messages.def"
}  // extern "C"
#pragma GCC visibility pop
