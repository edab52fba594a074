// Open MPI's monitoring component (pml_monitoring_enable) calls this function for each message that a rank sends. The
// component's function of this name runs afterwards. Open MPI 4.1 gives no other way to read the counts of
// one call: its performance variables are not registered (4.1.4).

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/profile/sent_messages.hpp"

namespace timpani {

namespace {

using Record = void (*)(int peer, std::size_t bytes, int tag);

constexpr const char* kName = "mca_common_monitoring_record_pml";

/// The function in the loaded object, if that is the component's library, which other objects can't see.
int find_in_object(dl_phdr_info* object, std::size_t /*size*/, void* found) {
    if (std::string_view(object->dlpi_name).find("mca_common_monitoring") == std::string_view::npos) return 0;
    void* const library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return 0;
    void* const function = dlsym(library, kName);
    dlclose(library);  // it stays loaded: its component calls this
    *static_cast<void**>(found) = function;
    return 1;
}

Record library_function() {
    void* function = dlsym(RTLD_NEXT, kName);  // of a library whose components are linked into it
    if (function == nullptr) dl_iterate_phdr(find_in_object, static_cast<void*>(&function));
    return reinterpret_cast<Record>(function);
}

}  // namespace

}  // namespace timpani

extern "C" __attribute__((visibility("default"))) void mca_common_monitoring_record_pml(int peer, std::size_t bytes,
                                                                                        int tag) {
    using namespace timpani;
    if (sent_in_call != nullptr) sent_in_call->add(peer, static_cast<std::int64_t>(bytes));
    static const Record record = library_function();
    if (record != nullptr) record(peer, bytes, tag);
}
