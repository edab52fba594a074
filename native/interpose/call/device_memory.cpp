#include "interpose/call/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>

namespace timpani {

namespace {

// From cuda.h: CUresult cuPointerGetAttribute(void*, CUpointer_attribute, CUdeviceptr).
using CudaAttribute = int (*)(void*, int, unsigned long long);
constexpr int kMemoryType = 2;       // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned kHostMemory = 1;  // CU_MEMORYTYPE_HOST

// From hip_runtime_api.h. ROCm 5 and 6 differ only in the meaning of `type`.
struct HipAttributes {
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    int managed;
    unsigned flags;
    std::array<char, 64> later;  // members added in later versions
};
using HipPointer = int (*)(HipAttributes*, const void*);

constexpr std::array kCudaNames{"libcuda.so.1"};
constexpr std::array kHipNames{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};

std::atomic<CudaAttribute> cuda = nullptr;
std::atomic<HipPointer> hip = nullptr;
std::atomic<unsigned long long> libraries_seen = 0;  // loaded since the process started

/// How many libraries the process has loaded. Programs may load more later.
unsigned long long loaded_libraries() {
    unsigned long long loaded = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* count) {
            *static_cast<unsigned long long*>(count) = info->dlpi_adds;
            return 1;
        },
        &loaded);
    return loaded;
}

/// A function of a library that the program has loaded under one of these names; loads no library.
template <typename Function, std::size_t count>
Function find(const std::array<const char*, count>& libraries, const char* name) {
    for (const char* const library : libraries) {
        void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) continue;
        void* const found = dlsym(handle, name);
        dlclose(handle);  // the program's own handle keeps it
        if (found != nullptr) return reinterpret_cast<Function>(found);
    }
    return nullptr;
}

void find_devices() {
    const unsigned long long loaded = loaded_libraries();
    if (libraries_seen.exchange(loaded) == loaded) return;
    if (cuda.load() == nullptr) cuda = find<CudaAttribute>(kCudaNames, "cuPointerGetAttribute");
    if (hip.load() == nullptr) hip = find<HipPointer>(kHipNames, "hipPointerGetAttributes");
}

bool in_device_memory(const void* data) {
    if (data == nullptr || data == MPI_IN_PLACE || data == MPI_BOTTOM) return false;
    if (const CudaAttribute attribute = cuda.load(); attribute != nullptr) {
        unsigned type = kHostMemory;
        const auto address = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(data));
        if (attribute(&type, kMemoryType, address) == 0 && type != kHostMemory) return true;
    }
    if (const HipPointer attributes_of = hip.load(); attributes_of != nullptr) {
        HipAttributes found{};
        if (attributes_of(&found, data) == 0 && found.device_pointer != nullptr &&
            (found.host_pointer == nullptr || found.managed != 0))
            return true;
    }
    return false;
}

}  // namespace

bool has_devices() {
    find_devices();
    return cuda.load() != nullptr || hip.load() != nullptr;
}

bool in_device_memory(const InterceptedCall& call) {
    return has_devices() && (in_device_memory(call.send.data) || in_device_memory(call.receive.data));
}

}  // namespace timpani
