/* record_proof.c: an ok cell must show that it was measured and checked, or it is not read. */
#include "record_example.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* A record is evidence: a cell that does not show that it was measured and checked is refused. */
Test(record_proof, unproven_cells_are_refused)
{
    static const char *const rows[][2] = {
        /* Flags are 1 of the warm-up, 16 of bad values, 32 of an outlier. */
        {"flags[3]=16 derived", "step 3 has bad values"},
        {"flags[5]=1 derived", "step 5 is left out"},
        {"flags[2]=32", "does not follow"},
        {"t_step_ns[2]=0 derived", "no time"},
        {"warmup_steps=8 derived", "no step was measured"},
        {"n_ranks=0", "\"n_ranks\" is 0, outside 2 to 2"},
        {"global_batch=0", "\"shard_rows\" is"},
        {"devices=virt:20", "\"n_devices\" is 2, outside 20 to 20"},
        {"n_devices=3", "\"n_devices\" is 3, outside 2 to 2"},
        {"devices=other:0 n_devices=0", "\"n_devices\" is 0, outside 1"},
        {"n_devices=0", "\"n_devices\" is 0, outside 1"},
        {"mode=plain", "\"n_devices\" is 2, outside 1 to 1"},
        {"mode=plain-mt", "is not how mode plain-mt splits"}, /* the model is whole there */
        {"backward[8-15]=0 derived", "backward of replica 1"},
        {"forward[14]=0 derived", "step 6 has no time for forward of replica 1"},
        {"update[0-7]=0 derived", "update of replica 0"},
        {"phases=none derived", "forward of replica 0"},
        {"loss=none derived", "loss of replica 0"},
        {"matmul_ns[0-15]=2000 derived", "\"outside_frac\" is -"}, /* longer than steps */
        {"ranks hidden_frac=0.8", "\"hidden_frac\" is 0.8"},
        {"ranks n_rounds=0 comm_alone_ns=nan", "\"hidden_frac\" is 0.75"},
        {"ranks whole[0-5]=150 whole_ns=150 hidden_frac=0",
         "\"hidden_frac\" is 0, but its three times give -0.25"},
        {"ranks comm[0]=50 comm[5]=60", "\"comm_alone_ns\" is 40, outside 45.5 to 45.5"},
        {"ranks n_rounds=4", "\"rounds_ns\" is 4, outside 5 to 11"},
        {"phased phased_ns[4]=1 derived", "step 4 took 1 ns, but"},
        {"phased tracing_ns=9", "\"tracing_ns\" does not follow"},
        {"chain=1 phased", "mode dp on 2 devices has no \"phased_ns\""},
        {"ranks n_alone=5", "mode ddp on 2 devices has no \"alone_ns\""},
        {"n_rounds=5", "mode dp on 2 devices has no \"rounds_ns\""},
        {"host_inputs=2", "\"host_inputs\" is 2, outside 0 to 1"},
        /* The rows of each replica were carried to it, in time. */
        {"host_inputs=1 scatter=none derived", "step 0 has no time for scatter of replica 0"},
        {"host_inputs=1 scatter[12]=0 derived", "step 4 has no time for scatter of replica 1"},
        {"ranks host_inputs=1", "step 0 has no time for scatter of replica 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct record_cell cell = example_cell(0);
        example_change_refused(&cell, rows[i][0], rows[i][1]);
        record_cell_free(&cell);
    }
}
