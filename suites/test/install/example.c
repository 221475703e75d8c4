/* example.c: one training step on three devices.
 *     cc example.c $(pkg-config --cflags --libs lockstep) */
#include <lockstep/dp.h>
#include <stdio.h>

int main(void)
{
    const float rows[6][2] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}};
    const float start[2] = {1, 2}, targets[6] = {0};
    struct dp_group *group = NULL;
    struct dp_module *linear = NULL, *model = NULL, *loss = NULL;
    struct dp_param *weight = NULL;
    struct dp_run *run = NULL;
    struct dp_sgd *sgd = NULL;
    struct dp_tensor x = {0}, y[2] = {{0}}, value, grad[2]; /* y: outputs and targets */
    struct dp_error err = {0};
    float error = 0, learned[2] = {0};
    int n = 0;

    if (dp_group_open(&(struct dp_group_config){.devices = "virt:3"}, &group, &err) ||
        dp_linear(group, 2, 1, false, &linear, &err) ||
        dp_module_to(linear, dp_group_slot(group, 0), &err) ||
        dp_parallel(linear, &(struct dp_parallel_config){0}, &model, &err) ||
        dp_loss(group, DP_LOSS_MSE, 1, false, &loss, &err) ||
        dp_sgd_open(linear, 1.0F / 64, 0, 0, &sgd, &err) || dp_run_open(group, &run, &err) ||
        dp_tensor_alloc(dp_group_slot(group, 0), DP_F32, 2, (size_t[]){6, 2}, &x, &err) ||
        dp_tensor_alloc(dp_group_slot(group, 0), DP_F32, 2, (size_t[]){6, 1}, &y[1], &err) ||
        dp_module_params(linear, &weight, 1) != 1 || dp_tensor_write(&weight->value, start, &err) ||
        dp_tensor_write(&x, rows, &err) || dp_tensor_write(&y[1], targets, &err) ||
        /* A step: two rows to each device, outputs and gradients back to the first. */
        dp_forward(model, run, &x, 1, &y[0], &n, &err) ||
        dp_forward(loss, run, y, 2, &value, &n, &err) ||
        dp_backward(loss, run, NULL, 0, grad, 2, &err) ||
        dp_backward(model, run, grad, 1, NULL, 1, &err) || dp_sgd_step(sgd, &err) ||
        dp_tensor_read(&error, &value, &err) || dp_tensor_read(learned, &weight->value, &err))
        fprintf(stderr, "example: %s\n", err.text);
    else
        printf("loss %g, weight %g %g\n", error, learned[0], learned[1]);
    dp_run_close(run);
    dp_sgd_close(sgd);
    dp_tensor_free(&x);
    dp_tensor_free(&y[1]);
    dp_module_close(loss);
    dp_module_close(model);
    dp_module_close(linear);
    dp_group_close(group);
    return err.status != DP_OK;
}
