/* edge_list.h: the bugs of sizes, counts and shapes: number, name, rule, what it does. Each is
 * right for small and even sizes, and wrong above a limit. A file that includes this one defines
 * EDGE, which uses one row. */
EDGE(BUG_ROWS_TAIL, "S01-rows-tail", "SIZE-01",
     "of more than 128 rows those beyond a multiple of 128 give no weight gradient")
EDGE(BUG_ROWS_1024, "S02-rows-1024", "SIZE-01",
     "only the first 1024 rows of a shard count in a weight gradient")
EDGE(BUG_BIAS_ODD_ROW, "S03-bias-odd-row", "SIZE-01",
     "of an odd number of rows above 32 the last is left out of the bias gradient")
EDGE(BUG_ROWS_POWER, "S04-rows-power", "SIZE-01",
     "of 64, 128, 256 .. rows the last counts twice in a weight gradient")
EDGE(BUG_TERMS_TAIL, "S05-terms-tail", "SIZE-01",
     "sums of more than 512 products lose what is beyond a multiple of 512")
EDGE(BUG_COPY_REPEATS, "S06-copy-repeats", "SIZE-02",
     "beyond 1 MiB the copy of a parameter begins again")
EDGE(BUG_SUM_TAIL, "S07-sum-tail", "SIZE-02",
     "gradients beyond a multiple of 128 elements are those of the first replica")
EDGE(BUG_SECOND_GROUP, "S08-second-group", "SIZE-03",
     "a second group of one type is sent before it is packed")
EDGE(BUG_LAST_GROUP, "S09-last-group", "SIZE-03",
     "of a second group of one type only the first replica's gradients arrive")
EDGE(BUG_STEP_MIB, "S10-step-mib", "SIZE-02", "a step moves the first MiB of a parameter only")
EDGE(BUG_STEP_TAIL, "S11-step-tail", "SIZE-02",
     "of more than 64 elements those beyond a multiple of 8 get no step")
EDGE(BUG_ADDED_TAIL, "S12-added-tail", "SIZE-02",
     "of more than 64 elements those beyond a multiple of 4 are not added to what is there")
EDGE(BUG_SHARD_MIB, "S13-shard-mib", "SIZE-01", "beyond 256 KiB a shard that moves begins again")
EDGE(BUG_BUCKET_TAIL, "S14-bucket-tail", "SIZE-04",
     "beyond a multiple of 128 elements of a bucket each rank keeps its own")
EDGE(BUG_BUCKET_HALVES, "S15-bucket-halves", "SIZE-05",
     "above 1 MiB the halves of a bucket change places")
EDGE(BUG_BUCKET_THIRD, "S16-bucket-third", "SIZE-05",
     "behind the second bucket each rank keeps its own gradients")
EDGE(BUG_BUCKET_PARTS, "S17-bucket-parts", "SIZE-04",
     "what is left when a bucket is cut into R parts is not reduced")
EDGE(BUG_BUCKET_LATE, "S18-bucket-late", "SIZE-05",
     "the last of several buckets is read one element late")
EDGE(BUG_FIVE_LAST, "S19-five-last", "COUNT-01", "on five devices the last gradient is not added")
EDGE(BUG_SIX_ORDER, "S20-six-order", "COUNT-01", "on six devices replicas 3 and 4 change places")
EDGE(BUG_SEVEN_SHARD, "S21-seven-shard", "COUNT-01, COUNT-02",
     "of seven shards the sixth is the fifth once more")
EDGE(BUG_NINE_GRADIENTS, "S22-nine-gradients", "COUNT-01", "replicas beyond eight give no gradient")
EDGE(BUG_FIVE_COPIES, "S23-five-copies", "COUNT-02", "the last of five copies is not sent")
EDGE(BUG_SEVEN_LISTS, "S24-seven-lists", "COUNT-02", "of seven lists six are added")
EDGE(BUG_NINE_PARTS, "S25-nine-parts", "COUNT-02",
     "of nine parts and more two of the same size change places")
EDGE(BUG_SIX_CALLS, "S26-six-calls", "COUNT-02", "of six calls the fifth has the fourth's output")
EDGE(BUG_OUTPUT_DEVICE_5, "S27-output-device-5", "COUNT-03",
     "an output_device above 4 counts as the default")
EDGE(BUG_INPUT_DEVICE_5, "S28-input-device-5", "COUNT-03",
     "the gradient of an input on a device above 4 lies on the first device")
EDGE(BUG_DDP_FIVE, "S29-ddp-five", "COUNT-04", "the last of five ranks is not reduced")
EDGE(BUG_DDP_BUFFERS_FOUR, "S30-ddp-buffers-four", "COUNT-04",
     "buffers are sent to the first four ranks")
EDGE(BUG_DDP_JOIN_SIX, "S31-ddp-join-six", "COUNT-04",
     "of more than five ranks a join has those with a batch as the divisor")
EDGE(BUG_DDP_NINE, "S32-ddp-nine", "COUNT-04", "ranks beyond eight are not reduced")
EDGE(BUG_DDP_SEVEN_LOST, "S33-ddp-seven-lost", "COUNT-04",
     "of seven ranks what was added up without sync is lost")
EDGE(BUG_DDP_EIGHT, "S34-ddp-eight", "COUNT-04", "of eight ranks the last one is the one before")
EDGE(BUG_DDP_SENT_FIRST, "S35-ddp-sent-first", "SHAPE-05",
     "at construction the first element of a parameter is sent")
EDGE(BUG_DDP_BUFFERS_ELEMENT, "S36-ddp-buffers-element", "SHAPE-05",
     "before a forward the first element of a buffer is sent")
EDGE(BUG_DDP_SECOND_DX, "S37-ddp-second-dx", "SHAPE-06",
     "the gradient of a rank's second input is zeros")
EDGE(BUG_DDP_SECOND_GRADIENT, "S38-ddp-second-gradient", "SHAPE-06",
     "the gradient of a rank's second output is not used")
EDGE(BUG_DDP_OUTPUT_OF, "S39-ddp-output-of", "SHAPE-06",
     "the second output of ranks behind the first is the first output")
EDGE(BUG_OUTPUT_DIM, "S40-output-dim", "SHAPE-02",
     "with output_device outputs are glued along dim 0")
EDGE(BUG_FUNCTIONAL_BACK, "S41-functional-back", "SHAPE-02",
     "the functional form with dim gives its input no gradient but zeros")
EDGE(BUG_AXIS_THREE, "S42-axis-three", "SHAPE-01",
     "cut along a dimension behind the third all shards begin at 0")
EDGE(BUG_AXIS_TWO, "S43-axis-two", "SHAPE-01",
     "along the third dimension part i is glued at i times the first part's size")
EDGE(BUG_NEGATIVE_FIVE, "S44-negative-five", "SHAPE-01",
     "of five dimensions a negative one counts from the fourth")
EDGE(BUG_NO_COLUMNS, "S45-no-columns", "SHAPE-03", "rows without elements are no rows")
EDGE(BUG_NO_COLUMNS_GLUED, "S46-no-columns-glued", "SHAPE-03",
     "glued rows without elements have no columns left")
EDGE(BUG_SQUARE_GRADIENT, "S47-square-gradient", "SHAPE-04",
     "the gradient of a square weight is transposed in replicas")
EDGE(BUG_DDP_SQUARE, "S48-ddp-square", "SHAPE-04",
     "ranks reduce a square weight's gradient row by column")
