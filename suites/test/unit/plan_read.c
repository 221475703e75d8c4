/* plan_read.c: the text of a sweep's options gives the same cells again, and no other text does. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"

static const char *const texts[] = {
    "--devices virt:4 --backend cpu --mode plain,dp,ddp --counts 1,2,4 --bucket 0,4096 --scaling "
    "strong --batch 64,512 --workload mlp:8,8,8 --workload cnn --launches 6 --seed 696803753 "
    "--seconds 0.5 --steps 10:40 --bind cores",
    "--devices virt:2+lag --backend cpu-ref --math bf16 --mode ddp --counts 2 --scaling weak "
    "--batch "
    "3 --workload tutorial --launches 1 --seed 18446744073709551615 --seconds 0.001 --steps 1:1 "
    "--bind none --graphs off",
    ("--devices cuda:0-1 --backend cuda-staged --mode plain --counts 1 --scaling strong --batch 1 "
     "--workload lstm --launches 2 --seed 0 --seconds 3600 --steps 1:2000 --bind none"),
};

Test(plan_read, what_is_written_is_read)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        struct plan_options plan;
        struct text_error why = {""};
        char again[512];
        cr_assert(plan_read(texts[i], i == 0 ? 4 : 2, &plan, &why) == 0, "%s", why.text);
        cr_assert(plan_command(&plan, again, sizeof again, &why) == 0);
        cr_assert_str_eq(again, texts[i]);
    }
    struct plan_options plan;
    struct text_error why = {""};
    cr_assert(plan_read(texts[0], 4, &plan, &why) == 0);
    /* Each workload and batch has one plain cell, 3 counts of dp, and 3 of ddp with either bucket.
     */
    cr_assert(plan_cells(&plan) == 6 * 2 * 2 * (1 + 3 + 2 * 3), "%zu", plan_cells(&plan));
    cr_assert(plan.seed == 696803753 && plan.limits.min_steps == 10 && plan.bind && !plan.weak);
}

/* Each edit of the first text, and the error that it must give. */
Test(plan_read, other_texts_are_refused)
{
    static const struct {
        const char *old, *with, *words;
    } edits[] = {
        {"--mode", "--modes", "does not know its \"--modes\""},
        {" --bind cores", "", "a sweep writes \"10:40 --bind none\""},
        {" --bind cores", " --bind", "its \"--bind \" cannot be used"},
        {"plain,dp,ddp", "dp,plain,ddp", "it is \"dp,plain,ddp"},
        {"plain,dp,ddp", "all", "its \"--mode all\" cannot be used"},
        {"plain,dp,ddp", "plain,dp", "--bucket is of --mode ddp"},
        {"1,2,4", "1,4,2", "it is \"1,4,2"},
        {"1,2,4", "1,2,8", "--counts has 8"},
        {"1,2,4", "1,2,", "cannot be used"},
        {"0,4096", "0,-1", "cannot be used"},
        {"strong", "str", "its \"--scaling str\" cannot be used"},
        {"64,512", "0,512", "cannot be used"},
        {"mlp:8,8,8", "mlp:8,x,8", "cannot be used"},
        {"--workload cnn", "--workload tutorial --seed 3", "it is \"--seed"},
        {"--launches 6", "--launches 0", "cannot be used"},
        {"696803753", "0696803753", "it is \"0696803753"},
        {"0.5", "0.50", "it is \"0.50 --steps"},
        {"10:40", "10:", "its \"--steps 10:\" cannot be used"},
        {"--backend cpu ", "--backend  cpu ", "it is \" cpu"},
        {"--seed", "extra --seed", "does not know its \"extra\""},
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; ++i) {
        struct plan_options plan;
        struct text_error why = {""};
        const char *at = strstr(texts[0], edits[i].old);
        char text[512];
        cr_assert(at, "%s", edits[i].old);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - texts[0]), texts[0], edits[i].with,
                 at + strlen(edits[i].old));
        cr_assert(plan_read(text, 4, &plan, &why) == -1, "%s was read", edits[i].with);
        cr_assert(strstr(why.text, edits[i].words), "%s: %s", edits[i].with, why.text);
    }
}

#define MODELS                                                                                     \
    "--seconds 0.5 --steps 3:9 --devices virt:4 --backend cpu --workload tutorial --workload cnn "
#define EACH MODELS "--counts 1,2,4 --batch 10,30,64 "
#define COLLECTIVES_OF(sizes)                                                                      \
    "--seconds 1 --steps 1:9 --devices virt:4 --backend cpu --sizes " sizes " --collective "
#define TWO COLLECTIVES_OF("8,4096") "allreduce,broadcast "

/* Sweeps that cannot be. What a text lacks has its default. */
Test(plan_read, what_cannot_be_is_refused)
{
    static const struct {
        int devices;
        const char *text, *words;
    } rows[] = {
        {4, MODELS "--counts 1,2,5", "--counts has 5"},
        {4, EACH "--mode plain", "--counts has 4, but --mode plain"},
        {4, MODELS "--mode plain --counts 2", "--counts has 2, but --mode plain"},
        {4, MODELS "--mode ddp --counts 1,2,4 --batch 3,30",
         "--batch has 3, but --mode ddp needs a row for each of 4"},
        {4, MODELS "--mode ddp --counts 1,3,4 --batch 3,30", "--counts has 3, but --mode ddp"},
        {4, MODELS "--scaling weak --counts 1,2,4 --batch 10,262145",
         "1048580 rows on 4 devices; at most 1048576"},
        {4, EACH "--mode plain-mt", "add plain, dp or ddp"},
        {4, MODELS "--mode plain,plain-mt --counts 1", "--counts has only 1"},
        {4, EACH "--mode plain,dp --bucket 0,4096", "plain,dp has none"},
        {4, EACH "--mode collective --host-inputs 1", "--host-inputs is of"},
        {1, TWO, "a collective needs two"},
        {4, TWO "--counts 1", "--counts has 1, a collective needs two"},
        {4, COLLECTIVES_OF("8,4098") "allreduce",
         "--sizes has 4098, which is no multiple of the 4 bytes of f32"},
        {4, TWO "--batch 1", "--batch is of models"},
        {4, TWO "--workload tutorial", "--workload is of models"},
        {4, TWO "--scaling weak", "--scaling is of models"},
        {4, TWO "--parts 1", "--parts is of models"},
        {4, TWO "--mode dp,collective", "leave out dp"},
        {4, TWO "--mode dp", "--mode dp has none"},
        {4, COLLECTIVES_OF("8") "allreduce,allredux",
         "unknown collective \"allredux\"; known: allreduce, broadcast, allgather"},
        {4, COLLECTIVES_OF("8,4096") "allreduce,allgather",
         "--sizes has 8, but allgather on 4 devices has a block for each: a multiple of 16 bytes"},
        {4, COLLECTIVES_OF("16") "allreduce,alltoall --out-of-place 0",
         "--out-of-place has 0, but alltoall is never in place"},
        {4, TWO "--type bf16",
         "--type bf16 is only carried, and allreduce adds; types that are added: f32, f64, i32"},
        {4, TWO "--bucket 0", "--bucket is of --mode ddp"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct plan_options plan;
        struct text_error why = {""};
        cr_assert(plan_read(rows[i].text, rows[i].devices, &plan, &why) == -1, "%s was read",
                  rows[i].text);
        cr_assert(strstr(why.text, rows[i].words), "%s: %s", rows[i].text, why.text);
    }
}

/* The most rows are on all devices together in a weak sweep, else on each number of them. */
Test(plan_read, the_most_rows)
{
    static const char form[] =
        "--devices virt:4 --backend cpu --mode plain,dp --counts 1,2,4 --scaling %s --batch %d "
        "--workload tutorial --launches 1 --seed 0 --seconds 0.5 --steps 3:9 --bind none";

    for (int weak = 0; weak < 2; ++weak) {
        struct plan_options plan;
        struct text_error why = {""};
        char text[512];
        snprintf(text, sizeof text, form, weak ? "weak" : "strong", PLAN_MAX_ROWS / (weak ? 4 : 1));
        cr_assert(plan_read(text, 4, &plan, &why) == 0, "%s", why.text);
    }
}
