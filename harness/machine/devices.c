/* machine/devices.c: writes the object with the devices. Strings from the system are data, and are
 * escaped. */
#include "machine/node.h"

#include <jansson.h>

#include "build_info.h"
#include "record/json.h"

char *record_devices_text(const struct record_devices *devices)
{
    /* The members of the node, as in the first line of a record. */
    static const char *const names[] = {"gpu_facts", "gpus_on_bus", "numa", "gpus", "nics"};
    const struct dp_machine *machine = devices->machine;
    json_t *slots = json_array(), *of_machine, *root;
    int status = 0;

    for (int i = 0; i < devices->n_slots; ++i) {
        struct dp_slot_info slot;

        dp_slot_describe(dp_group_slot(devices->group, i), &slot);
        json_array_append_new(
            slots,
            json_pack("{s:s, s:s, s:i, s:s, s:o, s:b, s:b, s:s, s:s, s:I, s:b}", "name", slot.name,
                      "kind", slot.kind, "index", slot.index, "cores", slot.cores, "numa_node",
                      slot.numa_node < 0 ? json_null() : json_integer(slot.numa_node), "bound",
                      slot.bound ? 1 : 0, "lag", slot.lag ? 1 : 0, "model", slot.model, "bus",
                      slot.bus, "mem_bytes", (json_int_t)slot.memory_bytes, "near",
                      slot.near ? 1 : 0));
    }
    of_machine = json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:b}", "cpu_model",
        machine->cpu_model, "packages", machine->packages, "numa_nodes", machine->numa_nodes,
        "cores", machine->cores, "pus", machine->pus, "usable_cores", machine->usable_cores,
        "usable_pus", machine->usable_pus, "mem_bytes", (json_int_t)machine->memory_bytes,
        "usable_mem_bytes", (json_int_t)machine->usable_bytes, "l1d_bytes",
        (json_int_t)machine->l1d_bytes, "l2_bytes", (json_int_t)machine->l2_bytes, "l3_bytes",
        (json_int_t)machine->l3_bytes, "foreign", machine->foreign ? 1 : 0);
    root = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:{s:s, s:s, s:s, s:s}}", "schema",
                     "lockstep/devices/1.0", "devices", devices->devices, "backend",
                     devices->backend, "communicator", devices->communicator, "oversubscribed",
                     devices->oversubscribed ? 1 : 0, "slots", slots, "machine", of_machine,
                     "versions", "lockstep", BUILD_VERSION, "git", BUILD_GIT, "hwloc",
                     machine->hwloc_version, "blas", devices->run->blas);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        status |= record_json_add(root, record_find(record_run_fields, names[i]), devices->run);
    if (status != 0) {
        json_decref(root);
        return NULL;
    }
    return document_text(root, JSON_INDENT(2));
}
