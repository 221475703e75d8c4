/* bugs_later.h: more bugs, one in each row: those that show only after some time, those that only
 * some values, errors or sessions show, and those that only a known answer shows.
 *
 * B(BUG_NAME, option, rule whose cases should catch it, what it does)
 *
 * bug.h makes numbers of the rows, mutant_list.c entries. The helpers are in later.c and
 * values.c. */
#ifndef MUTANTS_BUGS_LATER_H
#define MUTANTS_BUGS_LATER_H

/* clang-format off */
#define LATER_BUGS(B) \
/* evaluation after training */ \
B(BUG_EVAL_FIRST, "X300-eval-first", "BUF-05", "replicas evaluate with the statistics of their first evaluation") \
B(BUG_EVAL_BATCH, "X301-eval-batch", "BUF-05", "after training, replicas evaluate with the last batch's statistics") \
B(BUG_EVAL_SLOPE, "X302-eval-slope", "BUF-05", "in evaluation the weight of batch norm gets no gradient") \
/* the optimizer */ \
B(BUG_RATE_FIRST, "X303-rate-first", "GRAD-19", "the learning rate of the first step holds for all") \
B(BUG_RATE_INSIDE, "X304-rate-inside", "GRAD-19", "the learning rate is inside of the momentum: v = m*v + lr*g") \
B(BUG_RATE_RESETS, "X305-rate-resets", "GRAD-19", "another learning rate forgets the momentum") \
B(BUG_RATE_ZERO, "X306-rate-zero", "GRAD-19", "a step with the rate 0 is left out, its momentum too") \
B(BUG_RATE_RANKS, "X307-rate-ranks", "GRAD-19", "ranks but the first keep the learning rate of their first step") \
B(BUG_MOMENTUM_HALF, "X308-momentum-half", "GRAD-19", "every momentum above 0 counts as 0.5") \
/* many steps */ \
B(BUG_FORWARD_65, "X309-forward-65", "COMP-14", "from the 65th forward on replicas have the values of the 64th") \
B(BUG_REDUCE_65, "X310-reduce-65", "COMP-14", "from the 65th backward on the last replica is not added") \
B(BUG_STEP_128, "X311-step-128", "COMP-14", "steps are counted in 7 bits: the 128th and later do nothing") \
B(BUG_RANKS_65, "X312-ranks-65", "DDP-01", "every 65th backward of ranks is not reduced") \
B(BUG_LEAK_SMALL, "X313-leak-small", "COMP-12", "each step leaves 1 KiB that nobody counts") \
B(BUG_LEAK_SELDOM, "X314-leak-seldom", "COMP-12", "every 64th step is never freed") \
/* calls that wait, and data at an address where other data were before */ \
B(BUG_RANKS_WAIT, "X315-ranks-wait", "DDP-09", "a forward of ranks ends the sync of those that wait") \
B(BUG_INPUT_AT, "X316-input-at", "COMP-10", "an input at the address of the last one counts as sent") \
B(BUG_GRADIENT_AT, "X317-gradient-at", "COMP-10", "so does an output's gradient") \
B(BUG_SCATTER_AT, "X318-scatter-at", "SPLIT-01", "scatter knows its input by the address") \
B(BUG_ARGUMENT_REREAD, "X319-argument-reread", "NONT-07", "backward reads the caller's argument again") \
B(BUG_ARGUMENT_LAST, "X320-argument-last", "NONT-07", "backward has the argument of the last forward") \
/* sessions and models at the same time, and one after the other */ \
B(BUG_SESSION_DEVICES, "X321-session-devices", "COMP-13", "there are as many devices as the session opened last has") \
B(BUG_SESSION_DROPS, "X322-session-drops", "COMP-13", "opening a session drops the forwards that wait in others") \
B(BUG_MODEL_VALUE, "X323-model-value", "COMP-13", "a parameter without initial values has those of a closed model") \
B(BUG_MODEL_VELOCITY, "X324-model-velocity", "COMP-13", "a new model goes on with the momentum of a closed one") \
/* values */ \
B(BUG_PART_LEFT_OUT, "X325-part-left-out", "GRAD-18", "a replica whose gradient is not finite is left out of the sum") \
B(BUG_PART_NAN, "X326-part-nan", "GRAD-18", "NaN in a replica's gradient becomes 0") \
B(BUG_SUM_CLAMPED, "X327-sum-clamped", "GRAD-18", "a sum that is infinite becomes the largest float") \
B(BUG_SUM_DENORMAL, "X328-sum-denormal", "GRAD-18", "sums of gradients below the normal numbers become 0") \
B(BUG_DX_DENORMAL, "X329-dx-denormal", "GRAD-18", "so do input gradients") \
B(BUG_RANKS_DENORMAL, "X330-ranks-denormal", "DDP-05", "so do the gradients of ranks") \
B(BUG_RANKS_NAN, "X331-ranks-nan", "DDP-05", "NaN of a rank becomes 0, infinities stay") \
B(BUG_SCATTER_DOUBLE, "X332-scatter-double", "SPLIT-14", "int64 is scattered as double: beyond 2^53 it changes") \
B(BUG_GATHER_DOUBLE, "X333-gather-double", "GATH-14", "int64 is gathered as double") \
B(BUG_REDUCE_INT_DOUBLE, "X334-reduce-double", "COAL-13", "int64 is added as double") \
B(BUG_SCATTER_ZERO, "X335-scatter-zero", "SPLIT-14", "shards are added to zeros: -0 becomes 0") \
B(BUG_GATHER_ZERO, "X336-gather-zero", "GATH-14", "parts are added to zeros") \
B(BUG_REPLICA_ZERO, "X337-replica-zero", "REPL-07", "replicas' parameters are added to zeros") \
B(BUG_NORM_EPS_OUTSIDE, "X338-norm-eps", "BUF-12", "in training eps is added to the deviation, not to the variance") \
B(BUG_NORM_MOMENTUM_OLD, "X339-norm-momentum", "BUF-12", "momentum is the weight of the old value") \
B(BUG_NORM_THIRD, "X340-norm-third", "BUF-12", "the third feature and later have the second's statistics") \
/* failures */ \
B(BUG_RANK_ERROR_FIRST, "X341-rank-first", "DDP-31", "the error of any rank names rank 0") \
B(BUG_RANK_ERROR_DEVICE, "X342-rank-device", "DDP-31", "it names device 0, though ranks are on the host") \
B(BUG_RANK_ERROR_TEXT, "X343-rank-text", "DDP-31", "it loses what the layer said") \
B(BUG_RANK_ERROR_KIND, "X344-rank-kind", "DDP-31", "it is always a fault") \
B(BUG_RANK_LEFT_OUT, "X345-rank-left-out", "DDP-32", "a rank that failed is left out of the next reduction") \
B(BUG_RANK_UNSENT, "X346-rank-unsent", "DDP-32", "the backward after a rank's error is not reduced") \
B(BUG_RANK_DIVISOR, "X347-rank-divisor", "DDP-32", "after a rank's error the divisor is one less") \
B(BUG_ERROR_AGAIN, "X348-error-again", "APPLY-13", "a model's second error tells the first one again") \
B(BUG_ERROR_ONCE, "X349-error-once", "APPLY-13", "a model's second error is swallowed") \
B(BUG_ERROR_SECOND_BLOCKS, "X350-error-blocks", "APPLY-13", "the forward after a model's second error fails") \
/* only a known answer shows them, or a right call next to a wrong one */ \
B(BUG_SHORT_LINEAR, "X351-short-linear", "AGREE-01", "linear layers cut their input to 7 bits, on all devices") \
B(BUG_INEXACT_ZERO, "X352-inexact-zero", "AGREE-02", "of numbers with more than 16 bits a linear layer makes 0") \
B(BUG_SHORT_SLOPE, "X353-short-slope", "AGREE-01", "so does its input gradient, of 16 bits") \
B(BUG_COPIES_UNREAD, "X354-copies-unread", "COAL-08", "a broadcast that shows its sources has copies of zeros") \
B(BUG_REFUSES_ALL, "X355-refuses-all", "SPLIT-01", "everything is refused (inval): refusals alone prove nothing") \
B(BUG_IDLE, "X380-does-nothing", "SPLIT-01", "everything is accepted, and zeros come out at once") \
B(BUG_IDLE_OTHER, "X381-does-nothing-other", "SPLIT-01", "so, where the other choice of each dialect is declared") \
B(BUG_REFUSES_FORWARD, "X356-refuses-forward", "COMP-01", "so is every forward (device)") \
/* parameters that change between forward and backward */ \
B(BUG_CHANGED_STEP, "X382-changed-step", "GRAD-20", "a backward after a step takes the new values where they are shared") \
B(BUG_CHANGED_SET, "X383-changed-set", "GRAD-20", "so does one after a value was set") \
B(BUG_CHANGED_RANKS, "X384-changed-ranks", "GRAD-20", "so does that of a rank") \
/* the order of sums */ \
B(BUG_SAYS_LISTED, "X357-says-listed", "DET-01", "replicas are added from the last one on") \
B(BUG_FREE_COARSE, "X358-free-coarse", "DET-03", "sums in a free order have 16 bits") \
/* a transformer */ \
B(BUG_TABLE_TWICE, "X359-table-twice", "GPT-01", "a table that is the output, too, is reduced twice for it") \
B(BUG_TABLE_ONCE, "X360-table-once", "GPT-01", "a table that is the output, too, loses the embedding's gradient") \
B(BUG_POSITIONS_REPLICA, "X361-positions-replica", "GPT-02", "positions shift with the number of the replica") \
B(BUG_POSITIONS_ROW, "X362-positions-row", "GPT-02", "positions are counted on from row to row") \
B(BUG_POSITIONS_FIRST, "X363-positions-first", "GPT-02", "only a shard's first row gives positions a gradient") \
B(BUG_MASK_AHEAD, "X364-mask-ahead", "GPT-03", "a token sees the next one") \
B(BUG_MASK_ROWS, "X365-mask-rows", "GPT-03", "a token sees the rows before its own") \
B(BUG_SCALE_OUT, "X378-scale-out", "GPT-03", "products of queries and keys are not divided by the root of the head's size") \
B(BUG_SCALE_ONE_WAY, "X379-scale-one-way", "GPT-03", "so in the gradient only") \
B(BUG_LAYER_NORM_SHARD, "X366-norm-shard", "GPT-04", "layer norm has the mean and variance of the shard") \
B(BUG_ENTROPY_MEAN, "X367-entropy-mean", "GPT-05", "cross entropy is the mean of each shard") \
B(BUG_CLIP_OWN, "X368-clip-own", "GPT-06", "the norm is a replica's or rank's own, before the reduction") \
B(BUG_CLIP_EACH, "X369-clip-each", "GPT-06", "each parameter is clipped by its own norm") \
B(BUG_CLIP_GROWS, "X370-clip-grows", "GPT-06", "gradients below the norm allowed grow to it") \
B(BUG_ADAM_DECAY_INSIDE, "X371-adam-decay", "GPT-07", "the decay is a part of the gradient") \
B(BUG_ADAM_EPS_INSIDE, "X372-adam-eps", "GPT-07", "eps is under the root") \
B(BUG_ADAM_COUNT_ONE, "X373-adam-count-one", "GPT-07", "every bias correction is that of the first step") \
B(BUG_ADAM_RANK_FORGETS, "X374-adam-rank-forgets", "GPT-07", "ranks but the first begin every step with moments of 0") \
B(BUG_ADAM_SECOND_NOW, "X377-adam-second", "GPT-07", "the second moment is the square of the gradient at hand") \
B(BUG_ADAM_COUNT_SHARED, "X375-adam-count-shared", "GPT-08", "all parameters share the count of the model's steps") \
B(BUG_ADAM_COUNT_BACKWARDS, "X376-adam-count-backwards", "GPT-09", "backwards are counted, not steps")
/* clang-format on */

#endif
