/* calls_commands.c: the commands in which calls are made to fail: small ones of every kind.
 *
 * They run in a separate folder next to input/, where calls.c puts the files that they read. */
#include "calls_run.h"

#define CHECK "check", "--devices", "virt:2", "--only", "SPLIT-01.sizes,SPLIT-01.order,OUT-01"
/* The sizes of SPLIT-01 would make 50,000 allocations in the child that holds the library. */
#define CHECK_EXEC                                                                                 \
    "check", "--devices", "virt:2", "--only", "SPLIT-01.order,OUT-01", "--impl",                   \
        "exec:serve reference", "--format", "json", "--out", "c.json"
#define TRAIN                                                                                      \
    "train", "--data", "../input/few.csv", "--model", "mlp:2,4,3", "--epochs", "2", "--batch", "4"
#define SWEEP                                                                                      \
    "sweep", "--bind", "none", "--devices", "virt:2", "--counts", "2", "--batch", "10", "--seed",  \
        "5", "--seconds", "0.001", "--steps", "2:2"
#define COMPARE "compare", "--allow-dirty", "../input/s.jsonl", "../input/again.jsonl"

const struct fault_command fault_commands[] = {
    {"devices", {"devices", "--devices", "virt:2"}, {NULL}},
    {"devices_json", {"devices", "--devices", "virt:2", "--format", "json"}, {NULL}},
    {"devices_ctest", {"devices", "--ctest-resources"}, {NULL}},
    {"tutorial", {"tutorial", "--devices", "virt:2"}, {NULL}},
    {"train",
     {TRAIN, "--devices", "virt:2", "--save", "w.weights", "--out", "t.jsonl"},
     {"w.weights", NULL}},
    {"train_figure", {TRAIN, "--devices", "virt:2", "--figure", "figure"}, {NULL}},
    {"train_ddp",
     {TRAIN, "--devices", "virt:2", "--mode", "ddp", "--against", "host", "--load",
      "../input/few.weights", "--save", "w.weights"},
     {"w.weights", NULL}},
    {"sweep", {SWEEP, "--workload", "tutorial", "--mode", "dp,ddp", "--out", "s.jsonl"}, {NULL}},
    {"sweep_resume",
     {SWEEP, "--workload", "tutorial", "--mode", "dp,ddp", "--resume", "--out", "s.jsonl"},
     {"s.jsonl", NULL}},
    {"sweep_format",
     {SWEEP, "--workload", "tutorial", "--format", "junit", "--out", "s.jsonl"},
     {NULL}},
    {"check", {CHECK}, {NULL}},
    {"check_json", {CHECK, "--format", "json", "--out", "c.json"}, {"c.json", NULL}},
    {"check_junit", {CHECK, "--format", "junit", "--out", "c.xml"}, {"c.xml", NULL}},
    {"check_md", {CHECK, "--format", "md", "--out", "c.md"}, {"c.md", NULL}},
    {"check_exec", {CHECK_EXEC}, {"c.json", NULL}},
    {"compare", {COMPARE}, {NULL}},
    {"compare_json", {COMPARE, "--format", "json"}, {NULL}},
    {"validate",
     {"validate", "--allow-dirty", "--profile", "../input/p.yaml", "--conformance",
      "../input/c.json", "--format", "json", "../input/s.jsonl"},
     {NULL}},
    {"validate_check", {"validate", "check", "../input/p.yaml"}, {NULL}},
    {"fleet",
     {"fleet", "../input/nodes", "--out", "lists"},
     {NULL}}, /* lists of another day are removed first */
    {"forecast",
     {"forecast", "--allow-dirty", "../input/s.jsonl", "--to", "4", "--format", "json"},
     {NULL}},
    {"soak",
     {"soak", "--devices", "virt:2", "--iterations", "3", "--workload", "mlp:8,6,4", "--batch", "4",
      "--format", "json"},
     {NULL}},
    {"report",
     {"report", "../input/s.jsonl", "--check", "../input/c.json", "--out", "page"},
     {"page/index.html", "page/summary.md", "page/conformance.html", NULL}},
    {.name = NULL}};
