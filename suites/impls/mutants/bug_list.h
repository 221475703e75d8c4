/* bug_list.h: the deliberate bugs: number, option, the rule whose cases should catch it, what it
 * does. M: those of a catalogue; X: other mistakes that happen in practice; S: those of sizes,
 * counts and shapes. A file that includes this one defines BUG, which uses one row. */

/* bugs of the catalogue */
BUG(BUG_FLOOR_SPLIT, "M01-floor-split", "SPLIT-01",
    "floor(N/K) rows each, the rest to the last: 10 on 4 gives 2,2,2,4")
BUG(BUG_EVEN_SPLIT, "M02-even-split", "SPLIT-06",
    "the rest goes to the first shards: 10 on 4 gives 3,3,2,2")
BUG(BUG_ROUND_SPLIT, "M03-round-split", "SPLIT-01", "N/K is rounded: 7 on 3 gives 2,2,3")
BUG(BUG_DROP_RAGGED, "M04-drop-ragged", "COMP-01",
    "a last shard that is not full is dropped: 10 on 4 loses row 10")
BUG(BUG_PAD_LAST, "M05-pad-last", "COMP-01",
    "the last shard is padded with zeros and all rows are returned")
BUG(BUG_ALWAYS_K, "M07-always-k", "SPLIT-02",
    "10 on 8 runs eight replicas, three of them without rows")
BUG(BUG_STRIDED_ROWS, "M09-strided-rows", "SPLIT-01", "shard s has rows s, s+m, s+2m, ...")
BUG(BUG_AVERAGE, "M10-average", "GRAD-01", "gradients are averaged over the replicas")
BUG(BUG_DIVIDE_BY_K, "M11-divide-by-k", "GRAD-02",
    "mean over K devices, times m replicas: wrong where m < K")
BUG(BUG_FIRST_GRADIENT, "M12-first-gradient", "GRAD-01", "only replica 0's gradient arrives")
BUG(BUG_LAST_GRADIENT, "M13-last-gradient", "GRAD-01",
    "each replica's gradient overwrites the one before")
BUG(BUG_NO_BIAS_GRADIENT, "M15-no-bias-gradient", "GRAD-03", "the bias gets a gradient of zeros")
BUG(BUG_OVERWRITE, "M17-overwrite", "GRAD-04",
    "backward sets the base's gradient where it should add")
BUG(BUG_ZERO_REPLICAS, "M18-zero-replicas", "GRAD-05", "zero_grad leaves the base's gradients")
BUG(BUG_REPLICATE_ONCE, "M19-replicate-once", "REPL-01",
    "replicas are made at the first forward and kept")
BUG(BUG_COMPLETION_ORDER, "M22-completion-order", "GATH-01",
    "outputs and input gradients are glued in the order of finishing")
BUG(BUG_DX_NO_OFFSET, "M24-dx-no-offset", "GRAD-07",
    "every shard's input gradient is written to row 0")
BUG(BUG_DX_SCALED, "M25-dx-scaled", "GRAD-07", "the input gradient is divided by m")
BUG(BUG_MEAN_OF_MEANS, "M27-mean-of-means", "LOSS-01",
    "a mean after the wrapper is the mean of the replicas' means")
BUG(BUG_SCALARS_SUMMED, "M28-scalars-summed", "GATH-05", "0-dim outputs are added up")
BUG(BUG_SCALARS_K, "M29-scalars-k", "GATH-05",
    "the vector of scalars has K entries, zeros for idle devices")
BUG(BUG_COUNTER_SUMMED, "M35-counter-summed", "BUF-01", "a counter rises once per replica")
BUG(BUG_SILENT_MOVE, "M36-silent-move", "DEV-01",
    "a module elsewhere is copied to the first device without a word")
BUG(BUG_POSITION_DEVICE, "M38-position-device", "DEV-03",
    "shard i > 0 goes to device i, whatever device_ids says")
BUG(BUG_OUTPUT_ON_LAST, "M39-output-on-last", "OUT-01",
    "the output lies on the last device of the list")
BUG(BUG_OUTPUT_ON_0, "M39b-output-on-0", "OUT-01",
    "the output lies on device 0, not on the first of the list")
BUG(BUG_DIM_IGNORED, "M41-dim-ignored", "DIM-01", "the batch is cut along dim 0 always")
BUG(BUG_DIM_SCATTER_ONLY, "M42-dim-scatter-only", "DIM-01", "outputs are glued along dim 0 always")
BUG(BUG_TIED_ONCE, "M44-tied-once", "REPL-09",
    "in a replica a weight used twice gets the gradient of one use")
BUG(BUG_FROZEN_GRADIENT, "M46-frozen-gradient", "REPL-13", "frozen parameters get gradients")
BUG(BUG_GRAD_MODE_LOST, "M47-grad-mode-lost", "APPLY-05", "workers always run in grad mode")
BUG(BUG_ERROR_SWALLOWED, "M49-error-swallowed", "APPLY-10",
    "a failing replica puts out zeros, and no error is reported")
BUG(BUG_ARGS_SURPLUS, "M51-args-surplus", "NONT-03",
    "with an argument, devices without rows are called as well")
BUG(BUG_ARGS_CUT, "M53-args-cut", "STRUCT-08", "a list of numbers is cut like a tensor")
BUG(BUG_PARTIAL_WRAP, "M54-partial-wrap", "NEST-02",
    "layers before the wrapper get a gradient of zeros")
BUG(BUG_GROUPED_ORDER, "M56-grouped-order", "COAL-03",
    "copies of mixed types come back in the order of their groups")
BUG(BUG_REDUCE_COMPLETION, "M59-reduce-completion", "DET-01",
    "gradients are added in the order of finishing")
BUG(BUG_LOST_UPDATE, "M60-lost-update", "DET-04",
    "of two replicas that end within 50 us one's gradient is lost (decided from their times, no "
    "data race)")
BUG(BUG_BUCKETS_EXCEED, "M69-buckets-exceed", "DDP-10",
    "a bucket closes before its limit is exceeded, not when it is reached")
BUG(BUG_SAMPLER_BLOCKS, "M73-sampler-blocks", "DDP-28",
    "a rank's indices are a block, not every R-th")
BUG(BUG_LEAK, "M74-leak", "COMP-12", "a step's replicas are never freed")

/* splitting and scattering */
BUG(BUG_SPLIT_REMAINDER_ONE, "X01-remainder-one", "SPLIT-01",
    "wrong only where N mod K = 1: 9 on 4 gives 2,2,2,3; other sizes are right")
BUG(BUG_NO_ROWS_ONE, "X02-no-rows-one", "SPLIT-05", "0 rows make one empty shard, not K")
BUG(BUG_REFUSE_FEW_ROWS, "X03-refuse-few-rows", "SPLIT-04", "fewer rows than devices is an error")
BUG(BUG_SIZES_UNCHECKED, "X04-sizes-unchecked", "SPLIT-07",
    "explicit sizes need not add up: the rest of the rows is lost")
BUG(BUG_ZERO_SIZE_DROPPED, "X05-zero-size-dropped", "SPLIT-08",
    "a shard of explicit size 0 is accepted, and left out of the result")
BUG(BUG_FIRST_SIZE_OFFSET, "X06-first-size-offset", "SPLIT-07",
    "shard i starts at i * the first size: right unless sizes differ, e.g. (1,2,3)")
BUG(BUG_ALWAYS_VIEW, "X07-always-view", "SPLIT-12",
    "shards on other devices write through to the source, too")
BUG(BUG_INPUT_WRITTEN, "X08-input-written", "SPLIT-12",
    "what is written to a view ends in the caller's own array")
BUG(BUG_INT64_AS_FLOAT, "X09-int64-as-float", "SPLIT-01",
    "int64 travels as float: values above 2^24 change")
BUG(BUG_STAGING_REUSED, "X10-staging-reused", "SPLIT-01",
    "the staging buffer of 1 KiB is refilled before its first copy has ended: shards of 2 KiB")

/* gathering */
BUG(BUG_GATHER_VIEW, "X11-gather-view", "GATH-13",
    "the first part of the result is a view when it was on that device already")
BUG(BUG_DOUBLE_AS_FLOAT, "X12-double-as-float", "GATH-12", "gathered doubles are rounded to float")
BUG(BUG_NEGATIVE_DIM, "X13-negative-dim", "GATH-01",
    "gather takes every negative dim for 0; scatter wraps it")
BUG(BUG_FRESH_CHUNK, "X14-fresh-chunk", "GATH-04",
    "the output gradient is chunked anew, not by the recorded sizes")
BUG(BUG_LATEST_SIZES, "X15-latest-sizes", "COMP-10",
    "sizes are recorded in the layer: a second forward of other sizes spoils the first's backward")
BUG(BUG_MIXED_SCALARS, "X16-mixed-scalars", "GATH-07",
    "a 0-dim part among others counts as a row, without an error")
BUG(BUG_SHAPES_UNCHECKED, "X17-shapes-unchecked", "GATH-03",
    "a part that does not fit is left out, without an error")
BUG(BUG_SCALAR_ANY_DIM, "X18-scalar-any-dim", "DIM-06",
    "0-dim outputs become a vector for dim -1 or 1, too")
BUG(BUG_ONE_SHARD_BARE, "X19-one-shard-bare", "COMP-05",
    "K > 1 but one shard: nothing is gathered, a scalar stays 0-dim")
BUG(BUG_SINGLE_GATHERS, "X20-single-gathers", "GATH-08",
    "K = 1 gathers as well: a scalar becomes a vector of 1")
BUG(BUG_OUTPUT_TRIMMED, "X21-output-trimmed", "GATH-02",
    "an output is cut to the rows of its input shard")
BUG(BUG_SECOND_OUTPUT, "X22-second-output", "STRUCT-13",
    "further outputs are cut to the rows of the first")
BUG(BUG_SCALAR_GRADIENT, "X23-scalar-gradient", "GATH-06",
    "every replica gets the gradient of the first scalar")
BUG(BUG_REPLICA_2_FIRST, "X24-replica-2-first", "APPLY-02",
    "outputs are in the order of finishing, but only if replica 2 is the first")
BUG(BUG_GATHER_DEVICE_ORDER, "X25-gather-device-order", "GATH-01",
    "outputs are glued in the order of device numbers: wrong for permuted ids")

/* replicating */
BUG(BUG_STALE_AFTER_INFER, "X26-stale-after-infer", "REPL-01",
    "the forward after one without grad mode reuses its replicas")
BUG(BUG_STALE_FROZEN, "X27-stale-frozen", "REPL-02",
    "frozen parameters are sent once only, though they can be written by hand")
BUG(BUG_STALE_THIRD, "X28-stale-third", "REPL-01",
    "every third forward reuses the copies of the one before")
BUG(BUG_INFER_CLONES, "X29-infer-clones", "REPL-05",
    "replica 0 is a copy when grad mode is off: its buffers are lost")
BUG(BUG_FIRST_CHECKED, "X30-first-checked", "DEV-01",
    "only the first parameter's device is checked, the others are copied")
BUG(BUG_CHECK_AT_OPEN, "X31-check-at-open", "DEV-02",
    "devices are checked when the model is made: wrap, then move fails")
BUG(BUG_WRAPPER_STAYS, "X32-wrapper-stays", "COMP-06",
    "the wrapper around one device does not move its module")
BUG(BUG_FUNCTIONAL_MOVES, "X33-functional-moves", "COMP-06", "the functional form moves its module")
BUG(BUG_CONTIGUOUS_IDS, "X34-contiguous-ids", "DEV-03",
    "shard i goes to device first + i: wrong for permuted ids")
BUG(BUG_TO_LEAVES_BUFFERS, "X35-to-leaves-buffers", "DEV-01",
    "moving a model leaves its buffers behind")

/* broadcasting and reducing */
BUG(BUG_TRAILING_EMPTY, "X36-trailing-empty", "COAL-07",
    "a last tensor without elements is dropped")
BUG(BUG_STRADDLE_SWAP, "X37-straddle-swap", "COAL-02",
    "two neighbours swap their bytes, but only in a group that went beyond its limit")
BUG(BUG_COPIES_SHARE, "X38-copies-share", "COAL-08",
    "writing to a copy also writes to its neighbour")
BUG(BUG_SUMS_SHARE, "X39-sums-share", "COAL-09", "zeroing a sum also zeroes its neighbour")
BUG(BUG_BROADCAST_RULE, "X40-broadcast-rule", "COAL-04",
    "broadcast closes groups by the rule of reduce")
BUG(BUG_TRANSFERS_PER_DEVICE, "X41-transfers-per-device", "COAL-04",
    "transfers are counted over all devices")
BUG(BUG_SOURCE_UNCHECKED, "X42-source-unchecked", "REPL-15",
    "a source that is not on the first device is accepted")
BUG(BUG_DESTINATION_UNCHECKED, "X43-destination-unchecked", "GRAD-15",
    "sums may go to a device that holds no list")
BUG(BUG_REDUCE_COUNTS_ONLY, "X44-reduce-counts-only", "ERR-05", "[2,3] and [3,2] are added")
BUG(BUG_TREE_4, "X45-tree-of-4", "DET-01",
    "four gradients are added as (g0 + g1) + (g2 + g3), other numbers in order")

/* backward */
BUG(BUG_WEIGHTED_BY_ROWS, "X46-weighted-by-rows", "GRAD-02",
    "gradients are weighted with the rows of their shard: a ragged last one counts less")
BUG(BUG_ODD_LOST, "X47-odd-lost", "GRAD-01",
    "replicas are added in pairs: of an odd number the last is lost")
BUG(BUG_STOP_AT_ABSENT, "X48-stop-at-absent", "GRAD-12",
    "a parameter's sum ends at the first replica that did not use it")
BUG(BUG_THIRD_REPLICA, "X49-third-replica", "GRAD-03", "replica 2 counts its bias gradient twice")
BUG(BUG_FROZEN_LAYER, "X50-frozen-layer", "REPL-13",
    "a bias gets no gradient when its weight is frozen")
BUG(BUG_FROZEN_STOPS, "X51-frozen-stops", "REPL-13", "no input gradient passes a frozen weight")
BUG(BUG_NO_GRAD_FREEZES, "X52-no-grad-freezes", "REPL-14",
    "after a forward without grad mode nothing gets gradients any more")
BUG(BUG_NO_GRAD_UNFREEZES, "X53-no-grad-unfreezes", "REPL-14",
    "after a forward without grad mode frozen parameters get gradients")
BUG(BUG_DX_DEVICE_ORDER, "X54-dx-device-order", "GRAD-07",
    "input gradients are glued in the order of device numbers: wrong for permuted ids")
BUG(BUG_DX_DEVICE, "X55-dx-device", "GRAD-07",
    "the input gradient lies on the first device, not on the input's")
BUG(BUG_GRADIENT_DEVICE, "X56-gradient-device", "OUT-03",
    "output_device also moves the parameters' gradients")
BUG(BUG_EMBEDDING_DUPLICATES, "X57-embedding-duplicates", "GRAD-13",
    "an index that occurs twice keeps its last gradient")
BUG(BUG_TIED_K3, "X58-tied-k3", "REPL-09", "as M44, but for three devices or more")
BUG(BUG_OLDEST_BACKWARD, "X59-oldest-backward", "COMP-10",
    "of two waiting forwards backward takes the first")
BUG(BUG_FIRST_WRAPPER, "X60-first-wrapper", "NEST-05",
    "of two wrappers only the first one's gradients are summed")
BUG(BUG_FIRST_OUTPUT_ONLY, "X61-first-output-only", "STRUCT-13",
    "gradients of further outputs are lost")
BUG(BUG_GRADIENT_UNASKED, "X62-gradient-unasked", "GRAD-09", "inputs that need no gradient get one")
BUG(BUG_DX_STOPS_EARLY, "X63-dx-stops-early", "GRAD-09",
    "inputs behind one that needs no gradient get none")
BUG(BUG_DIM_NOT_IN_BACKWARD, "X64-dim-not-in-backward", "DIM-05",
    "the output gradient is cut along dim 0 always")
BUG(BUG_UNUSED_OVERWRITES, "X65-unused-overwrites", "GRAD-11",
    "the zeros of an unused parameter replace the gradient that was there")
BUG(BUG_DUPLICATE_DEVICE, "X66-duplicate-device", "DEV-07",
    "gradients are kept per device: a device listed twice counts once")
BUG(BUG_SQUARE_TRANSPOSED, "X67-square-transposed", "NEST-01",
    "dx of a square linear layer uses the transposed weight")

/* the optimizer */
BUG(BUG_MOMENTUM_LOST, "X68-momentum-lost", "GRAD-17", "zero_grad forgets the momentum")
BUG(BUG_SKIPS_WRAPPED, "X69-skips-wrapped", "NEST-01",
    "step skips parameters with module. inside their name: the wrapped block of a larger model")
BUG(BUG_STEP_CLEARS, "X70-step-clears", "GRAD-05", "step sets the gradients to none")
BUG(BUG_ZERO_GRAD_ZEROS, "X71-zero-grad-zeros", "GRAD-05",
    "zero_grad leaves zeros where it should leave none")

/* workers and errors */
BUG(BUG_SERIAL, "X72-serial", "APPLY-04",
    "all replicas run one after another on the caller's thread")
BUG(BUG_THREAD_FOR_ONE, "X73-thread-for-one", "APPLY-04",
    "a single replica gets a thread of its own")
BUG(BUG_CANCEL, "X74-cancel", "APPLY-08",
    "when a replica fails the sleep of the others is cut short: nobody waits for them")
BUG(BUG_TRAIN_LOST, "X75-train-lost", "BUF-09", "replicas but the first always run in train mode")
BUG(BUG_HIGHEST, "X76-highest", "APPLY-09", "the highest failing replica is reported")
BUG(BUG_ERROR_NO_REPLICA, "X77-error-no-replica", "APPLY-10", "an error does not tell its replica")
BUG(BUG_ERROR_FAULT, "X78-error-fault", "APPLY-10", "every error of a replica becomes a fault")
BUG(BUG_ERROR_DEVICE, "X79-error-device", "APPLY-10",
    "an error names the first device, whichever failed")
BUG(BUG_ERROR_GRADIENT, "X80-error-gradient", "APPLY-12",
    "a failing backward leaves the gradients of the other replicas")
BUG(BUG_ERROR_BLOCKS, "X81-error-blocks", "APPLY-12", "the forward after a failed one fails")
BUG(BUG_ERROR_NO_GRAD, "X82-error-no-grad", "APPLY-05",
    "a failing forward without grad mode leaves it off")
BUG(BUG_APPLY_SLICES, "X83-apply-slices", "APPLY-03",
    "parallel_apply hands on the first row of an input")
BUG(BUG_APPLY_ORDER, "X84-apply-order", "APPLY-02",
    "parallel_apply returns results in the order of finishing")
BUG(BUG_CONSTANT_ON_0, "X85-constant-on-0", "APPLY-06",
    "a tensor made inside a replica lies on device 0")
BUG(BUG_NO_INPUTS_K, "X86-no-inputs-k", "COMP-08", "a module without inputs runs on every device")
BUG(BUG_ARGS_ONE, "X87-args-one", "COMP-09", "a module with arguments only runs once")

/* wrong statements about dialects: session.c */
BUG(BUG_SAYS_ALIAS, "X88-says-alias", "REPL-05",
    "declares that replica 0 is an alias, and clones it")
BUG(BUG_SAYS_CLONE, "X89-says-clone", "REPL-06",
    "declares that replica 0 is a clone, and it is an alias")
BUG(BUG_SAYS_ZERO, "X90-says-zero", "GRAD-11",
    "declares zeros for unused parameters, and leaves none")
BUG(BUG_SAYS_REFUSE_UNEQUAL, "X91-says-refuse-unequal", "STRUCT-05",
    "declares that unequal rows are refused, and cuts them off")
BUG(BUG_SAYS_IGNORE, "X92-says-ignore", "OUT-04",
    "declares that one device ignores output_device, and it does not")
BUG(BUG_SAYS_LOWEST, "X93-says-lowest", "APPLY-09",
    "declares the lowest failing replica, and reports the first in time")
BUG(BUG_SAYS_EMPTY, "X94-says-empty", "SPLIT-05", "declares empty shards for no rows, and refuses")
BUG(BUG_SAYS_ACCEPT_ZERO, "X95-says-accept-zero", "SPLIT-08",
    "declares that an explicit size of 0 is accepted, and refuses")
BUG(BUG_SAYS_REFUSE_DUPLICATES, "X96-says-refuse-duplicates", "DEV-07",
    "declares that duplicate ids are refused, and accepts them")
BUG(BUG_SAYS_VIEW, "X97-says-view", "SPLIT-12",
    "declares that a shard in place is a view, and copies it")
BUG(BUG_SAYS_CALL, "X98-says-call", "CPU-02",
    "declares that the functional form works without devices, and refuses")
BUG(BUG_SAYS_REFUSE_IDS, "X99-says-refuse-ids", "CPU-03",
    "declares that empty device_ids are refused, and takes all devices")
BUG(BUG_SAYS_REFUSE_BORROWED, "X100-says-refuse-borrowed", "REPL-11",
    "declares that a weight outside is refused, and reads the base's from any device")
BUG(BUG_SAYS_REFUSE_RANKS, "X101-says-refuse-ranks", "DIM-07",
    "declares that a negative dim is refused for mixed ranks, and wraps each its own way")

/* pure functions, counters, memory, bits */
BUG(BUG_BUCKETS_DTYPE, "X102-buckets-dtype", "DDP-10", "all types share one open bucket")
BUG(BUG_BUCKETS_LIMIT, "X103-buckets-limit", "DDP-10",
    "the next limit counts for all types as soon as one has closed a bucket")
BUG(BUG_BUCKETS_ORDER, "X104-buckets-order", "DDP-10", "buckets are numbered from the last tensor")
BUG(BUG_SAMPLER_REPEAT, "X105-sampler-repeat", "DDP-28",
    "the list is padded with its last item, not from the start")
BUG(BUG_SAMPLER_WRAPS_ONCE, "X106-sampler-wraps-once", "DDP-28",
    "right until the list must be wrapped twice: 3 items, 8 ranks")
BUG(BUG_INFER_LEAK, "X107-infer-leak", "COMP-12", "a forward without grad mode frees nothing")
BUG(BUG_BYTES_ELEMENTS, "X108-bytes-elements", "COST-01",
    "traffic is counted in elements, not in bytes")
BUG(BUG_TRACE_ROWS, "X109-trace-rows", "SPLIT-02", "the trace tells the rows of replica 0 for all")
BUG(BUG_LOW_BIT, "X110-low-bit", "AGREE-01", "device 2 flips the lowest bit of its first result")
BUG(BUG_JITTER, "X111-jitter", "DET-04", "every other forward differs in the last bit of one row")
BUG(BUG_EXTENDED, "X112-extended", "AGREE-01",
    "odd devices round weight*x + bias once (fused): exact data do not show it")

/* bugs that show only in narrow cases */
BUG(BUG_SIX_OR_SEVEN, "X113-six-or-seven", "GRAD-02",
    "of six or seven replicas only five are added: 6 on 6, 13 on 7")
BUG(BUG_NINTH_PARAMETER, "X114-ninth-parameter", "REPL-08",
    "a model's ninth parameter and all behind it get no gradient from replicas")
BUG(BUG_OUTER_LOST, "X115-outer-lost", "DIM-05",
    "along dim > 0 of three dimensions only the first plane is sent")
BUG(BUG_EMPTY_PART_ENDS, "X116-empty-part-ends", "GATH-02",
    "a replica that puts out no rows ends the gather")
BUG(BUG_ERROR_TEXT_LOST, "X117-error-text-lost", "APPLY-10",
    "an error names the replica, and loses what the layer said")
BUG(BUG_TO_LEAVES_GRADIENTS, "X118-to-leaves-gradients", "GRAD-06",
    "moving a model leaves its gradients behind")
BUG(BUG_EVAL_NO_GRADIENTS, "X119-eval-no-gradients", "APPLY-05",
    "eval mode turns grad mode off as well")
BUG(BUG_INFER_SWALLOWED, "X120-infer-swallowed", "ERR-08", "as M49, but only when grad mode is off")
BUG(BUG_ONE_ROW_BIAS, "X121-one-row-bias", "GRAD-03",
    "a shard of one row gives its bias no gradient")
BUG(BUG_INTEGERS_AS_FLOAT, "X122-integers-as-float", "COAL-02",
    "integers are added as floats: sums above 2^24 change")
BUG(BUG_ROWS_16_BIT, "X123-rows-16-bit", "GATH-04",
    "recorded sizes have 16 bits: shards of 65536 rows and more")
BUG(BUG_DROP_LAST_KEEPS, "X124-drop-last-keeps", "DDP-28",
    "drop_last keeps one item when there are fewer items than ranks")
BUG(BUG_LIMIT_REPORTED_NEXT, "X125-limit-reported-next", "DDP-10",
    "the limit told for a bucket is that of the next one")
BUG(BUG_OUTPUT_HOST_IGNORED, "X126-output-host-ignored", "OUT-02",
    "an output_device of -1 counts as the default")
BUG(BUG_COASTING, "X127-coasting", "GRAD-17",
    "step moves parameters whose gradient is none by their old momentum")
BUG(BUG_SINGLE_OVERWRITES, "X128-single-overwrites", "GRAD-04",
    "with one device backward sets the gradient where it should add")
BUG(BUG_DX_ACCUMULATES, "X129-dx-accumulates", "GRAD-07",
    "an input gradient of the same shape as the last one is added to it")
BUG(BUG_SECOND_BACKWARD, "X130-second-backward", "GRAD-01",
    "every second backward takes replica 0's gradient only")

/* the opposite statements */
BUG(BUG_SAYS_REFUSE_NO_ROWS, "X131-says-refuse-no-rows", "SPLIT-05", "makes empty shards")
BUG(BUG_SAYS_REFUSE_ZERO, "X132-says-refuse-zero", "SPLIT-08", "takes a size of 0")
BUG(BUG_SAYS_COPY, "X133-says-copy", "SPLIT-12", "gives views of shards in place")
BUG(BUG_SAYS_BASE, "X134-says-base", "REPL-11", "refuses a borrowed weight")
BUG(BUG_SAYS_FIRST, "X135-says-first", "APPLY-09", "tells the lowest that failed")
BUG(BUG_NEAR_FAILURES, "X380-near-failures", "APPLY-09",
    "two failures within 30 ms of each other are forgotten")
BUG(BUG_SAYS_HONOUR, "X136-says-honour", "OUT-04", "ignores output_device")
BUG(BUG_SAYS_ABSENT, "X137-says-absent", "GRAD-11", "gives zeros to unused ones")
BUG(BUG_SAYS_TRUNCATE, "X138-says-truncate", "STRUCT-05", "refuses unequal rows")
BUG(BUG_SAYS_ACCEPT_RANKS, "X139-says-accept-ranks", "DIM-07", "refuses them")
BUG(BUG_SAYS_REFUSE_HOST_CALL, "X140-says-refuse-host-call", "CPU-02", "works")
BUG(BUG_SAYS_ALL_IDS, "X141-says-all-ids", "CPU-03", "refuses an empty list")
BUG(BUG_SAYS_ONCE, "X142-says-once", "COMP-09", "calls every device")

/* sizes, second calls, calls that wait */
BUG(BUG_WRAPPER_ONCE, "X143-wrapper-once", "REPL-09", "of two runs only one adds gradients")
BUG(BUG_OUTSIDE_LOST, "X144-outside-lost", "REPL-09", "replaces what a use outside gave")
BUG(BUG_LARGE_PARAMETER, "X145-large-parameter", "GRAD-03",
    "only 64 KiB of a parameter reach the other replicas")
BUG(BUG_LARGE_GRADIENT, "X146-large-gradient", "GRAD-03", "only 64 KiB are added up")
BUG(BUG_PARAMETER_33, "X147-parameter-33", "GRAD-03", "the 33rd and later get no gradient")
BUG(BUG_NOT_FINITE, "X148-not-finite", "COMP-01", "infinities and NaN of an input become 0")
BUG(BUG_DENORMAL, "X149-denormal", "COMP-01", "denormal numbers become 0 when a shard moves")
BUG(BUG_BACKWARD_SERIAL, "X150-backward-serial", "APPLY-04",
    "replicas run backward one after another")
BUG(BUG_POOL_OF_FOUR, "X151-pool-of-four", "APPLY-04", "the fifth waits for four")
BUG(BUG_FUNCTIONAL_OUTPUT, "X152-functional-output", "COMP-06",
    "the functional form ignores output_device")
BUG(BUG_FUNCTIONAL_DIM, "X153-functional-dim", "COMP-06", "the functional form ignores dim")
BUG(BUG_WIDE_ELEMENTS, "X154-wide-elements", "SPLIT-01",
    "of 8 bytes each, half the elements cut along dim > 0 are lost")
BUG(BUG_LEAK_IDLE, "X155-leak-idle", "COMP-12", "a step with idle devices frees nothing")
BUG(BUG_FAILURE_DROPS, "X156-failure-drops", "ERR-08",
    "a failing forward drops those that wait for a backward")
BUG(BUG_DX_SECOND_DEVICE, "X157-dx-second-device", "GRAD-07",
    "a second input gradient lies where the first does")
BUG(BUG_TO_MOMENTUM, "X158-to-momentum", "GRAD-17", "moving a model forgets its momentum")
BUG(BUG_INFER_MOMENTUM, "X159-infer-momentum", "GRAD-17", "so does a forward without grad")
BUG(BUG_ZERO_WRAPPED, "X160-zero-wrapped", "GRAD-05", "clears wrapped parameters only")
BUG(BUG_ZERO_FROZEN, "X161-zero-frozen", "GRAD-05", "leaves gradients of frozen ones")
BUG(BUG_STEP_FROZEN, "X162-step-frozen", "GRAD-05", "step moves what is frozen")
BUG(BUG_INPUT_REREAD, "X163-input-reread", "COMP-10", "backward reads the caller's input")
BUG(BUG_TREE_8, "X164-tree-8", "DET-01", "gradients of eight replicas are added pairwise")
BUG(BUG_APPLY_SECOND_INPUT, "X165-apply-second-input", "APPLY-03",
    "a second input of a call is the first one")
BUG(BUG_APPLY_SECOND_OUTPUT, "X166-apply-second-output", "APPLY-03",
    "only the first output of a call comes back")
BUG(BUG_INDEX_ON_DEVICE, "X167-index-on-device", "DEV-04",
    "int32 inputs on a device are zeros for replicas > 0")
BUG(BUG_FOUR_WAIT, "X168-four-wait", "COMP-10", "only four forwards can wait")
BUG(BUG_LARGE_PART, "X169-large-part", "COMP-01", "only 64 KiB of a part are gathered")
BUG(BUG_LARGE_DX, "X170-large-dx", "COMP-01", "only 64 KiB of an input gradient come back")
BUG(BUG_EMPTY_WRAPPER, "X171-empty-wrapper", "STRUCT-01", "no layer: only shard 0 comes out")
BUG(BUG_THIRD_INPUT, "X172-third-input", "STRUCT-01", "a third input is the second one")
BUG(BUG_STALE_SECOND, "X173-stale-second", "REPL-02", "a second wrapper's are kept")
BUG(BUG_BIAS_FROZEN, "X174-bias-frozen", "REPL-13", "a frozen bias stops its weight")
BUG(BUG_NO_ROWS_CLEARS, "X175-no-rows-clears", "SPLIT-05", "no rows clear all gradients")

/* batch norm and ranks */
BUG(BUG_NORM_LAST, "M30-norm-last", "BUF-02", "running statistics are those of the last replica")
BUG(BUG_NORM_IN_TURN, "M32-norm-in-turn", "BUF-02",
    "the replicas move the base's statistics one after another")
BUG(BUG_NORM_FULL, "M33-norm-full", "BUF-04", "statistics are those of the whole batch")
BUG(BUG_NORM_AVERAGE, "X176-norm-average", "BUF-02",
    "running statistics are the average of the replicas'")
BUG(BUG_NORM_BATCHES, "X177-norm-batches", "BUF-03", "the batch counter rises once per replica")
BUG(BUG_NORM_EVAL_COUNTS, "X178-norm-eval-counts", "BUF-03",
    "the batch counter rises in evaluation, too")
BUG(BUG_NORM_EVAL_OWN, "X179-norm-eval-own", "BUF-05",
    "in evaluation replicas but the first use their own rows")
BUG(BUG_NORM_BASE_SHARD, "X180-norm-base", "BUF-04",
    "replicas but the first train on the running statistics")
BUG(BUG_NORM_ONE_ROW, "X181-norm-one-row", "BUF-08",
    "a single row has the variance 0, and nobody says a word")
BUG(BUG_NORM_BIASED, "X182-norm-biased", "BUF-02",
    "the running variance is moved to the biased one")
BUG(BUG_DDP_SUM, "M61-ddp-sum", "DDP-01", "gradients are added up, not averaged")
BUG(BUG_DDP_DIVIDE_BY_ACTIVE, "M63-ddp-divide-by-active", "DDP-19",
    "the divisor is the number of ranks that still have a batch")
BUG(BUG_DDP_NO_SYNC_LOST, "M64-ddp-no-sync-lost", "DDP-16", "only the last micro-step is reduced")
BUG(BUG_DDP_LAST_BUCKET, "M66-ddp-last-bucket", "DDP-01",
    "a last bucket that is not full is never sent")
BUG(BUG_DDP_READY_ORDER, "M67-ddp-ready-order", "DDP-14", "buckets are sent when they are ready")
BUG(BUG_DDP_NO_BROADCAST, "M70-ddp-no-broadcast", "DDP-07",
    "ranks keep the values they were made with")
BUG(BUG_DDP_BROADCAST_LAST, "M70b-ddp-broadcast-last", "DDP-07",
    "the last rank's values are sent at construction")
BUG(BUG_DDP_SENDS_PARAMETERS, "X183-ddp-sends-parameters", "COST-04",
    "each forward sends the parameters")
BUG(BUG_DDP_SENDS_TOO, "S63-ddp-sends-too", "DDP-07",
    "a forward that sends buffers sends the parameters, too, uncounted")
BUG(BUG_DDP_SENDS_EVAL, "S64-ddp-sends-eval", "DDP-07",
    "a forward in eval mode sends the parameters, uncounted")
BUG(BUG_DDP_BUFFERS_NEVER, "X184-ddp-buffers-never", "DDP-08",
    "buffers are sent at construction only")
BUG(BUG_DDP_BUFFERS_ALWAYS, "X185-ddp-buffers-always", "DDP-08",
    "buffers are sent after a forward without sync as well")
BUG(BUG_DDP_BUFFERS_LAST, "X186-ddp-buffers-last", "DDP-08", "buffers are sent from the last rank")
BUG(BUG_NORM_STALE, "X187-norm-stale", "DDP-09",
    "backward reads running statistics as they are by then")
BUG(BUG_DDP_ONE_LIMIT, "X188-ddp-one-limit", "DDP-11", "the first bucket's limit is 25 MiB, too")
BUG(BUG_DDP_FROM_THE_FRONT, "X189-ddp-from-the-front", "DDP-11",
    "buckets are formed from the begin of the model")
BUG(BUG_DDP_NEVER_REBUILT, "X190-ddp-never-rebuilt", "DDP-12",
    "there is one bucket in all iterations")
BUG(BUG_DDP_LAST_ARRIVES, "X191-ddp-last-arrives", "DDP-12",
    "buckets follow the order of arrival on the last rank")
BUG(BUG_DDP_LATE, "X192-ddp-late", "DDP-15", "buckets are sent when backward has ended")
BUG(BUG_DDP_JOIN_FIRST, "X193-ddp-join-first", "DDP-20",
    "rank 0's model is sent when all have joined")
BUG(BUG_DDP_UNUSED_DIVISOR, "X194-ddp-unused-divisor", "DDP-21",
    "the divisor is the number of ranks that used it")
BUG(BUG_DDP_UNUSED_ZERO, "X195-ddp-unused-zero", "DDP-22", "what nobody used gets zeros")
BUG(BUG_DDP_UNUSED_SILENT, "X196-ddp-unused-silent", "DDP-23",
    "unused parameters are looked for always")
BUG(BUG_DDP_UNCHECKED, "X197-ddp-unchecked", "DDP-25",
    "number and shapes of parameters are not compared")
BUG(BUG_DDP_ORDER_CHECKED, "X198-ddp-order-checked", "DDP-26",
    "ranks with another order of layers are refused")
BUG(BUG_DDP_ALL_TO_ALL, "X199-ddp-all-to-all", "COST-04",
    "each rank sends its gradients to all others")

/* other mistakes that frameworks have made */
BUG(BUG_DDP_JOIN_BUFFERS, "X200-ddp-join-buffers", "DDP-08",
    "buffers come from rank 0 when it has joined")
BUG(BUG_DDP_JOIN_PARAMETERS, "X201-ddp-join-parameters", "DDP-20",
    "the end of a join sends no buffers")
BUG(BUG_DDP_JOIN_ONCE, "X202-ddp-join-once", "DDP-20", "the end of a second join sends nothing")
BUG(BUG_DDP_FROZEN_UNSENT, "X203-ddp-frozen-unsent", "DDP-07",
    "frozen parameters are not sent at construction")
BUG(BUG_DDP_FIRST_BUFFER, "X204-ddp-first-buffer", "DDP-08",
    "only the first buffer is sent before a forward")
BUG(BUG_DDP_BATCHES_UNSENT, "X386-ddp-batches-unsent", "DDP-08",
    "a buffer that counts, an integer, is not sent")
BUG(BUG_DDP_USED_KEPT, "X205-ddp-used-kept", "DDP-22", "what was used once counts as used for good")
BUG(BUG_DDP_USED_LOCAL, "X206-ddp-used-local", "DDP-21",
    "a rank that did not use a parameter keeps its gradient")
BUG(BUG_DDP_UNUSED_SHIFTS, "X207-ddp-unused-shifts", "DDP-22",
    "what nobody used has no room in its bucket")
BUG(BUG_DDP_FIRST_USE, "X208-ddp-first-use", "DDP-01",
    "a layer that runs twice is reduced after its first gradient")
BUG(BUG_DDP_FROZEN_BEFORE, "X209-ddp-frozen-before", "DDP-01",
    "behind a frozen parameter nothing is reduced")
BUG(BUG_DDP_ODD_RANK, "X210-ddp-odd-rank", "DDP-01",
    "of an odd number of ranks the last is left out")
BUG(BUG_DDP_NO_ROWS, "X211-ddp-no-rows", "DDP-02",
    "a rank without rows does not count in the divisor")
BUG(BUG_DDP_INFER_SYNC, "X212-ddp-infer-sync", "DDP-16",
    "a forward without grad mode ends the sync of one that waits")
BUG(BUG_DDP_EVAL_SYNC, "X213-ddp-eval-sync", "DDP-01", "in eval mode nothing is reduced")
BUG(BUG_DDP_BUFFERS_EVAL, "X214-ddp-buffers-eval", "DDP-08", "in eval mode no buffers are sent")
BUG(BUG_DDP_MOMENTUM, "X215-ddp-momentum", "DDP-01", "a step of ranks has no momentum")
BUG(BUG_DDP_NOT_FINITE, "X216-ddp-not-finite", "DDP-05", "infinities and NaN of a rank become 0")
BUG(BUG_BROADCAST_DOUBLE, "X217-broadcast-double", "COAL-02",
    "copies of doubles are rounded to float")
BUG(BUG_REDUCE_DOUBLE, "X218-reduce-double", "COAL-02", "doubles are added as floats")
BUG(BUG_GATHER_INTEGER, "X219-gather-integer", "GATH-12", "gathered integers are rounded to float")
BUG(BUG_SECOND_OUTPUT_DEVICE, "X220-second-output-device", "OUT-02",
    "further outputs stay on the first device")
BUG(BUG_SECOND_DIM, "X221-second-dim", "DIM-01", "a second wrapper has the dim of the first")
BUG(BUG_GRADIENT_HALVES, "X222-gradient-halves", "GRAD-03",
    "above 64 KiB the halves of a sum change places")
BUG(BUG_THIRD_OUTPUT, "X223-third-output", "STRUCT-13", "a third output is the second one")
BUG(BUG_FOURTH_INPUT, "X224-fourth-input", "STRUCT-01", "a fourth input is the first one")

/* sizes, counts and shapes: each is right for small and even sizes, and wrong above a limit */
BUG(BUG_ROWS_TAIL, "S01-rows-tail", "SIZE-01",
    "of more than 128 rows those beyond a multiple of 128 give no weight gradient")
BUG(BUG_ROWS_1024, "S02-rows-1024", "SIZE-01",
    "only the first 1024 rows of a shard count in a weight gradient")
BUG(BUG_BIAS_ODD_ROW, "S03-bias-odd-row", "SIZE-01",
    "of an odd number of rows above 32 the last is left out of the bias gradient")
BUG(BUG_ROWS_POWER, "S04-rows-power", "SIZE-01",
    "of 64, 128, 256 .. rows the last counts twice in a weight gradient")
BUG(BUG_TERMS_TAIL, "S05-terms-tail", "SIZE-01",
    "sums of more than 512 products lose what is beyond a multiple of 512")
BUG(BUG_COPY_REPEATS, "S06-copy-repeats", "SIZE-02",
    "beyond 1 MiB the copy of a parameter begins again")
BUG(BUG_SUM_TAIL, "S07-sum-tail", "SIZE-02",
    "gradients beyond a multiple of 128 elements are those of the first replica")
BUG(BUG_SECOND_GROUP, "S08-second-group", "SIZE-03",
    "a second group of one type is sent before it is packed")
BUG(BUG_LAST_GROUP, "S09-last-group", "SIZE-03",
    "of a second group of one type only the first replica's gradients arrive")
BUG(BUG_STEP_MIB, "S10-step-mib", "SIZE-02", "a step moves the first MiB of a parameter only")
BUG(BUG_STEP_TAIL, "S11-step-tail", "SIZE-02",
    "of more than 64 elements those beyond a multiple of 8 get no step")
BUG(BUG_ADDED_TAIL, "S12-added-tail", "SIZE-02",
    "of more than 64 elements those beyond a multiple of 4 are not added to what is there")
BUG(BUG_SHARD_MIB, "S13-shard-mib", "SIZE-01", "beyond 256 KiB a shard that moves begins again")
BUG(BUG_BUCKET_TAIL, "S14-bucket-tail", "SIZE-04",
    "beyond a multiple of 128 elements of a bucket each rank keeps its own")
BUG(BUG_BUCKET_HALVES, "S15-bucket-halves", "SIZE-05",
    "above 1 MiB the halves of a bucket change places")
BUG(BUG_BUCKET_THIRD, "S16-bucket-third", "SIZE-05",
    "behind the second bucket each rank keeps its own gradients")
BUG(BUG_BUCKET_PARTS, "S17-bucket-parts", "SIZE-04",
    "what is left when a bucket is cut into R parts is not reduced")
BUG(BUG_BUCKET_LATE, "S18-bucket-late", "SIZE-05",
    "the last of several buckets is read one element late")
BUG(BUG_FIVE_LAST, "S19-five-last", "COUNT-01", "on five devices the last gradient is not added")
BUG(BUG_SIX_ORDER, "S20-six-order", "COUNT-01", "on six devices replicas 3 and 4 change places")
BUG(BUG_SEVEN_SHARD, "S21-seven-shard", "COUNT-01, COUNT-02",
    "of seven shards the sixth is the fifth once more")
BUG(BUG_NINE_GRADIENTS, "S22-nine-gradients", "COUNT-01", "replicas beyond eight give no gradient")
BUG(BUG_FIVE_COPIES, "S23-five-copies", "COUNT-02", "the last of five copies is not sent")
BUG(BUG_SEVEN_LISTS, "S24-seven-lists", "COUNT-02", "of seven lists six are added")
BUG(BUG_NINE_PARTS, "S25-nine-parts", "COUNT-02",
    "of nine parts and more two of the same size change places")
BUG(BUG_SIX_CALLS, "S26-six-calls", "COUNT-02", "of six calls the fifth has the fourth's output")
BUG(BUG_OUTPUT_DEVICE_5, "S27-output-device-5", "COUNT-03",
    "an output_device above 4 counts as the default")
BUG(BUG_INPUT_DEVICE_5, "S28-input-device-5", "COUNT-03",
    "the gradient of an input on a device above 4 lies on the first device")
BUG(BUG_DDP_FIVE, "S29-ddp-five", "COUNT-04", "the last of five ranks is not reduced")
BUG(BUG_DDP_BUFFERS_FOUR, "S30-ddp-buffers-four", "COUNT-04",
    "buffers are sent to the first four ranks")
BUG(BUG_DDP_JOIN_SIX, "S31-ddp-join-six", "COUNT-04",
    "of more than five ranks a join has those with a batch as the divisor")
BUG(BUG_DDP_NINE, "S32-ddp-nine", "COUNT-04", "ranks beyond eight are not reduced")
BUG(BUG_DDP_SEVEN_LOST, "S33-ddp-seven-lost", "COUNT-04",
    "of seven ranks what was added up without sync is lost")
BUG(BUG_DDP_EIGHT, "S34-ddp-eight", "COUNT-04", "of eight ranks the last one is the one before")
BUG(BUG_DDP_SENT_FIRST, "S35-ddp-sent-first", "SHAPE-05",
    "at construction the first element of a parameter is sent")
BUG(BUG_DDP_BUFFERS_ELEMENT, "S36-ddp-buffers-element", "SHAPE-05",
    "before a forward the first element of a buffer is sent")
BUG(BUG_DDP_SECOND_DX, "S37-ddp-second-dx", "SHAPE-06",
    "the gradient of a rank's second input is zeros")
BUG(BUG_DDP_SECOND_GRADIENT, "S38-ddp-second-gradient", "SHAPE-06",
    "the gradient of a rank's second output is not used")
BUG(BUG_DDP_OUTPUT_OF, "S39-ddp-output-of", "SHAPE-06",
    "the second output of ranks behind the first is the first output")
BUG(BUG_OUTPUT_DIM, "S40-output-dim", "SHAPE-02",
    "with output_device outputs are glued along dim 0")
BUG(BUG_FUNCTIONAL_BACK, "S41-functional-back", "SHAPE-02",
    "the functional form with dim gives its input no gradient but zeros")
BUG(BUG_AXIS_THREE, "S42-axis-three", "SHAPE-01",
    "cut along a dimension behind the third all shards begin at 0")
BUG(BUG_AXIS_TWO, "S43-axis-two", "SHAPE-01",
    "along the third dimension part i is glued at i times the first part's size")
BUG(BUG_NEGATIVE_FIVE, "S44-negative-five", "SHAPE-01",
    "of five dimensions a negative one counts from the fourth")
BUG(BUG_NO_COLUMNS, "S45-no-columns", "SHAPE-03", "rows without elements are no rows")
BUG(BUG_NO_COLUMNS_GLUED, "S46-no-columns-glued", "SHAPE-03",
    "glued rows without elements have no columns left")
BUG(BUG_SQUARE_GRADIENT, "S47-square-gradient", "SHAPE-04",
    "the gradient of a square weight is transposed in replicas")
BUG(BUG_DDP_SQUARE, "S48-ddp-square", "SHAPE-04",
    "ranks reduce a square weight's gradient row by column")

/* evaluation after training */
BUG(BUG_EVAL_FIRST, "X300-eval-first", "BUF-05",
    "replicas evaluate with the statistics of their first evaluation")
BUG(BUG_EVAL_BATCH, "X301-eval-batch", "BUF-05",
    "after training, replicas evaluate with the last batch's statistics")
BUG(BUG_EVAL_SLOPE, "X302-eval-slope", "BUF-05",
    "in evaluation the weight of batch norm gets no gradient")

/* the optimizer */
BUG(BUG_RATE_FIRST, "X303-rate-first", "GRAD-19",
    "the learning rate of the first step holds for all")
BUG(BUG_RATE_INSIDE, "X304-rate-inside", "GRAD-19",
    "the learning rate is inside of the momentum: v = m*v + lr*g")
BUG(BUG_RATE_RESETS, "X305-rate-resets", "GRAD-19", "another learning rate forgets the momentum")
BUG(BUG_RATE_ZERO, "X306-rate-zero", "GRAD-19",
    "a step with the rate 0 is left out, its momentum too")
BUG(BUG_DDP_COPY_REDUCED, "S49-ddp-copy-reduced", "SHAPE-07",
    "a gradient that lies column by column is reduced as a copy, and stays as it is")
BUG(BUG_DDP_COPY_SENT, "S50-ddp-copy-sent", "SHAPE-07", "so is its parameter sent: nothing comes")
BUG(BUG_DDP_COLUMNS_BACK, "S51-ddp-columns-back", "SHAPE-07",
    "it is written back from a bucket row by row")
BUG(BUG_DDP_SCALAR_LOCAL, "S52-ddp-scalar-local", "DDP-33",
    "a gradient without dimensions is not reduced")
BUG(BUG_DDP_SCALAR_UNSENT, "S53-ddp-scalar-unsent", "DDP-33",
    "a parameter without dimensions is not sent")
BUG(BUG_DDP_SCALAR_BUFFER, "S67-ddp-scalar-buffer", "DDP-33",
    "a buffer without dimensions is not sent before a forward")
BUG(BUG_DDP_HALF_ADDED, "S54-ddp-half-added", "DDP-33",
    "gradients of float16 are added before they are divided")
BUG(BUG_DDP_HALF_BUFFER, "S55-ddp-half-buffer", "DDP-33", "a buffer of float16 is not sent")
BUG(BUG_DDP_NAMES_LOST, "S56-ddp-names-lost", "DDP-34", "arguments that have names are lost")
BUG(BUG_DDP_NAMES_TURNED, "S57-ddp-names-turned", "DDP-34",
    "values that have names are handed on by position, as they come")
BUG(BUG_DDP_TRAINS, "S58-ddp-trains", "DDP-34", "ranks are in training mode, always")
BUG(BUG_DDP_INNER, "S59-ddp-inner", "DDP-35", "the end of an inner no_sync ends the outer one")
BUG(BUG_DDP_MODE_SHARED, "S60-ddp-mode-shared", "DDP-36",
    "the models of a session share the mode of no_sync")
BUG(BUG_DDP_SENDS_SHARED, "S66-ddp-sends-shared", "DDP-36",
    "they share whether buffers are sent before the next forward")
BUG(BUG_DDP_MODE_BACKWARD, "S62-ddp-mode-backward", "DDP-16",
    "a backward in no_sync is not reduced, whatever its forward was")
BUG(BUG_DDP_MODE_OUTSIDE, "S65-ddp-mode-outside", "DDP-16",
    "a backward outside no_sync is reduced, whatever its forward was")
BUG(BUG_DDP_DROPPED, "S61-ddp-dropped", "DDP-09",
    "a backward is not reduced if a forward before it had none")
BUG(BUG_RATE_RANKS, "X307-rate-ranks", "GRAD-19",
    "ranks but the first keep the learning rate of their first step")
BUG(BUG_MOMENTUM_HALF, "X308-momentum-half", "GRAD-19", "every momentum above 0 counts as 0.5")

/* many steps */
BUG(BUG_FORWARD_65, "X309-forward-65", "COMP-14",
    "from the 65th forward on replicas have the values of the 64th")
BUG(BUG_REDUCE_65, "X310-reduce-65", "COMP-14",
    "from the 65th backward on the last replica is not added")
BUG(BUG_STEP_128, "X311-step-128", "COMP-14",
    "steps are counted in 7 bits: the 128th and later do nothing")
BUG(BUG_RANKS_65, "X312-ranks-65", "DDP-01", "every 65th backward of ranks is not reduced")
BUG(BUG_LEAK_SMALL, "X313-leak-small", "COMP-12", "each step leaves 1 KiB that nobody counts")
BUG(BUG_LEAK_SELDOM, "X314-leak-seldom", "COMP-12", "every 64th step is never freed")

/* calls that wait, and data at an address where other data were before */
BUG(BUG_RANKS_WAIT, "X315-ranks-wait", "DDP-09",
    "a forward of ranks ends the sync of those that wait")
BUG(BUG_INPUT_AT, "X316-input-at", "COMP-10",
    "an input at the address of the last one counts as sent")
BUG(BUG_GRADIENT_AT, "X317-gradient-at", "COMP-10", "so does an output's gradient")
BUG(BUG_SCATTER_AT, "X318-scatter-at", "SPLIT-01", "scatter knows its input by the address")
BUG(BUG_ARGUMENT_REREAD, "X319-argument-reread", "NONT-07",
    "backward reads the caller's argument again")
BUG(BUG_ARGUMENT_LAST, "X320-argument-last", "NONT-07",
    "backward has the argument of the last forward")

/* sessions and models at the same time, and one after the other */
BUG(BUG_SESSION_DEVICES, "X321-session-devices", "COMP-13",
    "there are as many devices as the session opened last has")
BUG(BUG_SESSION_DROPS, "X322-session-drops", "COMP-13",
    "opening a session drops the forwards that wait in others")
BUG(BUG_MODEL_VALUE, "X323-model-value", "COMP-13",
    "a parameter without initial values has those of a closed model")
BUG(BUG_MODEL_VELOCITY, "X324-model-velocity", "COMP-13",
    "a new model goes on with the momentum of a closed one")

/* values */
BUG(BUG_PART_LEFT_OUT, "X325-part-left-out", "GRAD-18",
    "a replica whose gradient is not finite is left out of the sum")
BUG(BUG_PART_NAN, "X326-part-nan", "GRAD-18", "NaN in a replica's gradient becomes 0")
BUG(BUG_SUM_CLAMPED, "X327-sum-clamped", "GRAD-18",
    "a sum that is infinite becomes the largest float")
BUG(BUG_SUM_DENORMAL, "X328-sum-denormal", "GRAD-18",
    "sums of gradients below the normal numbers become 0")
BUG(BUG_DX_DENORMAL, "X329-dx-denormal", "GRAD-18", "so do input gradients")
BUG(BUG_RANKS_DENORMAL, "X330-ranks-denormal", "DDP-05", "so do the gradients of ranks")
BUG(BUG_RANKS_NAN, "X331-ranks-nan", "DDP-05", "NaN of a rank becomes 0, infinities stay")
BUG(BUG_SCATTER_DOUBLE, "X332-scatter-double", "SPLIT-14",
    "int64 is scattered as double: beyond 2^53 it changes")
BUG(BUG_GATHER_DOUBLE, "X333-gather-double", "GATH-14", "int64 is gathered as double")
BUG(BUG_REDUCE_INT_DOUBLE, "X334-reduce-double", "COAL-13", "int64 is added as double")
BUG(BUG_SCATTER_ZERO, "X335-scatter-zero", "SPLIT-14", "shards are added to zeros: -0 becomes 0")
BUG(BUG_GATHER_ZERO, "X336-gather-zero", "GATH-14", "parts are added to zeros")
BUG(BUG_REPLICA_ZERO, "X337-replica-zero", "REPL-07", "replicas' parameters are added to zeros")
BUG(BUG_NORM_EPS_OUTSIDE, "X338-norm-eps", "BUF-12",
    "in training eps is added to the deviation, not to the variance")
BUG(BUG_NORM_MOMENTUM_OLD, "X339-norm-momentum", "BUF-12",
    "momentum is the weight of the old value")
BUG(BUG_NORM_THIRD, "X340-norm-third", "BUF-12",
    "the third feature and later have the second's statistics")

/* failures */
BUG(BUG_RANK_ERROR_FIRST, "X341-rank-first", "DDP-31", "the error of any rank names rank 0")
BUG(BUG_RANK_ERROR_DEVICE, "X342-rank-device", "DDP-31",
    "it names device 0, though ranks are on the host")
BUG(BUG_RANK_ERROR_TEXT, "X343-rank-text", "DDP-31", "it loses what the layer said")
BUG(BUG_RANK_ERROR_KIND, "X344-rank-kind", "DDP-31", "it is always a fault")
BUG(BUG_RANK_LEFT_OUT, "X345-rank-left-out", "DDP-32",
    "a rank that failed is left out of the next reduction")
BUG(BUG_RANK_UNSENT, "X346-rank-unsent", "DDP-32",
    "the backward after a rank's error is not reduced")
BUG(BUG_RANK_DIVISOR, "X347-rank-divisor", "DDP-32", "after a rank's error the divisor is one less")
BUG(BUG_RANK_QUIET, "X385-rank-quiet", "DDP-32", "an error in no_sync leaves it on for good")
BUG(BUG_RANK_TORN, "X387-rank-torn", "DDP-32",
    "gradients that came before an error in a backward count for the next one")
BUG(BUG_ERROR_AGAIN, "X348-error-again", "APPLY-13",
    "a model's second error tells the first one again")
BUG(BUG_ERROR_ONCE, "X349-error-once", "APPLY-13", "a model's second error is swallowed")
BUG(BUG_ERROR_SECOND_BLOCKS, "X350-error-blocks", "APPLY-13",
    "the forward after a model's second error fails")

/* only a known answer shows them, or a right call next to a wrong one */
BUG(BUG_SHORT_LINEAR, "X351-short-linear", "AGREE-01",
    "linear layers cut their input to 7 bits, on all devices")
BUG(BUG_INEXACT_ZERO, "X352-inexact-zero", "AGREE-02",
    "of numbers with more than 16 bits a linear layer makes 0")
BUG(BUG_SHORT_SLOPE, "X353-short-slope", "AGREE-01", "so does its input gradient, of 16 bits")
BUG(BUG_COPIES_UNREAD, "X354-copies-unread", "COAL-08",
    "a broadcast that shows its sources has copies of zeros")
BUG(BUG_REFUSES_ALL, "X355-refuses-all", "SPLIT-01",
    "everything is refused (inval): refusals alone prove nothing")
BUG(BUG_IDLE, "X380-does-nothing", "SPLIT-01", "everything is accepted, and zeros come out at once")
BUG(BUG_IDLE_OTHER, "X381-does-nothing-other", "SPLIT-01",
    "so, where the other choice of each dialect is declared")
BUG(BUG_REFUSES_FORWARD, "X356-refuses-forward", "COMP-01", "so is every forward (device)")

/* parameters that change between forward and backward */
BUG(BUG_CHANGED_STEP, "X382-changed-step", "GRAD-20",
    "a backward after a step takes the new values where they are shared")
BUG(BUG_CHANGED_SET, "X383-changed-set", "GRAD-20", "so does one after a value was set")
BUG(BUG_CHANGED_RANKS, "X384-changed-ranks", "GRAD-20", "so does that of a rank")

/* the order of sums */
BUG(BUG_SAYS_LISTED, "X357-says-listed", "DET-01", "replicas are added from the last one on")
BUG(BUG_FREE_COARSE, "X358-free-coarse", "DET-03", "sums in a free order have 16 bits")

/* a transformer */
BUG(BUG_TABLE_TWICE, "X359-table-twice", "GPT-01",
    "a table that is the output, too, is reduced twice for it")
BUG(BUG_TABLE_ONCE, "X360-table-once", "GPT-01",
    "a table that is the output, too, loses the embedding's gradient")
BUG(BUG_POSITIONS_REPLICA, "X361-positions-replica", "GPT-02",
    "positions shift with the number of the replica")
BUG(BUG_POSITIONS_ROW, "X362-positions-row", "GPT-02", "positions are counted on from row to row")
BUG(BUG_POSITIONS_FIRST, "X363-positions-first", "GPT-02",
    "only a shard's first row gives positions a gradient")
BUG(BUG_MASK_AHEAD, "X364-mask-ahead", "GPT-03", "a token sees the next one")
BUG(BUG_MASK_ROWS, "X365-mask-rows", "GPT-03", "a token sees the rows before its own")
BUG(BUG_SCALE_OUT, "X378-scale-out", "GPT-03",
    "products of queries and keys are not divided by the root of the head's size")
BUG(BUG_SCALE_ONE_WAY, "X379-scale-one-way", "GPT-03", "so in the gradient only")
BUG(BUG_LAYER_NORM_SHARD, "X366-norm-shard", "GPT-04",
    "layer norm has the mean and variance of the shard")
BUG(BUG_ENTROPY_MEAN, "X367-entropy-mean", "GPT-05", "cross entropy is the mean of each shard")
BUG(BUG_CLIP_OWN, "X368-clip-own", "GPT-06",
    "the norm is a replica's or rank's own, before the reduction")
BUG(BUG_CLIP_EACH, "X369-clip-each", "GPT-06", "each parameter is clipped by its own norm")
BUG(BUG_CLIP_GROWS, "X370-clip-grows", "GPT-06", "gradients below the norm allowed grow to it")
BUG(BUG_ADAM_DECAY_INSIDE, "X371-adam-decay", "GPT-07", "the decay is a part of the gradient")
BUG(BUG_ADAM_EPS_INSIDE, "X372-adam-eps", "GPT-07", "eps is under the root")
BUG(BUG_ADAM_COUNT_ONE, "X373-adam-count-one", "GPT-07",
    "every bias correction is that of the first step")
BUG(BUG_ADAM_RANK_FORGETS, "X374-adam-rank-forgets", "GPT-07",
    "ranks but the first begin every step with moments of 0")
BUG(BUG_ADAM_SECOND_NOW, "X377-adam-second", "GPT-07",
    "the second moment is the square of the gradient at hand")
BUG(BUG_ADAM_COUNT_SHARED, "X375-adam-count-shared", "GPT-08",
    "all parameters share the count of the model's steps")
BUG(BUG_ADAM_COUNT_BACKWARDS, "X376-adam-count-backwards", "GPT-09",
    "backwards are counted, not steps")

/* gradients that other steps, modes and forms leave or lose */
BUG(BUG_STALE_UNUSED, "S68-stale-unused", "GRAD-12",
    "a replica gives the gradient of the backward before where it has none")
BUG(BUG_EVAL_REPLICA_0, "S69-eval-replica-0", "GRAD-01",
    "in evaluation only replica 0's gradient arrives")
BUG(BUG_TABLE_SETS, "S70-table-sets", "GRAD-13",
    "the gradient of an embedding replaces the one that was there")
BUG(BUG_FROZEN_ALL, "S71-frozen-all", "REPL-13",
    "a wrapper in which all is frozen gives its inputs zeros")
BUG(BUG_VELOCITY_SHARED, "S72-velocity-shared", "GRAD-17",
    "parameters of the same name share a momentum, whatever their model")
BUG(BUG_CHANGED_FROZEN, "S73-changed-frozen", "GRAD-20",
    "a change of a frozen parameter after the forward is not noticed")
BUG(BUG_OUTPUT_SCALARS, "S74-output-scalars", "OUT-03",
    "with output_device every replica gets the gradient of the first scalar")
BUG(BUG_OUTPUT_FURTHER, "S75-output-further", "OUT-03",
    "with output_device gradients of further outputs are lost")
BUG(BUG_FUNCTIONAL_CLONES, "S76-functional-clones", "COMP-06",
    "the functional form loses what replica 0 writes to a buffer")
BUG(BUG_FUNCTIONAL_DEFAULT, "S77-functional-default", "COMP-06",
    "the functional form's output lies on device 0 unless it is told otherwise")
BUG(BUG_FUNCTIONAL_ONE, "S78-functional-one", "DEV-05",
    "the functional form without device_ids runs on the first device alone")
BUG(BUG_NORM_NO_GRAD, "S79-norm-no-grad", "BUF-02",
    "running statistics do not move without grad mode")
BUG(BUG_NORM_FROZEN, "S80-norm-frozen", "BUF-02",
    "running statistics of a frozen batch norm do not move")
BUG(BUG_EVAL_WRITTEN, "S81-eval-written", "BUF-05",
    "replicas evaluate with old statistics when these were written by hand")
BUG(BUG_DDP_UNUSED_LAST, "S82-ddp-unused-last", "DDP-21",
    "a rank that does not use a parameter gives what it gave for it last")
BUG(BUG_LEAK_FAILED, "S83-leak-failed", "COMP-12", "a forward that fails frees nothing")
