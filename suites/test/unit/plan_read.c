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
