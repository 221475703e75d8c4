/* habit_list.h: the bad habits: enum and word of impl_config.options. A file that includes this one
 * defines HABIT, which uses one row. */

HABIT(HABIT_NONE, "none") /* it is good */
/* open */
HABIT(OPEN_CRASHES, "open-crashes")
HABIT(OPEN_EXITS, "open-exits")
HABIT(OPEN_FORGETS, "open-forgets") /* returns 0 without a session */
HABIT(OPEN_NO_NAME, "open-no-name")
HABIT(OPEN_MANY_DEVICES, "open-many-devices")
HABIT(OPEN_NEGATIVE_DEVICES, "open-negative-devices")
HABIT(OPEN_RUBBISH_DIALECT, "open-rubbish-dialect")
HABIT(OPEN_SHRINKS, "open-shrinks") /* has eight devices when it is opened first, then one */
HABIT(OPEN_NOISE, "open-noise")     /* megabytes on standard output and error, then all is well */
HABIT(OPEN_HOST_DEVICES, "open-host-devices") /* returns devices in a session without any */
/* scatter */
HABIT(SCATTER_CRASHES, "scatter-crashes")
HABIT(SCATTER_ABORTS, "scatter-aborts")
HABIT(SCATTER_EXITS, "scatter-exits")
HABIT(SCATTER_RECURSES, "scatter-recurses")
HABIT(SCATTER_STOPS, "scatter-stops")   /* stops itself by a signal */
HABIT(SCATTER_BEHIND, "scatter-behind") /* writes one byte after the end of an output */
HABIT(SCATTER_BEFORE, "scatter-before")
HABIT(SCATTER_INPUT, "scatter-input") /* writes into its input */
HABIT(SCATTER_NAN, "scatter-nan")
HABIT(SCATTER_DEVICE, "scatter-device")     /* right values, on the wrong device */
HABIT(SCATTER_UNFILLED, "scatter-unfilled") /* returns success without doing anything */
HABIT(SCATTER_NO_COUNT, "scatter-no-count") /* fills the shards and not their number */
HABIT(SCATTER_NDIM, "scatter-ndim")
HABIT(SCATTER_DTYPE, "scatter-dtype")
HABIT(SCATTER_DIM, "scatter-dim")
HABIT(SCATTER_STATUS, "scatter-status")       /* a status that does not exist */
HABIT(SCATTER_NO_REASON, "scatter-no-reason") /* returns an error without a text */
HABIT(SCATTER_LIES, "scatter-lies")           /* returns success, and an error */
/* It returns an error text without an end, made of control characters. */
HABIT(SCATTER_RAW_REASON, "scatter-raw-reason")
HABIT(SCATTER_NOISE, "scatter-noise")
HABIT(SCATTER_FORKS, "scatter-forks")   /* leaves a child that goes on */
HABIT(SCATTER_CLOSES, "scatter-closes") /* closes all files that it can find */
HABIT(SCATTER_FORGES, "scatter-forges") /* writes into all files that it can find */
HABIT(SCATTER_BROKEN, "scatter-broken")
HABIT(NEVER_REFUSES, "never-refuses") /* every error of a primitive becomes a success */
/* walls: changes that scatter leaves, or memory that it reaches for */
HABIT(WALL_ROUNDS, "rounds")               /* rounds upward from now on */
HABIT(WALL_ROUNDS_BACK, "rounds-back")     /* rounds upward and back again, which is allowed */
HABIT(WALL_FLUSHES, "flushes")             /* denormal results are 0 from now on */
HABIT(WALL_TRAPS, "traps")                 /* a division by zero raises a signal from now on */
HABIT(WALL_LOCALE, "locale")               /* sets the locale of the environment */
HABIT(WALL_LOCALE_INSIDE, "locale-inside") /* sets it and sets it back again */
HABIT(WALL_SIGNALS, "signals")             /* blocks SIGINT */
HABIT(WALL_BEHIND, "input-behind")         /* adds 1 to the byte after its input */
HABIT(WALL_BEFORE, "input-before")         /* adds 1 to the byte before it */
HABIT(WALL_READS_FAR, "reads-far")         /* reads a page after it */
HABIT(WALL_FORGES, "forges-pass") /* searches for the token of results, and writes a pass */
HABIT(WALL_STAYS, "stays")        /* leaves a process in a new session */
HABIT(NO_RANKS, "no-ranks")       /* has no device, and so no rank but one */
HABIT(NO_JOIN, "no-join")         /* does not claim that ranks can join */
HABIT(REFUSES_ALL, "refuses-all")
/* models */
HABIT(FORWARD_HANGS, "forward-hangs")
HABIT(FORWARD_LEAKS, "forward-leaks") /* keeps a batch of each step */
HABIT(BACKWARD_CRASHES, "backward-crashes")
HABIT(GET_NAN, "get-nan")
HABIT(CLOSE_CRASHES, "close-crashes")
HABIT(RESET_FAILS, "reset-fails")
