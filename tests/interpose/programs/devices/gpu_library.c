/* What a GPU's library says of pointers, of the one that was marked: built as libcuda.so.1 or as libamdhip64.so.6. */
#include <stddef.h>

static const void *marked;

void mark_device_memory(const void *pointer) { marked = pointer; }

#ifdef HIP
struct attributes {
    int type, device;
    const void *device_pointer, *host_pointer;
    int managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct attributes *found, const void *pointer) {
    if (pointer != marked) return 1;
    found->type = 2;
    found->device_pointer = pointer;
    found->host_pointer = NULL;
    return 0;
}
#else
int cuPointerGetAttribute(void *type, int attribute, unsigned long long pointer) {
    if (attribute != 2 || (const void *)pointer != marked) return 1;
    *(unsigned *)type = 2;
    return 0;
}
#endif
