/* tampered.c: the plug-in as it would be on a machine with another byte order, or one that never
 * identifies itself: the message with the identity is changed. It is built twice. */
#define dp_wire_table real_table
#include "../../../core/mpi/wire.c"
#undef dp_wire_table

enum { IDENTITY = 12, SIZES = 8, ORDER = 16 };

const struct dp_wire *dp_wire_table(void);

static int tampered_send(void *self, const void *bytes, size_t n, int to, int tag,
                         uint64_t *request, char *why)
{
    unsigned char *changed = malloc(n + 1); /* stays: MPI may read it later */
    if (!changed || tag != IDENTITY)
        return real_table()->send(self, bytes, n, to, tag, request, why);
    memcpy(changed, bytes, n);
#if TAMPERED_ORDER
    for (int i = 0; i < 4; ++i)
        changed[ORDER + i] = ((const unsigned char *)bytes)[ORDER + 3 - i];
    return real_table()->send(self, changed, n, to, tag, request, why);
#else
    return real_table()->send(self, changed, n, to, tag + 100, request, why);
#endif
}

/* NOLINTNEXTLINE: the header says so */
const struct dp_wire *dp_wire_table(void)
{
    static struct dp_wire table;
    table = *real_table();
    table.send = tampered_send;
    return &table;
}
