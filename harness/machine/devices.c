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
            value_object("name:t kind:t index:i cores:t numa_node:o bound:b lag:b model:t bus:t "
                         "mem_bytes:n near:b",
                         slot.name, slot.kind, slot.index, slot.cores,
                         slot.numa_node < 0 ? json_null() : json_integer(slot.numa_node),
                         slot.bound, slot.lag, slot.model, slot.bus, slot.memory_bytes, slot.near));
    }
    of_machine = value_object(
        "cpu_model:t packages:i numa_nodes:i cores:i pus:i usable_cores:i usable_pus:i mem_bytes:n "
        "usable_mem_bytes:n l1d_bytes:n l2_bytes:n l3_bytes:n foreign:b",
        machine->cpu_model, machine->packages, machine->numa_nodes, machine->cores, machine->pus,
        machine->usable_cores, machine->usable_pus, machine->memory_bytes, machine->usable_bytes,
        machine->l1d_bytes, machine->l2_bytes, machine->l3_bytes, machine->foreign);
    root = value_object("schema:t devices:t backend:t communicator:t oversubscribed:b slots:o "
                        "machine:o versions:{lockstep:t git:t hwloc:t blas:t}",
                        "lockstep/devices/1.0", devices->devices, devices->backend,
                        devices->communicator, devices->oversubscribed, slots, of_machine,
                        BUILD_VERSION, BUILD_GIT, machine->hwloc_version, devices->run->blas);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        status |= record_json_add(root, record_find(record_run_fields, names[i]), devices->run);
    if (status != 0) {
        json_decref(root);
        return NULL;
    }
    return document_text(root, JSON_INDENT(2));
}
