/* models.c: the list of workloads: each is whole, and none trains with a learning rate of 0. */
#include <criterion/criterion.h>
#include <string.h>

#include "descriptor.h"
#include "train/train.h"
#include "verify/verify.h"
#include "workload_list.h"

#define NAME(name) #name,
static const char *const names[] = {WORKLOADS(NAME)};
enum { NAMES = sizeof names / sizeof names[0] };

/* Returns the workload; those with sizes in their name get some. */
static struct workload workload_of(const char *name)
{
    struct workload workload;
    char why[200] = "", sized[64];

    snprintf(sized, sizeof sized, "%s:%s", name, strcmp(name, "gpt") == 0 ? "1,8,2,4,5" : "6,5,4");
    if (workload_parse(name, &workload, why, sizeof why) != 0)
        cr_assert(workload_parse(sized, &workload, why, sizeof why) == 0, "%s", why);
    return workload;
}

Test(models, all_have_what_sweep_and_train_need)
{
    cr_assert(NAMES >= 8);
    for (size_t i = 0; i < NAMES; ++i) {
        const struct workload workload = workload_of(names[i]);
        const struct workload_set set = workload_set(7, 0);
        struct text_error why = {""};
        struct train_model model;
        struct verify *verify = NULL;

        cr_assert(strcmp(workload.is->name, names[i]) == 0, "%s is called %s", names[i],
                  workload.is->name);
        cr_assert(train_model_of(&workload, &model, why.text, sizeof why.text) == 0, "%s",
                  why.text);
        cr_assert(model.lr > 0 && model.lr == workload.is->lr, "%s", names[i]);
        cr_assert(workload_n_params(&workload) >= 2 && workload_params(&workload) > 0);
        cr_assert(workload_flops(&workload, 1) > 0, "%s", names[i]);
        cr_assert(verify_open(&workload, &set, 8, 2, DP_MATH_F32, &verify, &why) == 0, "%s: %s",
                  names[i], why.text);
        verify_close(verify);
    }
}

Test(models, one_without_a_learning_rate_does_not_open)
{
    static const double rates[] = {0, -0.1};
    struct workload workload = workload_of("cnn");
    struct workload_descriptor is = *workload.is;
    struct train_model model;
    char why[200];

    for (size_t i = 0; i < 2; ++i) {
        why[0] = '\0';
        is.lr = rates[i];
        workload.is = &is;
        cr_assert(train_model_of(&workload, &model, why, sizeof why) == -1);
        cr_assert(strcmp(why, "cnn: its descriptor lists no learning rate above 0") == 0, "%s",
                  why);
    }
}

Test(models, one_without_a_reference_is_not_verified)
{
    struct workload workload = workload_of("cnn");
    struct workload_descriptor is = *workload.is;
    const struct workload_set set = workload_set(7, 0);
    struct text_error why = {""};
    struct verify *verify = NULL;

    is.name = "stranger";
    workload.is = &is;
    cr_assert(verify_open(&workload, &set, 8, 2, DP_MATH_F32, &verify, &why) == -1);
    cr_assert(strcmp(why.text, "cnn has no reference") == 0, "%s", why.text);
}
