/* description.c: tests of the parser of model descriptions: which it reads, and which it refuses.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "description.h"
#include "words.h"

static struct layer *read_on(int devices, const char *text)
{
    struct impl_error err = {0};
    struct layer *model = description_read(text, devices, &err);

    cr_assert_not_null(model, "%s: %s", text, err.text);
    return model;
}

Test(description, fields)
{
    struct layer *model =
        read_on(4, "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":[2,0,3],\"dim\":-1,"
                   "\"output_device\":-1,\"layers\":["
                   "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1.5],\"frozen\":[\"bias\"]},"
                   "{\"kind\":\"linear\",\"in\":2,\"out\":3,\"with_bias\":false,"
                   "\"frozen\":true,\"device\":1},"
                   "{\"kind\":\"fail\",\"replicas\":[1,3],\"when\":\"backward\","
                   "\"status\":\"shape\",\"text\":\"wonderful\",\"at\":2}]},"
                   "{\"kind\":\"to\",\"device\":3}]}");
    const struct layer *parallel = &model->child[0];
    const struct layer *affine = &parallel->child[0], *linear = &parallel->child[1];
    const struct layer *fail = &parallel->child[2];

    cr_assert(model->n_children == 2 && model->device == 0);
    cr_assert(parallel->kind == LAYER_PARALLEL && parallel->n_ids == 3 && parallel->ids[0] == 2 &&
              parallel->ids[2] == 3 && parallel->dim == -1 &&
              parallel->output_device == IMPL_HOST && !parallel->functional);
    cr_assert(affine->n_params == 2 && affine->device == 2, "the first of device_ids");
    cr_assert(affine->param[1].initial[0] == 1.5f && affine->param[1].frozen &&
              !affine->param[0].frozen);
    cr_assert(linear->device == 1 && linear->n_params == 1 && linear->param[0].frozen &&
              linear->param[0].ndim == 2 && linear->param[0].dim[0] == 3 &&
              linear->param[0].dim[1] == 2 && !linear->param[0].initial);
    cr_assert(fail->fail_backward && fail->fail_status == IMPL_ESHAPE && fail->fail_at == 2 &&
              strcmp(fail->fail_text, "wonderful") == 0);
    cr_assert(layer_listed(fail, 3) && !layer_listed(fail, 2));
    cr_assert(model->child[1].target == 3 && model->child[1].device == 0);
    description_free(model);
}

Test(description, numbers_per_replica)
{
    struct layer *model = read_on(2, "{\"layers\":[{\"kind\":\"sleep\",\"forward_ms\":[5,10]}]}");
    const struct layer *sleep = &model->child[0];

    cr_assert(layer_number(sleep->number, sleep->n_numbers, 0) == 5);
    cr_assert(layer_number(sleep->number, sleep->n_numbers, 1) == 10);
    cr_assert(layer_number(sleep->number, sleep->n_numbers, 7) == 10, "the last counts for all");
    cr_assert(layer_number(sleep->second, sleep->n_second, 0) == 0, "none is 0");
    description_free(model);
}

Test(description, names)
{
    struct layer *model =
        read_on(2, "{\"layers\":[{\"kind\":\"affine\",\"name\":\"a\",\"device\":1},"
                   "{\"kind\":\"sequence\",\"device\":-1,\"layers\":[{\"kind\":\"again\",\"of\":"
                   "\"a\"},{\"kind\":\"counter\"}]},{\"kind\":\"borrow\",\"of\":\"a\"}]}");

    cr_assert(model->child[1].child[0].of == &model->child[0]);
    cr_assert(model->child[1].child[1].device == IMPL_HOST, "inherited");
    cr_assert(model->child[1].child[1].param[0].buffer);
    cr_assert(model->child[2].of == &model->child[0]);
    description_free(model);
}

Test(description, a_transformer)
{
    struct layer *model =
        read_on(2, "{\"layers\":[{\"kind\":\"first\",\"device\":1,\"layers\":["
                   "{\"kind\":\"embedding\",\"name\":\"t\",\"rows\":5,\"columns\":2},"
                   "{\"kind\":\"positions\",\"rows\":3,\"columns\":2,\"frozen\":true},"
                   "{\"kind\":\"layer_norm\",\"features\":2,\"eps\":0.5,\"weight\":[1,2]},"
                   "{\"kind\":\"attention\",\"heads\":4},{\"kind\":\"gelu\",\"form\":\"tanh\"},"
                   "{\"kind\":\"gelu\"},{\"kind\":\"output\",\"of\":\"t\"}]},"
                   "{\"kind\":\"cross_entropy\"}]}");
    const struct layer *layer = model->child[0].child;

    cr_assert(model->child[0].kind == LAYER_FIRST && model->child[0].n_children == 7);
    cr_assert(layer[1].kind == LAYER_POSITIONS && layer[1].n_params == 1 && layer[1].device == 1 &&
              layer[1].param[0].ndim == 2 && layer[1].param[0].dim[0] == 3 &&
              layer[1].param[0].dim[1] == 2 && layer[1].param[0].frozen);
    cr_assert(layer[2].n_params == 2 && layer[2].eps == 0.5f && layer[2].param[0].dim[0] == 2 &&
              layer[2].param[0].initial[1] == 2 && !layer[2].param[1].initial);
    cr_assert(layer[3].heads == 4 && layer[4].tanh_form && !layer[5].tanh_form);
    cr_assert(layer[6].kind == LAYER_OUTPUT && layer[6].of == &layer[0] && layer[6].n_params == 0);
    cr_assert(model->child[1].kind == LAYER_CROSS_ENTROPY);
    description_free(model);
}

Test(description, without_devices_a_wrapper_ignores_its_ids)
{
    struct layer *model = read_on(0, "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":[5],"
                                     "\"layers\":[{\"kind\":\"affine\"}]}]}");

    cr_assert(model->device == IMPL_HOST && model->child[0].child[0].device == IMPL_HOST);
    description_free(model);
}

struct refused {
    int status;
    const char *text;
    const char *says;
};

static const struct refused refused[] = {
    {IMPL_EINVAL, "", "not JSON"},
    {IMPL_EINVAL, "[]", "JSON object"},
    {IMPL_EINVAL, "{}", "'layers'"},
    {IMPL_EINVAL, "{\"layers\":[7]}", "kind"},
    {IMPL_EINVAL, "{\"layers\":[],\"layers\":[]}", "not JSON"},
    {IMPL_ENOTSUP, "{\"layers\":[{\"kind\":\"conv9\"}]}", "conv9"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"relu\",\"weight\":[1]}]}", "weight"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"affine\",\"dim\":1}]}", "'dim'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"relu\",\" \":1}]}", "no field ' '"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"sequence\",\"layers\":[],\"layers reversed\":1}]}",
     "'layers reversed'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"affine\",\"weight\":[1,2]}]}", "1 numbers"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"affine\",\"weight\":[\"1\"]}]}", "1 numbers"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"affine\",\"frozen\":[\"x\"]}]}", "frozen"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"counter\",\"frozen\":[\"count\"]}]}", "frozen"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"linear\",\"in\":2}]}", "'out'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"linear\",\"in\":0,\"out\":1}]}", "1 or more"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"linear\",\"in\":1.5,\"out\":1}]}", "integer"},
    {IMPL_ENODEV, "{\"layers\":[{\"kind\":\"affine\",\"device\":2}]}", "no device 2"},
    {IMPL_ENODEV, "{\"layers\":[{\"kind\":\"to\",\"device\":-2}]}", "no device -2"},
    {IMPL_ENODEV, "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":[0,99],\"layers\":[]}]}",
     "99"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":[0.5],\"layers\":[]}]}",
     "list of devices"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"parallel\"}]}", "'layers'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"again\",\"of\":\"nobody\"}]}", "'of'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"again\"}]}", "'of'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"again\",\"name\":\"a\",\"of\":\"a\"}]}", "'of'"},
    {IMPL_EINVAL,
     "{\"layers\":[{\"kind\":\"sequence\",\"name\":\"s\",\"layers\":[{\"kind\":\"again\",\"of\":"
     "\"s\"}]}]}",
     "'of'"},
    {IMPL_EINVAL,
     "{\"layers\":[{\"kind\":\"sequence\",\"name\":\"a\",\"layers\":[{\"kind\":\"again\",\"of\":"
     "\"b\"}]},{\"kind\":\"sequence\",\"name\":\"b\",\"layers\":[{\"kind\":\"again\",\"of\":"
     "\"a\"}]}]}",
     "contain each other"},
    {IMPL_EINVAL,
     "{\"layers\":[{\"kind\":\"relu\",\"name\":\"r\"},{\"kind\":\"borrow\",\"of\":\"r\"}]}",
     "affine"},
    {IMPL_EINVAL,
     "{\"layers\":[{\"kind\":\"relu\",\"name\":\"r\"},{\"kind\":\"relu\",\"name\":\"r\"}]}", "'r'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"first\"}]}", "'layers'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"positions\",\"rows\":2}]}", "'columns'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"layer_norm\",\"features\":2,\"eps\":0}]}", "above 0"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"layer_norm\",\"momentum\":1}]}", "'momentum'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"attention\",\"heads\":0}]}", "1 or more"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"gelu\",\"form\":\"relu\"}]}", "erf or tanh"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"cross_entropy\",\"mean\":true}]}", "'mean'"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"output\"}]}", "an embedding before it"},
    {IMPL_EINVAL,
     "{\"layers\":[{\"kind\":\"affine\",\"name\":\"a\"},{\"kind\":\"output\",\"of\":\"a\"}]}",
     "an embedding before it"},
    {IMPL_EINVAL,
     "{\"layers\":[{\"kind\":\"output\",\"of\":\"t\"},{\"kind\":\"embedding\",\"name\":\"t\","
     "\"rows\":1,\"columns\":1}]}",
     "an embedding before it"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"fail\",\"status\":\"ok\"}]}", "status"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"fail\",\"when\":\"never\"}]}", "when"},
    {IMPL_EINVAL, "{\"layers\":[{\"kind\":\"grad\",\"values\":[true]}]}", "numbers"},
};

Test(description, refused)
{
    const size_t n = sizeof refused / sizeof refused[0];

    for (size_t i = 0; i < n; ++i) {
        struct impl_error err = {0};

        cr_assert_null(description_read(refused[i].text, 2, &err), "accepted: %s", refused[i].text);
        cr_assert(err.status == refused[i].status && strstr(err.text, refused[i].says),
                  "%s: status %d, '%s'", refused[i].text, err.status, err.text);
    }
}

Test(description, deep_nesting_is_refused)
{
    static char text[4096];
    struct impl_error err = {0};
    size_t used = (size_t)snprintf(text, sizeof text, "{\"layers\":[");

    for (int i = 0; i < 40; ++i)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "{\"kind\":\"sequence\",\"layers\":[");
    for (int i = 0; i < 40; ++i)
        used += (size_t)snprintf(text + used, sizeof text - used, "]}");
    snprintf(text + used, sizeof text - used, "]}");
    cr_assert_null(description_read(text, 2, &err));
    cr_assert(err.status == IMPL_EINVAL && strstr(err.text, "deeper"), "%s", err.text);
}

Test(description, words_of_status)
{
    char list[120];

    for (int status = IMPL_OK; status <= IMPL_ELOST; ++status)
        cr_assert(impl_status_of(impl_status_word(status)) == status);
    cr_assert(impl_status_of("perfect") == -1);
    cr_assert_str_eq(impl_status_word(99), "unknown");
    cr_assert_str_eq(impl_status_list(1U << IMPL_ESHAPE | 1U << IMPL_EDEVICE | 1U << IMPL_EFAULT,
                                      list, sizeof list),
                     "shape (in Python ValueError), device, fault (in Python RuntimeError)");
    cr_assert_str_eq(impl_status_list(~0U, list, 12), "ok, inval (");
}
