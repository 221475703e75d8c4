/* train/values.c: writes and reads bytes, and the numbers of a model, for processes of one build on
 * one kind of machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "numbers/equal.h"
#include "train/train.h"

static const char digits[] = "0123456789abcdef";

static size_t bytes_of_values(const struct train_side *side)
{
    size_t bytes = 0;

    for (int p = 0; p < side->n_params; ++p)
        bytes += dp_tensor_bytes(&side->param[p]->value);
    return bytes;
}

static int no_memory(size_t bytes, struct dp_error *err)
{
    return dp_fail(err, DP_ENOMEM, "no memory for %zu bytes of parameters", bytes);
}

char *train_text_of(const void *bytes, size_t n, struct dp_error *err)
{
    const unsigned char *byte = bytes;
    char *text = malloc(2 * n + 1);

    if (!text)
        (void)no_memory(n, err);
    for (size_t i = 0; text && i < n; ++i) {
        text[2 * i] = digits[byte[i] >> 4];
        text[2 * i + 1] = digits[byte[i] & 15];
    }
    if (text)
        text[2 * n] = '\0';
    return text;
}

bool train_bytes_of(const char *text, void *bytes, size_t n)
{
    unsigned char *byte = bytes;

    if (strlen(text) != 2 * n || strspn(text, digits) != 2 * n)
        return false;
    for (size_t i = 0; i < n; ++i)
        byte[i] = (unsigned char)((strchr(digits, text[2 * i]) - digits) << 4 |
                                  (strchr(digits, text[2 * i + 1]) - digits));
    return true;
}

char *train_values_text(const struct train_side *side, struct dp_error *err)
{
    const size_t bytes = bytes_of_values(side);
    unsigned char *value = malloc(bytes + 1), *to = value;
    char *text = NULL;
    int status = value ? 0 : no_memory(bytes, err);

    for (int p = 0; p < side->n_params && status == 0; ++p) {
        status = dp_tensor_read(to, &side->param[p]->value, err);
        to += dp_tensor_bytes(&side->param[p]->value);
    }
    if (status == 0)
        text = train_text_of(value, bytes, err);
    free(value);
    return text;
}

int train_values_put(struct train_side *side, const char *text, struct dp_error *err)
{
    const size_t bytes = bytes_of_values(side);
    unsigned char *value, *from;
    int status = 0;

    if (strlen(text) != 2 * bytes)
        return dp_fail(err, DP_ESHAPE, "%zu digits are not those of %zu bytes of parameters",
                       strlen(text), bytes);
    value = from = malloc(bytes + 1);
    if (!value)
        return no_memory(bytes, err);
    if (!train_bytes_of(text, value, bytes))
        status = dp_fail(err, DP_EFAULT, "parameters came as something that is no number");
    for (int p = 0; p < side->n_params && status == 0; ++p) {
        status = dp_tensor_write(&side->param[p]->value, from, err);
        from += dp_tensor_bytes(&side->param[p]->value);
    }
    free(value);
    return status;
}

uint64_t train_rows_digest(const struct loader_batch *batch, size_t width, size_t labels)
{
    uint64_t sum = 0;

    for (size_t r = 0; r < batch->rows; ++r) {
        const uint64_t row =
            equal_digest(0, batch->feature + r * width, width * sizeof *batch->feature);

        sum += equal_digest(row, batch->label + r * labels, labels * sizeof *batch->label);
    }
    return sum;
}

int train_data_digest(const struct dataset *data, char *hex)
{
    char part[2][DIGEST_HEX], all[2 * DIGEST_HEX + 80];

    if (data->text)
        return digest_sha256(data->text, data->rows + data->features, hex);
    if (digest_sha256(data->feature, data->rows * data->features * sizeof *data->feature,
                      part[0]) ||
        digest_sha256(data->label, data->rows * sizeof *data->label, part[1]))
        return -1;
    snprintf(all, sizeof all, "%zu %zu %d %s %s", data->rows, data->features, data->classes,
             part[0], part[1]);
    return digest_sha256(all, strlen(all), hex);
}
